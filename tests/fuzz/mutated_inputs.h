#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"

namespace winnow::test {

// A file that a user might ingest. Pure functions of the seed.
struct MadeFile {
  std::string name;  // with an extension that need not be right
  std::string bytes;
};

// Small sound pictures, one of each kind of file that is read.
std::vector<MadeFile> sound_images();
// Small archives and files with many images, one of each kind that is read.
std::vector<MadeFile> sound_archives();

// Mutations of sound_images(): cut at every sixteenth, with bits flipped and runs overwritten, with
// wrong extensions, concatenated, with headers that promise 65,500 x 65,500 pixels, a progressive
// JPEG of a thousand scans, empty files and noise. Names are unique and have one image extension
// each.
std::vector<MadeFile> mutated_images(std::uint64_t seed);

// Archives and files of many images (tar, compressed tar, WebDataset, TFRecord, RecordIO): sound
// ones, names that lead out, links and devices, wrong sizes, bombs, and damaged bytes.
std::vector<MadeFile> mutated_archives(std::uint64_t seed);

}  // namespace winnow::test
