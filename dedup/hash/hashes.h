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

// The hash of one image, whose rows come a few at a time. For one thread.
class HashStream {
 public:
  virtual ~HashStream() = default;

  // The next rows from the top, of the whole width: as they are, and as to_gray() makes them.
  virtual void add(ImageView rows, ImageView gray) = 0;
  // Once all are there. Gives the quality by the hash's own measure, 0..100; 100 if it has none.
  virtual int finish(std::uint64_t* words) = 0;
};

// One perceptual hash: images that look alike get codes at small Hamming distance. Pure,
// thread-safe, the same bits on every machine.
struct Hash {
  std::string_view name;
  std::uint32_t version = 1;
  int bits = 64;              // of a code; bits/64 words (bit order: CodeColumn)
  int most_orientations = 1;  // 8: it can have codes of turned pictures too (hash_name.h)
  bool has_quality = false;   // a measure of its own of how much there is to match on
  float least_quality = 0;    // that an image is to have, as its authors advise; always above 0
  // The threshold of docs/thresholds.md, of pictures as they are and of turned ones, too: within it
  // a million images have one false pair by chance. 0: none was measured.
  int usual_threshold = 0;
  int usual_threshold_turned = 0;
  std::string_view what;  // one line for --help
  // The codes of so many orientations, one after the other, of an image of at least 1x1 with 1 or 3
  // channels. `weights` may be null, else outlives it.
  std::unique_ptr<HashStream> (*begin)(int height_px, int width_px, int channels, int orientations,
                                       ResampleWeights* weights) = nullptr;
};

// A hash as people ask for it: in how many orientations, and of the picture at which part of both
// its sides. Kinds that differ have other codes, of other names.
struct HashKind {
  const Hash* row = nullptr;
  int orientations = 1;  // 1, 2 or 8
  int scale = 1;         // 1, 2, 4 or 8: hashed is what decode() gives at that scale

  std::string name() const;                                       // as of hash_name.h
  std::string what() const;                                       // one line for --help
  int bits() const noexcept { return row->bits * orientations; }  // of all its codes
  friend bool operator==(const HashKind&, const HashKind&) = default;
};

// What the hashes of one image leave for those of the next.
struct HashMemory {
  Image gray;
  ResampleWeights weights;
};

// The codes of an image by one hash, of all orientations.
struct HashCode {
  std::vector<std::uint64_t> words;
  int quality = 0;  // as of HashStream::finish
};

// The rows of an image to go on with at once: so many are in a core's cache together with what is
// made of them. A multiple of four, as resizing goes.
int rows_at_once(int width_px, int channels) noexcept;

// Several hashes of one image, whose rows come as of HashStream.
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

// Of a whole image: its gray is made once for all.
std::vector<HashCode> compute_hashes(ImageView image, std::span<const HashKind> hashes,
                                     HashMemory& memory);
HashCode compute_hash(ImageView image, const HashKind& hash);

// All kinds of all hashes, of whole pictures; those of one orientation first.
// Their codes are bit for bit what the authors' programs print of the same pixels:
//   imagehash 4.3      ahash, dhash, dhash_vertical, phash, phash16; whash but for ties, which it
//                      leaves to rounding. Zauner 2010; N. Krawetz 2013.
//   imagededup 0.3     whose names begin with it
//   OpenCV 4           block_mean, which its img_hash calls BlockMeanHash of mode 0
//   PDQ's reference    in C++, without its shrinking of large images. Facebook 2019.
std::vector<HashKind> hash_kinds();

// UsageError naming what is known.
HashKind find_hash(std::string_view name);
// That of the hash's row, as its codes are turned; 0 for what is no hash.
int usual_threshold(std::string_view name);
// What all of these are computed of. UsageError where they differ.
int common_scale(std::span<const std::string> names);

std::string to_hex(std::span<const std::uint64_t> code);

}  // namespace winnow::dedup
