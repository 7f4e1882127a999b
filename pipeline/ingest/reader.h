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

// LMDB cannot write a value of 2 GiB: larger inputs are not even read.
inline constexpr std::uint64_t kMaxInputBytes = (std::uint64_t{1} << 31) - (4u << 20);

// One input as read. An I/O error may pass, as on a network file system that is busy: what stays
// after three tries, within a twentieth of a second, is the result.
using ReadResult = Expected<datasets::Payload, datasets::ReadError>;
ReadResult read_patiently(const datasets::Source& source, std::uint64_t position);

// The inputs of one ChunkPlan, in order; empty where one is not to be read or is larger than
// kMaxInputBytes.
struct ReadChunk {
  std::vector<ReadResult> inputs;
  ByteGate::Credit credit;   // for all of them
  std::exception_ptr error;  // what reading them threw; they are not all there then
};

ReadChunk read_chunk(const ChunkPlan& plan, std::span<const PlacedSource> sources,
                     ByteGate::Credit credit);

// Threads that read chunks ahead of who takes them: waiting for storage is no work for a pool that
// has a thread a core. There is one as long as it keeps up, and up to `most` while it does not, so
// that storage with latency is asked for many things at once. Bytes read and not yet given back are
// bounded by `gate`. take() is for one thread at a time.
class ChunkReaders {
 public:
  ChunkReaders(std::span<const ChunkPlan> chunks, std::span<const PlacedSource> sources,
               ByteGate& gate, int most);
  ~ChunkReaders();
  ChunkReaders(const ChunkReaders&) = delete;
  ChunkReaders& operator=(const ChunkReaders&) = delete;

  // Number `number` of the chunks, each once, ascending from 0. Waits for it.
  ReadChunk take(std::size_t number);

  int threads() const;          // that were needed
  double busy_seconds() const;  // of all of them

 private:
  void start_thread();
  void run();
  std::size_t ahead() const noexcept { return threads_.size() + 4; }

  const std::span<const ChunkPlan> chunks_;
  const std::span<const PlacedSource> sources_;
  ByteGate& gate_;
  const std::size_t most_;
  std::mutex turn_;  // numbers and credits are given out in one order, or they would wait in a ring
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, ReadChunk> ready_;
  std::size_t next_ = 0;   // to be read
  std::size_t taken_ = 0;  // all before it
  double busy_seconds_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace winnow::pipeline
