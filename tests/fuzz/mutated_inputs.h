#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"

namespace winnow::test {

// A file that somebody might ingest. Depends only on the seed.
struct MadeFile {
  std::string name;  // with an ending, which may be wrong
  std::string bytes;
};

// Small pictures, one for each supported kind of file. All are valid.
std::vector<MadeFile> sound_images();
// Small archives and files of many images, one for each supported kind. All are valid.
std::vector<MadeFile> sound_archives();

// The files of sound_images(), damaged. Names are unique and have an image ending.
// - cut at every sixteenth, bits flipped, runs overwritten, concatenated, under wrong endings;
// - headers that promise 65,500 x 65,500 pixels;
// - a progressive JPEG of a thousand scans;
// - empty files and noise.
std::vector<MadeFile> mutated_images(std::uint64_t seed);

// Archives and files of many images (tar, compressed tar, WebDataset, TFRecord, RecordIO): valid
// ones, names that lead out of the archive, links and devices, wrong sizes, bombs, and any damage
// to bytes.
std::vector<MadeFile> mutated_archives(std::uint64_t seed);

}  // namespace winnow::test
