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

// The prediction for one picture, or why there is none.
struct ImageResult {
  pipeline::Fate fate = pipeline::Fate::kOk;
  std::string reason{};  // why it was not predicted, or a warning; empty: neither
  // Probabilities by class; empty if the picture could not be read.
  std::vector<float> probabilities{};
  std::vector<float> features{};  // feature vector, if asked for
  // The following fields are only set for pictures that are predicted in windows.
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::uint64_t windows = 0;
  std::uint64_t flat_windows = 0;  // number of windows of one colour, which were skipped
  std::vector<FoundBox> boxes{};
  friend bool operator==(const ImageResult&, const ImageResult&) = default;
};

// The consecutive inputs from `first` on, and where to put their results.
struct ResultsFrom {
  std::uint64_t first;
  std::span<ImageResult> results;
};

// The file with the results of a task: results of its pictures in order, and a checksum.
Bytes pack_results(std::span<const ImageResult> results);
// Reads the file of a task. For anything else throws FormatError, which names `where`.
std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where);

// The result of one band (rows of windows) of a picture. `image` has no probabilities and boxes
// yet.
struct BandResult {
  ImageResult image;  // result for the picture, with the band's numbers of windows
  GatheredWindows windows;
  friend bool operator==(const BandResult&, const BandResult&) = default;
};
// The file with the result of one band of a picture, and its reader.
Bytes pack_band(const BandResult& band);
BandResult unpack_band(BytesView bytes, const std::string& where);
// Appends the next band of a picture: adds counts, appends windows. If the band could not be read,
// the picture gets its outcome (`Fate`).
void join(BandResult& picture, const BandResult& band);

}  // namespace winnow::app
