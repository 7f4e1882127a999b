#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/cluster.h"

namespace winnow::dedup {

using RowList = std::vector<std::uint32_t>;
using RowSets = std::vector<RowList>;

// Connected components of rows 0 .. row_count - 1 in which no two rows of a set of `apart` are
// together.
//
// 1. All edges of `always` unite what they link.
// 2. `links` are gone through by distance, equal ones by (a, b), a < b. Each unites what it links
//    unless that would bring two rows of one set together (Kruskal 1956 with cannot-links).
//
// So where several cuts are possible, the longest links are cut. The same for any order of
// `always`, `links` and `apart`.
// Error where `always` alone brings two rows of a set together.
Components components_apart(std::size_t row_count, std::span<const Edge> always,
                            std::vector<Edge> links, const RowSets& apart);

}  // namespace winnow::dedup
