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

// The result of one picture.
struct ImageResult {
  pipeline::Fate fate = pipeline::Fate::kOk;
  std::string reason{};                // empty: ok without a warning
  std::vector<float> probabilities{};  // by class; empty if it could not be read
  std::vector<float> features{};       // if asked for
  // For pictures that are predicted in windows.
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::uint64_t windows = 0;
  std::uint64_t flat_windows = 0;  // windows of one colour, which were skipped
  std::vector<FoundBox> boxes{};
  friend bool operator==(const ImageResult&, const ImageResult&) = default;
};

// Pictures [first, first + results.size()) of the inputs, and where to put their results.
struct ResultsFrom {
  std::uint64_t first;
  std::span<ImageResult> results;
};

// The file of a task: the results of its pictures in order, and a checksum.
Bytes pack_results(std::span<const ImageResult> results);
// Throws FormatError, which names `where`, for anything else.
std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where);

// The result of a band of a picture. Its image has no probabilities and boxes yet.
struct BandResult {
  ImageResult image;  // with the band's counts of windows
  GatheredWindows windows;
  friend bool operator==(const BandResult&, const BandResult&) = default;
};
// The file of a band's task.
Bytes pack_band(const BandResult& band);
BandResult unpack_band(BytesView bytes, const std::string& where);
// Appends the next band: adds counts, appends windows. If a band could not be read, the picture
// gets its fate.
void join(BandResult& picture, const BandResult& band);

}  // namespace winnow::app
