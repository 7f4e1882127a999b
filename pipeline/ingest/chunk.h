#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/expected.h"
#include "datasets/source.h"
#include "dedup/fingerprints.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/tally.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The bound on bytes in flight, shared out. The order in which a task may wait is encoded, then
// pixels, and it never waits while packs are all it holds, so whoever holds bytes gets on
// (ByteGate). Nobody ever waits for `kept`: those bytes are given back by the writer, a later stage
// of the same pipeline, and a thread that waited for it could be the one that has to run it.
struct Gates {
  explicit Gates(std::uint64_t bytes)
      : encoded(bytes / 4, meter), pixels(bytes / 2, meter), kept(bytes / 4, meter) {}

  ByteMeter meter;
  ByteGate encoded;  // inputs being worked on, as read
  ByteGate pixels;   // decoded, with the gray copy
  ByteGate kept;     // packs, and what is to become one, until written
};

// An input that can be read, in memory.
struct Readable {
  Bytes encoded;  // empty where the source holds bare pixels
  Image image;
  std::string warning;  // of the decoder's; empty where it had none
  ByteGate::Credit encoded_credit;
  ByteGate::Credit pixel_credit;
};

// An input that cannot be used.
struct Refused {
  Fate fate;
  std::string reason;
};

// One value of a shard. Where there was no room to keep the bytes until they are written, `pack` is
// empty and the writer makes it again from the source.
struct Pack {
  struct Item {
    std::uint64_t position = 0;
    std::size_t row = 0;  // in the chunk's fingerprints
  };
  std::vector<Item> items;
  Bytes pack;
  ByteGate::Credit credit;
};

// All that comes of one ChunkPlan.
struct Chunk {
  ChunkPlan plan;
  std::vector<LedgerRow> ledger;
  dedup::Fingerprints fingerprints;
  Tally tally;
  std::vector<Pack> packs;
  std::exception_ptr error;  // what making it threw
};

// The parallel part of an ingest: reads, decodes, fingerprints and packs. Safe from many threads.
class ChunkMaker {
 public:
  // Throws UsageError for hashes that are unknown or named twice. `source` and `gates` must outlive
  // it.
  ChunkMaker(const datasets::Source& source, const IngestOptions& options, Gates& gates);

  // `check` is called before each input; what it throws ends the chunk.
  Chunk make(const ChunkPlan& plan, const std::function<void()>& check = {}) const;
  // Fills a pack that was not kept, from the source again; `kept` may go over its budget by it. The
  // caller holds no credits but of `kept`. Throws Error if an input has changed.
  void make_again(const Chunk& chunk, Pack& pack) const;

  dedup::Fingerprints empty_fingerprints() const;
  // Of one input, 0 where it cannot be read.
  std::uint64_t pixel_bytes(std::uint64_t position) const;

 private:
  Expected<Readable, Refused> load(std::uint64_t position) const;
  Expected<Readable, Refused> load_pixels(std::uint64_t position, Image image,
                                          ByteGate::Credit credit) const;
  Expected<Readable, Refused> load_encoded(Bytes bytes, ByteGate::Credit credit) const;
  void append_fingerprints(dedup::Fingerprints& table, std::uint64_t position,
                           const Readable& input) const;
  RecordView record_of(std::uint64_t position, const Readable& input) const;

  const datasets::Source& source_;
  Store store_;
  DecodeSettings decode_;
  std::vector<const dedup::Hash*> hashes_;
  Gates& gates_;
};

}  // namespace winnow::pipeline
