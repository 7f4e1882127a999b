#include "app/predict/bands.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/predict/windows.h"
#include "common/error.h"
#include "common/file.h"
#include "train/graph/graph.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kLeastBytes = 1u << 20;  // smaller files are never split
constexpr std::uint64_t kLeastWindows = 256;     // minimum of a band
constexpr double kMostAgain = 0.08;  // largest extra cost, as a share of an unsplit picture's

}  // namespace

BandCosts band_costs(const pipeline::PartsShape& shape, const WindowOptions& options,
                     double window_multiply_adds, std::size_t micro_batch) {
  const std::int64_t span = span_of(options);
  const std::int64_t stride = stride_of(options);
  const WindowPlaces places(shape.stored, shape.orientation, span, stride);
  const double row = kMultiplyAddsAPixel * shape.stored.width_px;
  const double height = shape.stored.height_px;
  // On average half the rows of a JPEG are above a band. For strips and tiles: one at each end.
  const double above = std::min(height / 2, static_cast<double>(shape.rows_to_reach));
  return {.rows = places.rows(),
          .a_row = places.a_row(),
          .window = window_multiply_adds,
          .picture = row * height,
          .again = row * (above + static_cast<double>(span - stride)) +
                   window_multiply_adds * static_cast<double>(micro_batch) / 2};
}

std::vector<WindowRange> cut_into_bands(const BandCosts& costs, std::uint64_t least) {
  const double alone = costs.picture + costs.window * static_cast<double>(costs.rows * costs.a_row);
  const auto further = static_cast<std::uint64_t>(
      std::min(kMostAgain * alone / costs.again, static_cast<double>(costs.rows)));
  const std::uint64_t high = (least + costs.a_row - 1) / costs.a_row;  // rows of windows in a band
  const std::uint64_t bands = std::max<std::uint64_t>(
      1, std::min(1 + further, costs.rows / std::max<std::uint64_t>(1, high)));
  std::vector<WindowRange> ranges;
  for (std::uint64_t band = 0; band < bands; ++band) {
    ranges.push_back(
        {costs.rows * band / bands * costs.a_row, costs.rows * (band + 1) / bands * costs.a_row});
  }
  return ranges;
}

double multiply_adds_of(const Net& net) {
  const double views =
      net.view_mean.of == nullptr ? 1 : static_cast<double>(net.view_mean.of->views.size());
  return views * train::count(net.graph).flops / 2 / static_cast<double>(net.micro_batch());
}

std::vector<WindowRange> bands_of(const Inputs& inputs, std::uint64_t at,
                                  const WindowOptions& options, double window_multiply_adds,
                                  std::size_t micro_batch) {
  const std::optional<std::filesystem::path> path = inputs.file_of(at);
  if (!path || inputs.bytes(at) < kLeastBytes) return {};
  std::optional<InputFile> file;
  try {
    file.emplace(*path);
  } catch (const SystemError&) {  // the task that has this input reports it
    return {};
  }
  inputs.check_bytes(at, file->size());
  const auto shape = pipeline::shape_in_parts(pipeline::EncodedBytes(*std::move(file)),
                                              inputs.decode_settings(), {options.memory_bytes, {}});
  if (!shape) return {};
  return cut_into_bands(band_costs(*shape, options, window_multiply_adds, micro_batch),
                        kLeastWindows);
}

}  // namespace winnow::app
