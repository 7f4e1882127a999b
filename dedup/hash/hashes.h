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

// Hashes one image whose rows arrive a few at a time. Not thread-safe.
class HashStream {
 public:
  virtual ~HashStream() = default;

  // The next rows from the top at full width: as they are, and as to_gray() makes them.
  virtual void add(ImageView rows, ImageView gray) = 0;
  // Call it once all rows are there. Returns the quality by the hash's own measure, 0..100; 100 if
  // it has none.
  virtual int finish(std::uint64_t* words) = 0;
};

// One perceptual hash: similar images get codes at a small Hamming distance. Pure, thread-safe, the
// same bits on every machine.
struct Hash {
  std::string_view name;
  std::uint32_t version = 1;
  int bits = 64;              // length of a code, in bits/64 words (bit order: CodeColumn)
  int most_orientations = 1;  // 8: it also supports codes of turned pictures (hash_name.h)
  bool has_quality = false;   // whether it has its own measure of detail
  float least_quality = 0;    // minimum quality of an image, as its authors advise; always above 0
  // Thresholds of docs/thresholds.md, for upright and for turned pictures: a million images are
  // expected to have one false pair. 0: not measured.
  int usual_threshold = 0;
  int usual_threshold_turned = 0;
  std::string_view what;  // one line for --help
  // Starts hashing an image of at least 1x1 px with 1 or 3 channels. The codes of the orientations
  // are in order. `weights` may be null, else it must outlive the stream.
  std::unique_ptr<HashStream> (*begin)(int height_px, int width_px, int channels, int orientations,
                                       ResampleWeights* weights) = nullptr;
};

// A hash as the user requests it: number of orientations, and scale of the picture. Different kinds
// have different codes and names.
struct HashKind {
  const Hash* row = nullptr;
  int orientations = 1;  // 1, 2 or 8
  int scale = 1;         // 1, 2, 4 or 8: the picture is decoded at 1/scale by decode()

  std::string name() const;                                       // as in hash_name.h
  std::string what() const;                                       // one line for --help
  int bits() const noexcept { return row->bits * orientations; }  // for all orientations
  friend bool operator==(const HashKind&, const HashKind&) = default;
};

// Buffers that the hashes of one image leave for the next image.
struct HashMemory {
  Image gray;
  ResampleWeights weights;
};

// The codes of an image by one hash, in all orientations.
struct HashCode {
  std::vector<std::uint64_t> words;
  int quality = 0;  // as HashStream::finish()
};

// Number of rows to process at once, so that they fit into a core's cache with what is made of
// them. A multiple of four, as resizing needs.
int rows_at_once(int width_px, int channels) noexcept;

// Several hashes of one image, whose rows arrive as for HashStream.
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

// Hashes of a whole image. Its gray version is made once for all.
std::vector<HashCode> compute_hashes(ImageView image, std::span<const HashKind> hashes,
                                     HashMemory& memory);
HashCode compute_hash(ImageView image, const HashKind& hash);

// All kinds of all hashes, at full scale; those of one orientation first. Codes are bit for bit
// those of the authors' programs for the same pixels.
//
// imagehash 4.3    ahash, dhash, dhash_vertical, phash, phash16; whash except for ties, which it
//                  leaves to rounding. Zauner 2010; N. Krawetz 2013.
// imagededup 0.3   hashes whose names begin with it
// OpenCV 4         block_mean: BlockMeanHash of mode 0 in its img_hash
// PDQ's reference  in C++, without its shrinking of large images. Facebook 2019.
std::vector<HashKind> hash_kinds();

// UsageError lists the known hashes.
HashKind find_hash(std::string_view name);
// The usual threshold for this name's orientations; 0 if it is no hash.
int usual_threshold(std::string_view name);
// UsageError if codes of this hash never differ by so many bits, or the hash is unknown.
void check_threshold(std::string_view hash, int threshold);
// The scale that all these hashes share. UsageError if they differ.
int common_scale(std::span<const std::string> names);

std::string to_hex(std::span<const std::uint64_t> code);

}  // namespace winnow::dedup
