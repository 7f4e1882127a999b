#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"

namespace winnow::test {

// A file that somebody might point an ingest at. Pure functions of the seed.
struct MadeFile {
  std::string name;  // with an ending, which need not be right
  std::string bytes;
};

// Small pictures, one of each kind of file that is read. All sound.
std::vector<MadeFile> sound_images();
// Small archives and files of many images, one of each kind that is read.
std::vector<MadeFile> sound_archives();

// Those, cut at every sixteenth, with bits flipped and runs overwritten, under wrong endings, glued
// together, with headers that promise 65,500 x 65,500 pixels, a progressive JPEG of a thousand
// scans, empty files and noise. Names are unique and have one image ending each.
std::vector<MadeFile> mutated_images(std::uint64_t seed);

// Archives and files of many images (tar, compressed tar, WebDataset, TFRecord, RecordIO): sound,
// with names that lead out, links and devices, wrong sizes, bombs, and all that bytes can suffer.
std::vector<MadeFile> mutated_archives(std::uint64_t seed);

}  // namespace winnow::test
