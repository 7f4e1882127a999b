#include "python/core/loading.h"

#include "common/error.h"

namespace winnow::python {

pipeline::Geometry geometry_of(const pipeline::DatasetInfo& info, int height_px, int width_px,
                               const std::filesystem::path& cache) {
  const bool said = height_px > 0 && width_px > 0;
  if (!said && (info.height_px == 0 || info.width_px == 0)) {
    throw UsageError("the images of " + cache.string() +
                     " differ in size; say by image_size what a net takes");
  }
  return said ? pipeline::Geometry{height_px, width_px, info.channels}
              : pipeline::Geometry{info.height_px, info.width_px, info.channels};
}

pipeline::Levels levels_of(const pipeline::DatasetInfo& info) {
  constexpr double kMost = 255;
  pipeline::Levels levels;
  for (std::size_t c = 0; c < static_cast<std::size_t>(info.channels); ++c) {
    // Of a net's f32, as train has them. Images of one single value have no deviation.
    levels.mean.at(c) = kMost * double{static_cast<float>(info.mean.at(c))};
    levels.deviation.at(c) =
        kMost * (info.deviation.at(c) > 0 ? double{static_cast<float>(info.deviation.at(c))} : 1);
  }
  return levels;
}

}  // namespace winnow::python
