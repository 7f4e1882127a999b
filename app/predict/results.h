#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/predict/found_box.h"
#include "app/predict/gathered.h"
#include "common/bytes.h"
#include "pipeline/store/ledger.h"

namespace winnow::app {

// What came of one picture.
struct ImageResult {
  pipeline::Fate fate = pipeline::Fate::kOk;
  std::string reason{};                // empty where ok without a warning
  std::vector<float> probabilities{};  // by class; none where there is no picture
  std::vector<float> features{};       // where they are asked for
  // Of pictures that windows go over.
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::uint64_t windows = 0;
  std::uint64_t flat_windows = 0;  // of these, of one colour and left out
  std::vector<FoundBox> boxes{};
  friend bool operator==(const ImageResult&, const ImageResult&) = default;
};

// Pictures [first, first + results.size()) of the inputs, and where their results go.
struct ResultsFrom {
  std::uint64_t first;
  std::span<ImageResult> results;
};

// The file of a task: the results of its pictures in their order, and a checksum.
Bytes pack_results(std::span<const ImageResult> results);
// FormatError naming `where` for anything else.
std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where);

// The result of a band of a picture. Its image has no probabilities and no boxes yet.
struct BandResult {
  ImageResult image;  // counts of windows are the band's
  GatheredWindows windows;
  friend bool operator==(const BandResult&, const BandResult&) = default;
};
// The file of its task, likewise.
Bytes pack_band(const BandResult& band);
BandResult unpack_band(BytesView bytes, const std::string& where);
// Adds the next band to those before it: counts add up, windows follow. Where one could not be
// read, that is what came of the picture.
void join(BandResult& picture, const BandResult& band);

}  // namespace winnow::app
