#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/cut.h"
#include "dedup/deduplicate.h"

namespace winnow::dedup {

// How components are cut that hold two rows that must be apart. All by links between all pairs of
// rows, of which a search gives a few only: rows of one code are linked through the first of them.

struct Cut {
  Components parts;              // what is left of the components, of all rows
  std::vector<bool> is_cut;      // by row: its component held rows that must be apart
  std::vector<bool> stands_out;  // by row, of these: see links_of_all_pairs()
};

// The rows of components that hold two rows of a set of `apart`, ascending.
std::vector<std::uint32_t> rows_to_cut(const Components& components, const RowSets& apart);

// By row of a table, of `rows`: whether other rows of its code do not tell what it is linked to,
// since it must be apart from something, or is the same as a row of another code. `always`: links
// of what is the same. The others of one code end in one component: they are free to.
std::vector<bool> rows_that_stand_out(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                      std::span<const Edge> always, const RowSets& apart);

// Links by codes among `rows`, which ascend and match: components_apart() gives by them what it
// gives by all pairs within the threshold. They are all pairs of rows that stand out or are the
// first of their code that does not, and a link from that one to each other such row of its code.
// `source` is asked once. Memory: these links.
std::vector<Edge> links_of_all_pairs(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                     const std::vector<bool>& stands_out, int threshold,
                                     const LinkSource& source);

// The links of `source` without those between two parts. Both must outlive it.
LinkSource links_inside(const Cut& cut, const LinkSource& source);

}  // namespace winnow::dedup
