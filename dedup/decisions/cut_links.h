#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/cut.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// How components are cut that contain two rows that must be apart.
// The result is that of the links between all pairs of rows. A search gives only some of these:
// rows of one code are linked through the first of them.

struct Cut {
  Components parts;              // the components after cutting, for all rows
  std::vector<bool> is_cut;      // by row: its component contained rows that must be apart
  std::vector<bool> stands_out;  // by row, for these: see links_of_all_pairs()
};

// The rows, ascending, of components that contain two rows of a set of `apart`.
std::vector<std::uint32_t> rows_to_cut(const Components& components, const RowSets& apart);

// By row of a table, for `rows`: whether it needs links of its own, because it must be apart from
// something, or is the same as a row of another code. The remaining rows of one code are free to
// end up in one component.
// always  Links of rows that are the same.
std::vector<bool> rows_that_stand_out(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                      std::span<const Edge> always, const RowSets& apart);

// Links by codes among `rows` (ascending, matchable). components_apart() gives the same result for
// them as for all pairs within the threshold.
//
// Out     All pairs among rows that stand out and the first row of each code that does not. From
//         that first row, a link to each other such row of its code.
// source  Is asked once.
// Memory  These links.
std::vector<Edge> links_of_all_pairs(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                     const std::vector<bool>& stands_out, int threshold,
                                     const LinkSource& source);

// The links of `source`, without those between two parts. Both must outlive the result.
LinkSource links_inside(const Cut& cut, const LinkSource& source);

}  // namespace winnow::dedup
