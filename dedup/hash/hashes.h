#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Computes one hash of one image whose rows arrive a few at a time. Not thread-safe.
class HashStream {
 public:
  virtual ~HashStream() = default;

  // Adds the next rows of the image from the top, at full width. `rows` has the channels of the
  // image; `gray` is the same rows after to_gray().
  virtual void add(ImageView rows, ImageView gray) = 0;
  // Writes the code to `words`. Call it after the last row was added. Returns the picture's quality
  // (amount of detail) by the hash's own measure, 0..100; 100 if the hash has none.
  virtual int finish(std::uint64_t* words) = 0;
};

// A perceptual hash: similar images get codes (bit strings) at a small Hamming distance. Pure,
// thread-safe, the same bits on every machine.
struct Hash {
  std::string_view name;
  std::uint32_t version = 1;
  // Length of a code in bits, stored in bits / 64 words; for the bit order see CodeColumn.
  int bits = 64;
  // Most orientations in a code: 1, or 8 if mirrored and turned pictures can be hashed, too.
  int most_orientations = 1;
  bool has_quality = false;  // whether the hash has its own measure of a picture's detail
  // Quality below which the hash's authors advise not to match an image; 0: no advice.
  float least_quality = 0;
  // Usual thresholds in bits, for one orientation and for several. A million images are expected to
  // have one false pair within them (docs/thresholds.md). 0: not measured.
  int usual_threshold = 0;
  int usual_threshold_turned = 0;
  std::string_view what;  // one line for --help
  // Starts hashing an image of at least 1x1 px with 1 or 3 channels. The code will hold those of
  // `orientations` orientations, one after the other.
  // weights  May be null, else it must outlive the stream.
  std::unique_ptr<HashStream> (*begin)(int height_px, int width_px, int channels, int orientations,
                                       ResampleWeights* weights) = nullptr;
};

// A hash as the user requests it, with a number of orientations and a scale of the picture.
struct HashKind {
  const Hash* row = nullptr;
  int orientations = 1;  // 1, 2 or 8
  int scale = 1;  // 1, 2, 4 or 8: the picture is decoded at 1/scale of both sides by decode()

  std::string name() const;                                       // as in hash_name.h
  std::string what() const;                                       // one line for --help
  int bits() const noexcept { return row->bits * orientations; }  // for all orientations
  friend bool operator==(const HashKind&, const HashKind&) = default;
};

// Reusable buffers: hashing an image leaves them for the next image.
struct HashMemory {
  Image gray;
  ResampleWeights weights;
};

// The codes of an image by one hash, of all requested orientations.
struct HashCode {
  std::vector<std::uint64_t> words;
  int quality = 0;  // as HashStream::finish()
};

// Number of image rows to process at once, so that they and the data derived from them fit into a
// core's cache. A multiple of four, as resizing needs.
int rows_at_once(int width_px, int channels) noexcept;

// Computes several hashes of one image whose rows arrive a few at a time. Used like HashStream.
class HashStreams {
 public:
  HashStreams(int height_px, int width_px, int channels, std::span<const HashKind> hashes,
              ResampleWeights& weights);
  void add(ImageView rows, ImageView gray);
  std::vector<HashCode> finish();

 private:
  std::span<const HashKind> hashes_;
  std::vector<std::unique_ptr<HashStream>> streams_;
};

// Computes hashes of a whole image. compute_hashes() converts it to gray once for all of them.
std::vector<HashCode> compute_hashes(ImageView image, std::span<const HashKind> hashes,
                                     HashMemory& memory);
HashCode compute_hash(ImageView image, const HashKind& hash);

// Every hash in every supported number of orientations, at full scale; those of one orientation
// first. For the same pixels, codes equal those of the original programs bit for bit:
//
// imagehash 4.3    ahash, dhash, dhash_vertical, phash, phash16 (Zauner 2010; N. Krawetz 2013).
//                  Also whash, except for ties, which imagehash leaves to rounding.
// imagededup 0.3   hashes whose names begin with imagededup
// OpenCV 4         block_mean: BlockMeanHash of mode 0 in OpenCV's img_hash
// PDQ's reference  pdq: Facebook's C++ program of 2019, without its shrinking of large images
std::vector<HashKind> hash_kinds();

// The hash of this name, such as "phash_mirrored". Throws UsageError, which lists the known hashes.
HashKind find_hash(std::string_view name);
// The usual threshold in bits of the hash of this name (Hash::usual_threshold); 0 if it is no hash.
int usual_threshold(std::string_view name);
// Throws UsageError if the threshold is larger than the largest distance of two codes of this hash,
// or if the hash is unknown.
void check_threshold(std::string_view hash, int threshold);
// The scale at which all these hashes want the picture decoded. Throws UsageError if they differ.
int common_scale(std::span<const std::string> names);

std::string to_hex(std::span<const std::uint64_t> code);

}  // namespace winnow::dedup
