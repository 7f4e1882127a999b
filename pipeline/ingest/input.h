#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/checksum.h"
#include "common/expected.h"
#include "common/image.h"
#include "common/stop.h"
#include "pipeline/decode/decode.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/store/ledger.h"

namespace winnow::pipeline {

// An input's place in the listing of its source.
struct Place {
  const PlacedSource& in;
  std::uint64_t position;

  const datasets::Listing& entries() const noexcept { return in.source->entries(); }
  SampleId id() const noexcept { return in.id_of(position); }
};
std::string in_words(const Place& place);  // "input 'cat/1.jpg'"

// An input that can be read, in memory.
struct Readable {
  Bytes encoded;      // empty where the source holds bare pixels
  Image image;        // of what was encoded, at the scale of the hashes
  int height_px = 0;  // of all of it
  int width_px = 0;
  std::optional<Image> smaller;  // what is stored instead; without pixels where it is `encoded`
  int variants = 1;              // that it is of, one below the other
  std::string warning;           // of the decoder's; empty where it had none
  int orientation = 1;           // that its EXIF says
  Image alpha = {};              // at the scale of the image; empty: it is opaque
  bool is_multiplied = false;    // DecodedImage's
  ByteGate::Credit pixel_credit;
};

// An input that cannot be used.
struct Refused {
  Fate fate;
  std::string reason;
};

Refused refused(const DecodeError& error);  // the class of the ledger that it is in

Hash128 file_hash(const Readable& input);  // of its bytes, or of bare pixels

// How the bytes of pixels that an input comes to are accounted for.
using TakePixels = std::function<ByteGate::Credit(std::uint64_t bytes)>;

// Turns what was read into pictures, or says why there is none. Safe from many threads.
class InputLoader {
 public:
  explicit InputLoader(const IngestOptions& options);

  // `buffer` as in decode(). Throws Error for pixels that do not fit their size, and StoppedError.
  Expected<Readable, Refused> load(const Place& place, ReadResult read, const TakePixels& take,
                                   Image buffer = {}) const;
  int scale() const noexcept { return scale_; }  // of the pictures of what is encoded

 private:
  Expected<Readable, Refused> load_pixels(const Place& place, Image image,
                                          const TakePixels& take) const;
  Expected<Readable, Refused> load_encoded(Bytes bytes, const TakePixels& take, Image buffer) const;

  Store store_;
  DecodeSettings decode_;
  StopRequested stop_;
  int scale_;
  bool with_variants_;
  // Bytes, besides an image's own, that its variants and what they are made of take: waited for
  // with it, since many variants may be more than any image.
  std::uint64_t variants_room_;
};

}  // namespace winnow::pipeline
