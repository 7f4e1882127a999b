#include "app/predict/open_picture.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/resample.h"
#include "pipeline/decode/orientation.h"

namespace winnow::app {

Expected<std::unique_ptr<pipeline::PictureRows>, pipeline::Refused> open_picture(
    const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes, const StopRequested& stop) {
  const std::optional<std::filesystem::path> path = inputs.file_of(at);
  if (path && inputs.bytes(at) > 0) {
    std::optional<InputFile> file;
    try {
      file.emplace(*path);
    } catch (const SystemError&) {  // reading the whole file reports it in the words of the ledger
    }
    if (file) {
      inputs.check_bytes(at, file->size());
      auto rows = pipeline::open_rows(pipeline::EncodedBytes(*std::move(file)),
                                      inputs.decode_settings(), {memory_bytes, stop});
      if (!rows) return refused(rows.error());
      return *std::move(rows);
    }
  }
  auto loaded = inputs.load(at, memory_bytes);
  if (!loaded) return loaded.error();
  pipeline::DecodedImage image(std::move(loaded->image));
  image.warning = std::move(loaded->warning);
  return pipeline::rows_of(std::move(image));
}

SmallPicture small_picture(const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes,
                           int side_px, const StopRequested& stop) {
  auto rows = open_picture(inputs, at, memory_bytes, stop);
  if (!rows) return {};
  const pipeline::Size size = (*rows)->size();
  const int longest = std::max(size.height_px, size.width_px);
  const double scale = std::min(1.0, static_cast<double>(side_px) / longest);
  const auto shrunk = [scale](int side) {
    return std::max(1, static_cast<int>(std::lround(side * scale)));
  };
  constexpr int kRows = 16;
  const int channels = (*rows)->channels();
  RowResizer resizer(
      {size.height_px, size.width_px, channels, shrunk(size.height_px), shrunk(size.width_px)},
      ResampleFilter::kBilinear);
  Image band(std::min(kRows, size.height_px), size.width_px, channels);
  for (int row = 0; row < size.height_px; row += kRows) {
    const int some = std::min(kRows, size.height_px - row);
    if ((*rows)->read(some, band.pixels.data())) return {};
    ImageView view = band.view();
    view.height_px = some;
    resizer.add(view);
  }
  Image image = resizer.finish();
  pipeline::turn(image, (*rows)->orientation());
  const bool swaps = pipeline::swaps_sides((*rows)->orientation());
  return {std::move(image), swaps ? pipeline::Size{size.width_px, size.height_px} : size};
}

}  // namespace winnow::app
