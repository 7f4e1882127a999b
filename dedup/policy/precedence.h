#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cut.h"
#include "dedup/policy/names.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {

// Globs over the display names of samples (glob_fits).
struct Globs {
  std::vector<std::string> prefer;
  std::vector<std::string> protect;
};

// The precedence of a table's rows.
// ids     Those of the rows.
// names   Gives the names of all of them, perhaps of others too. Asked once; never without globs.
// chosen  Rows that shall represent their groups; later choices come last.
Precedence precedence_of(std::span<const SampleId> ids, const NameSource& names, const Globs& globs,
                         const RowSets& chosen);

}  // namespace winnow::dedup
