#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/table/selection.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Remarks on the balance of a cache's classes (class_remarks): over all images, or over those that
// a selection keeps. Empty for caches without statistics.
std::vector<std::string> remarks_on_classes(const pipeline::Manifest& manifest);
std::vector<std::string> remarks_on_classes(const pipeline::Cache& cache,
                                            const dedup::Selection& selection);

}  // namespace winnow::app
