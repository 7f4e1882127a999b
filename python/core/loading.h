#pragma once

#include <filesystem>

#include "pipeline/augment/augment.h"
#include "pipeline/load/dataset.h"

namespace winnow::python {

// The size that images are brought to: as said, or where nothing is (0), that of all images.
// UsageError where these differ.
pipeline::Geometry geometry_of(const pipeline::DatasetInfo& info, int height_px, int width_px,
                               const std::filesystem::path& cache);

// What a net trained on the data set normalises with, to the same bits as `winnow train`.
pipeline::Levels levels_of(const pipeline::DatasetInfo& info);

}  // namespace winnow::python
