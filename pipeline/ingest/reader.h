#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "common/expected.h"
#include "datasets/source.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/ingest/plan.h"

namespace winnow::pipeline {

// Largest input that is read: LMDB cannot store a value of 2 GiB.
inline constexpr std::uint64_t kMaxInputBytes = (std::uint64_t{1} << 31) - (4u << 20);

// Reads one input. Tries three times within 50 ms, because an I/O error may be temporary, as on a
// busy network file system.
using ReadResult = Expected<datasets::Payload, datasets::ReadError>;
ReadResult read_patiently(const datasets::Source& source, std::uint64_t position);

// The inputs of one ChunkPlan, in order. An input that need not be read, or is larger than
// kMaxInputBytes, is empty.
struct ReadChunk {
  std::vector<ReadResult> inputs;
  ByteGate::Credit credit;   // memory of all these inputs
  std::exception_ptr error;  // exception thrown while reading; then some inputs are missing
};

ReadChunk read_chunk(const ChunkPlan& plan, std::span<const PlacedSource> sources,
                     ByteGate::Credit credit);

// Threads that read chunks of inputs ahead of their consumer, so that waiting for storage does not
// occupy the workers of a pool with one thread per core.
// Threads  One while it keeps up, otherwise up to `most`, so that storage with latency gets many
//          requests at once. take() is for one thread at a time.
// Memory   `gate` limits the bytes that were read and not yet returned.
class ChunkReaders {
 public:
  ChunkReaders(std::span<const ChunkPlan> chunks, std::span<const PlacedSource> sources,
               ByteGate& gate, int most);
  ~ChunkReaders();
  ChunkReaders(const ChunkReaders&) = delete;
  ChunkReaders& operator=(const ChunkReaders&) = delete;

  // Waits for chunk `number` and returns it. Each must be taken once, ascending from 0.
  ReadChunk take(std::size_t number);

  int threads() const;          // number of threads so far
  double busy_seconds() const;  // time spent reading, summed over all threads

 private:
  void start_thread();
  void run();
  std::size_t ahead() const noexcept { return threads_.size() + 4; }

  const std::span<const ChunkPlan> chunks_;
  const std::span<const PlacedSource> sources_;
  ByteGate& gate_;
  const std::size_t most_;
  std::mutex turn_;  // held so that numbers and credits are given in one order, to avoid a deadlock
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, ReadChunk> ready_;
  std::size_t next_ = 0;   // next chunk to read
  std::size_t taken_ = 0;  // all chunks before this one were taken
  double busy_seconds_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace winnow::pipeline
