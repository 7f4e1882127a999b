#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/expected.h"
#include "datasets/source.h"
#include "dedup/fingerprints.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/prints.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/ingest/scratch.h"
#include "pipeline/ingest/stages.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/shard_format.h"
#include "pipeline/store/tally.h"

namespace winnow::pipeline {

// The bound on bytes in flight, shared out. Readers wait for `encoded`, makers, who hold some of
// it, for `pixels`; so whoever holds bytes gets on (ByteGate). Nobody ever waits for `kept`: its
// bytes are given back by the writer, which may have to wait for a maker.
struct Gates {
  explicit Gates(std::uint64_t bytes)
      : scratch_bytes(bytes / 8 * 3),
        encoded(bytes / 8 * 3, meter),
        pixels(bytes / 8 * 3, meter),
        kept(bytes / 4, meter) {}

  // Of memory that is kept for later images, besides.
  const std::uint64_t scratch_bytes;

  ByteMeter meter;
  ByteGate encoded;  // inputs being worked on, as read
  ByteGate pixels;   // decoded
  ByteGate kept;     // packs, and what is to become one, until written
};

// An input that can be read, in memory.
struct Readable {
  Bytes encoded;      // empty where the source holds bare pixels
  Image image;        // of what was encoded, at the scale of the hashes
  int height_px = 0;  // of all of it
  int width_px = 0;
  std::optional<Image> smaller;  // what is stored instead; without pixels where it is `encoded`
  int variants = 1;              // that it is of, one below the other
  std::string warning;           // of the decoder's; empty where it had none
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
    std::size_t row = 0;  // in the chunk's fingerprints, of what is not of a base
  };
  std::vector<Item> items;
  Bytes pack;
  ByteGate::Credit credit;
};

// All that comes of one ChunkPlan; of records of a base, nothing but the packs.
struct Chunk {
  ChunkPlan plan;
  std::vector<LedgerRow> ledger;
  dedup::Fingerprints fingerprints;
  Tally tally;
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
  // the chunk.
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
  // An input's place in the listing of its source.
  struct Place {
    const PlacedSource& in;
    std::uint64_t position;
  };
  // How the bytes of pixels that it comes to are accounted for.
  using TakePixels = std::function<ByteGate::Credit(std::uint64_t bytes)>;

  // `buffer` as in decode().
  Expected<Readable, Refused> load(const Place& place, ReadResult read, const TakePixels& take,
                                   Image buffer = {}) const;
  Expected<Readable, Refused> load_pixels(const Place& place, Image image,
                                          const TakePixels& take) const;
  Expected<Readable, Refused> load_encoded(Bytes bytes, const TakePixels& take, Image buffer) const;
  // Gives it to the tally too.
  void append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                           dedup::HashMemory& memory) const;
  // Bytes, besides an image's own, that its variants and what they are made of take: waited for
  // with it, since many variants may be more than any image.
  std::uint64_t variants_room() const noexcept;
  // What is stored instead of it, once it is fingerprinted.
  void shape(const Place& place, Readable& input) const;
  void resize(Readable& input) const;
  // The row of an input that is left out, as in the ledger.
  LedgerRow booked(LedgerRow row) const;
  // With the labels of row `row` of `table`.
  RecordView record_of(const Place& place, const Readable& input, const dedup::Fingerprints& table,
                       std::size_t row) const;

  std::span<const PlacedSource> sources_;
  Store store_;
  DecodeSettings decode_;
  ResizeSettings resize_;
  VariantSettings variants_;
  const LeftOut* left_out_;
  std::vector<SampleId> stand_ins_;  // for those left out; ascending
  std::vector<dedup::HashKind> hashes_;
  int scale_;  // of the pictures that are fingerprinted
  Gates& gates_;
  mutable ScratchPool scratch_;
};

}  // namespace winnow::pipeline
