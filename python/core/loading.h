#pragma once

#include <filesystem>

#include "pipeline/augment/augment.h"
#include "pipeline/load/dataset.h"

namespace winnow::python {

// The size of loaded images: the given one, or if it is 0, that of all images. UsageError if these
// differ.
pipeline::Geometry geometry_of(const pipeline::DatasetInfo& info, int height_px, int width_px,
                               const std::filesystem::path& cache);

// The mean and deviation with which a net trained on the data set normalises, with the same bits as
// in `winnow train`.
pipeline::Levels levels_of(const pipeline::DatasetInfo& info);

}  // namespace winnow::python
