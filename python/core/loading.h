#pragma once

#include <filesystem>

#include "pipeline/augment/augment.h"
#include "pipeline/load/dataset.h"

namespace winnow::python {

// The size of loaded images: the given one or, if that is 0, the size that all stored images have.
// Throws UsageError if these differ in size.
pipeline::Geometry geometry_of(const pipeline::DatasetInfo& info, int height_px, int width_px,
                               const std::filesystem::path& cache);

// The mean and standard deviation by which a net trained on the data set normalises; the same bits
// as in `winnow train`.
pipeline::Levels levels_of(const pipeline::DatasetInfo& info);

}  // namespace winnow::python
