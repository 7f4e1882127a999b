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

// The result of one ChunkPlan; for records of a base, only the packs.
struct Chunk {
  ChunkPlan plan;
  std::vector<LedgerRow> ledger;
  dedup::Fingerprints fingerprints;
  Tally tally;
  std::uint64_t oriented = 0;     // inputs with an EXIF orientation other than upright
  std::uint64_t transparent = 0;  // inputs whose alpha was dropped
  std::vector<Pack> packs;
  StageTimes times;          // for decoding, fingerprinting and packing
  std::exception_ptr error;  // thrown while it was made
};

// The parallel part of an ingest: decodes, fingerprints and packs. Thread-safe.
class ChunkMaker {
 public:
  // UsageError for hashes that are unknown or repeated. `sources` and `gates` must outlive it.
  ChunkMaker(std::span<const PlacedSource> sources, const IngestOptions& options, Gates& gates);

  // Makes a chunk from `read`, the result of reading `plan`. `check` is called before each input;
  // its exception ends the chunk.
  // Errors  Error if an input that was left out has no readable representative.
  Chunk make(const ChunkPlan& plan, ReadChunk read, const std::function<void()>& check = {}) const;
  // Refills a pack that was not kept, from the source. Waits for no gate, so it may exceed their
  // budgets. Error if an input has changed.
  void make_again(const Chunk& chunk, Pack& pack) const;

  dedup::Fingerprints empty_fingerprints() const;
  // Size of one input's pixels; 0 if it cannot be read.
  struct PixelSize {
    std::uint64_t bytes = 0;
    int channels = 0;
  };
  PixelSize pixel_size(std::size_t source, std::uint64_t position) const;

 private:
  // Fingerprints and packs an input.
  void take_in(Chunk& chunk, const Place& place, Readable& input, ScratchPool::Scratch& scratch,
               Packer& packer, Stopwatch& watch) const;
  // Also updates the tally.
  void append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                           dedup::HashMemory& memory) const;
  // Records an input that cannot be used.
  void book(LedgerRow& row, const Place& place, Refused refused) const;

  std::span<const PlacedSource> sources_;
  Store store_;
  InputLoader loader_;
  StoredForm form_;
  const LeftOut* left_out_;
  bool thumbnails_;
  std::vector<SampleId> stand_ins_;  // representatives of those left out; ascending
  std::vector<dedup::HashKind> hashes_;
  Gates& gates_;
  mutable ScratchPool scratch_;
};

}  // namespace winnow::pipeline
