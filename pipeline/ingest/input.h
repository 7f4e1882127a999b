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

// An input, by its position in the listing of its source.
struct Place {
  const PlacedSource& in;
  std::uint64_t position;

  const datasets::Listing& entries() const noexcept { return in.source->entries(); }
  SampleId id() const noexcept { return in.id_of(position); }
};
std::string in_words(const Place& place);  // "input 'cat/1.jpg'"

// A readable input in memory, decoded.
struct Readable {
  Bytes encoded;      // encoded bytes; empty if the source holds raw pixels
  Image image;        // image, decoded at the scale that the hashes need
  int height_px = 0;  // height of the picture at full scale
  int width_px = 0;
  // Downscaled image to store instead; without pixels if its encoded form is in `encoded`.
  std::optional<Image> smaller;
  int variants = 1;            // number of augmented variants stacked in `smaller`
  std::string warning;         // warning of the decoder; empty: none
  int orientation = 1;         // EXIF orientation, 1 to 8
  Image alpha = {};            // alpha channel at the scale of `image`; empty: opaque
  bool is_multiplied = false;  // colours are premultiplied by alpha, see DecodedImage
  ByteGate::Credit pixel_credit;
};

// An input that cannot be used, and why.
struct Refused {
  Fate fate;
  std::string reason;
};

Refused refused(const DecodeError& error);  // adds the ledger outcome (Fate) of the error

Hash128 file_hash(const Readable& input);  // hash of the input's bytes, or of its raw pixels

// Reserves memory for the pixels of an input; may block.
using TakePixels = std::function<ByteGate::Credit(std::uint64_t bytes)>;

// Decodes inputs, or says why that is impossible. Thread-safe.
class InputLoader {
 public:
  explicit InputLoader(const IngestOptions& options);

  // Decodes one input. `buffer` as in decode(). Throws Error for pixels that do not fit their size,
  // and StoppedError.
  Expected<Readable, Refused> load(const Place& place, ReadResult read, const TakePixels& take,
                                   Image buffer = {}) const;
  int scale() const noexcept { return scale_; }  // scale at which encoded inputs are decoded

 private:
  Expected<Readable, Refused> load_pixels(const Place& place, Image image,
                                          const TakePixels& take) const;
  Expected<Readable, Refused> load_encoded(Bytes bytes, const TakePixels& take, Image buffer) const;

  Store store_;
  DecodeSettings decode_;
  StopRequested stop_;
  int scale_;
  bool with_variants_;
  // Bytes that augmented variants and their making take, in addition to the image. Reserved
  // together with the image, because many variants may take more than any image.
  std::uint64_t variants_room_;
};

}  // namespace winnow::pipeline
