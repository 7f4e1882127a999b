#pragma once

#include <string>
#include <vector>

#include "dedup/selection.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"

namespace winnow::tools {

// What is worth saying of the classes of a cache (class_remarks): of all its images, or of those
// that a selection keeps, in the splits that it has. Nothing of caches without statistics.
std::vector<std::string> remarks_on_classes(const pipeline::Manifest& manifest);
std::vector<std::string> remarks_on_classes(const pipeline::Cache& cache,
                                            const dedup::Selection& selection);

// Says each.
void say_each(const Session& session, const std::vector<std::string>& remarks);

}  // namespace winnow::tools
