#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dedup/hash/hashes.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/ingest/gates.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/input.h"
#include "pipeline/ingest/packer.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/prints.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/ingest/scratch.h"
#include "pipeline/ingest/stages.h"
#include "pipeline/ingest/stored_form.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/tally.h"

namespace winnow::pipeline {

// The result of one ChunkPlan: rows and packs. For records that are reused from a base cache, only
// packs.
struct Chunk {
  ChunkPlan plan;
  std::vector<LedgerRow> ledger;
  dedup::Fingerprints fingerprints;
  Tally tally;
  std::uint64_t oriented = 0;     // number of inputs with an EXIF orientation other than upright
  std::uint64_t transparent = 0;  // number of inputs whose alpha channel was dropped
  std::vector<Pack> packs;
  StageTimes times;          // times of decoding, fingerprinting and packing
  std::exception_ptr error;  // exception thrown while the chunk was made
};

// The parallel part of an ingest: decodes and fingerprints inputs, and packs them as records.
// Thread-safe.
class ChunkMaker {
 public:
  // Throws UsageError for hashes that are unknown or repeated. `sources` and `gates` must outlive
  // it.
  ChunkMaker(std::span<const PlacedSource> sources, const IngestOptions& options, Gates& gates);

  // Makes a chunk from `read`, the result of reading the inputs of `plan`. `check` is called before
  // each input; an exception of it ends the chunk.
  // Errors  Error if an input was left out as a duplicate, but the one that represents it cannot be
  //         read
  Chunk make(const ChunkPlan& plan, ReadChunk read, const std::function<void()>& check = {}) const;
  // Makes the bytes of a pack again, which were not kept in memory, from the source. Waits for no
  // memory limit, so memory may exceed the budgets of `gates`. Throws Error if an input has
  // changed.
  void make_again(const Chunk& chunk, Pack& pack) const;

  dedup::Fingerprints empty_fingerprints() const;
  // The size in bytes of one input's pixels; 0 if it cannot be read.
  struct PixelSize {
    std::uint64_t bytes = 0;
    int channels = 0;
  };
  PixelSize pixel_size(std::size_t source, std::uint64_t position) const;

 private:
  // Fingerprints and packs one input.
  void take_in(Chunk& chunk, const Place& place, Readable& input, ScratchPool::Scratch& scratch,
               Packer& packer, Stopwatch& watch) const;
  // Appends the fingerprints of one input, and counts it in the tally.
  void append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                           dedup::HashMemory& memory) const;
  // Records an input that cannot be used in its ledger row.
  void book(LedgerRow& row, const Place& place, Refused refused) const;

  std::span<const PlacedSource> sources_;
  Store store_;
  InputLoader loader_;
  StoredForm form_;
  const LeftOut* left_out_;
  bool thumbnails_;
  std::vector<SampleId> stand_ins_;  // ids that represent inputs left out as duplicates, ascending
  std::vector<dedup::HashKind> hashes_;
  Gates& gates_;
  mutable ScratchPool scratch_;
};

}  // namespace winnow::pipeline
