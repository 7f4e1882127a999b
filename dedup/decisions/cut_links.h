#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/cut.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// Cuts components that contain rows which a review called different (cannot-links).
// The result is the same as for the links between all pairs within the threshold, although a search
// gives only some of these: rows of one code are only linked to the first of them.

struct Cut {
  Components parts;              // components after cutting, of all rows of the table
  std::vector<bool> is_cut;      // by row: its component had cannot-links before cutting
  std::vector<bool> stands_out;  // by row: needs links of its own, see links_of_all_pairs()
};

// The rows of all components that contain a cannot-link, ascending: two rows of one set of `apart`.
std::vector<std::uint32_t> rows_to_cut(const Components& components, const RowSets& apart);

// By row of the table: whether the row, one of `rows`, needs links of its own, because it has a
// cannot-link, or a must-link to a row of another code. Other rows of one code may be represented
// by one of them.
// always  Must-links: links of rows that are one picture by a review.
std::vector<bool> rows_that_stand_out(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                      std::span<const Edge> always, const RowSets& apart);

// Links by codes among `rows` (ascending, of enough quality), from which components_apart() makes
// the same components as from all pairs within the threshold. There are far fewer of them.
//
// Out     All pairs among the rows marked in `stands_out` and, for each code, the first row that is
//         not. Every further row of a code is only linked to that first row.
// source  Called once.
// Memory  These links.
std::vector<Edge> links_of_all_pairs(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                     const std::vector<bool>& stands_out, int threshold,
                                     const LinkSource& source);

// The links of `source` without those between two parts of `cut`. Both arguments must outlive the
// result.
LinkSource links_inside(const Cut& cut, const LinkSource& source);

}  // namespace winnow::dedup
