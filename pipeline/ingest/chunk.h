#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/hash/hashes.h"
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

// All that comes of one ChunkPlan; of records of a base, nothing but the packs.
struct Chunk {
  ChunkPlan plan;
  std::vector<LedgerRow> ledger;
  dedup::Fingerprints fingerprints;
  Tally tally;
  std::uint64_t oriented = 0;     // inputs of an EXIF orientation other than upright
  std::uint64_t transparent = 0;  // inputs whose alpha was dropped
  std::vector<Pack> packs;
  StageTimes times;          // decoding, fingerprinting and packing it
  std::exception_ptr error;  // what making it threw
};

// The parallel part of an ingest: decodes, fingerprints and packs. Safe from many threads.
class ChunkMaker {
 public:
  // Throws UsageError for hashes that are unknown or named twice. `sources` and `gates` must
  // outlive it.
  ChunkMaker(std::span<const PlacedSource> sources, const IngestOptions& options, Gates& gates);

  // `read` is what reading `plan` gave. `check` is called before each input; what it throws ends
  // the chunk. Error where one that is left out has no stand-in that can be read.
  Chunk make(const ChunkPlan& plan, ReadChunk read, const std::function<void()>& check = {}) const;
  // Fills a pack that was not kept, from the source again; waits for no gate, which may go over
  // their budgets by it. Throws Error if an input has changed.
  void make_again(const Chunk& chunk, Pack& pack) const;

  dedup::Fingerprints empty_fingerprints() const;
  // Of one input, 0 where it cannot be read.
  struct PixelSize {
    std::uint64_t bytes = 0;
    int channels = 0;
  };
  PixelSize pixel_size(std::size_t source, std::uint64_t position) const;

 private:
  // Fingerprints an input and packs it.
  void take_in(Chunk& chunk, const Place& place, Readable& input, ScratchPool::Scratch& scratch,
               Packer& packer, Stopwatch& watch) const;
  // Gives it to the tally too.
  void append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                           dedup::HashMemory& memory) const;
  // Of an input that cannot be used.
  void book(LedgerRow& row, const Place& place, Refused refused) const;

  std::span<const PlacedSource> sources_;
  Store store_;
  InputLoader loader_;
  StoredForm form_;
  const LeftOut* left_out_;
  bool thumbnails_;
  std::vector<SampleId> stand_ins_;  // for those left out; ascending
  std::vector<dedup::HashKind> hashes_;
  Gates& gates_;
  mutable ScratchPool scratch_;
};

}  // namespace winnow::pipeline
