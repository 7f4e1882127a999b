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

// An input's position in the listing of its source.
struct Place {
  const PlacedSource& in;
  std::uint64_t position;

  const datasets::Listing& entries() const noexcept { return in.source->entries(); }
  SampleId id() const noexcept { return in.id_of(position); }
};
std::string in_words(const Place& place);  // "input 'cat/1.jpg'"

// A readable input in memory.
struct Readable {
  Bytes encoded;      // empty if the source holds raw pixels
  Image image;        // decoded, at the scale of the hashes
  int height_px = 0;  // full size
  int width_px = 0;
  std::optional<Image> smaller;  // the image stored in its place; without pixels if it is `encoded`
  int variants = 1;              // number of variants stacked in it
  std::string warning;           // from the decoder; empty: none
  int orientation = 1;           // from EXIF
  Image alpha = {};              // at the image's scale; empty: opaque
  bool is_multiplied = false;    // as in DecodedImage
  ByteGate::Credit pixel_credit;
};

// An input that cannot be used.
struct Refused {
  Fate fate;
  std::string reason;
};

Refused refused(const DecodeError& error);  // with its ledger class

Hash128 file_hash(const Readable& input);  // hash of its bytes, or of raw pixels

// Accounts for the memory of an input's pixels.
using TakePixels = std::function<ByteGate::Credit(std::uint64_t bytes)>;

// Decodes inputs, or says why that is impossible. Thread-safe.
class InputLoader {
 public:
  explicit InputLoader(const IngestOptions& options);

  // `buffer` as in decode(). Throws Error for pixels that do not fit their size, and StoppedError.
  Expected<Readable, Refused> load(const Place& place, ReadResult read, const TakePixels& take,
                                   Image buffer = {}) const;
  int scale() const noexcept { return scale_; }  // at which encoded inputs are decoded

 private:
  Expected<Readable, Refused> load_pixels(const Place& place, Image image,
                                          const TakePixels& take) const;
  Expected<Readable, Refused> load_encoded(Bytes bytes, const TakePixels& take, Image buffer) const;

  Store store_;
  DecodeSettings decode_;
  StopRequested stop_;
  int scale_;
  bool with_variants_;
  // Bytes that variants and their making take, besides the image itself. Waited for together with
  // the image, because many variants may take more than any image.
  std::uint64_t variants_room_;
};

}  // namespace winnow::pipeline
