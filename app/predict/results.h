#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "pipeline/store/ledger.h"

namespace winnow::app {

// Where a map reaches a probability: the bounding box of points that hang together, in pixels of
// the picture.
struct FoundBox {
  std::int32_t label = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  float most = 0;  // of the map in it
  float mean = 0;  // of the points that hang together
  friend bool operator==(const FoundBox&, const FoundBox&) = default;
};

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

// The file of a task: the results of its pictures in their order, and a checksum.
Bytes pack_results(std::span<const ImageResult> results);
// FormatError naming `where` for anything else.
std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where);

}  // namespace winnow::app
