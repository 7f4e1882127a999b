#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cut.h"
#include "dedup/index/index.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {

// Globs over what people call samples (glob_fits).
struct Globs {
  std::vector<std::string> prefer;
  std::vector<std::string> protect;
};

// Precedence of the rows of a table, whose ids these are. `names` gives those of all of them, and
// perhaps of others; it is asked once, and not at all where there are no globs. `chosen`: rows that
// are to stand for their groups, what was said later behind.
Precedence precedence_of(std::span<const SampleId> ids, const NameSource& names, const Globs& globs,
                         const RowSets& chosen);

}  // namespace winnow::dedup
