#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cut.h"
#include "dedup/policy/names.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {

// Wildcard patterns for the display names of samples (glob_fits).
struct Globs {
  std::vector<std::string> prefer;
  std::vector<std::string> protect;
};

// The user's wishes for the rows of a table: patterns are matched against names.
// ids     The sample ids of the rows.
// names   Supplies the names of these samples, perhaps of more. Called once; not called without
//         patterns.
// chosen  Sets of rows that a review chose to represent their groups; later choices come last.
Precedence precedence_of(std::span<const SampleId> ids, const NameSource& names, const Globs& globs,
                         const RowSets& chosen);

}  // namespace winnow::dedup
