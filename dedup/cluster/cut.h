#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/cluster.h"

namespace winnow::dedup {

using RowList = std::vector<std::uint32_t>;
using RowSets = std::vector<RowList>;

// Connected components of rows 0 .. row_count - 1 with cannot-links: no component has two rows of
// one set of `apart`.
//
// 1. The edges of `always` (must-links) unite their rows.
// 2. `links` are processed by distance, then by (a, b), a < b. Each unites its rows unless two rows
//    of one set of `apart` would share a component.
//
// Where several cuts are possible, the longest links are cut. The result does not depend on the
// order of `always`, `links` and `apart`.
// Errors  Error if `always` alone unites two rows of one set of `apart`.
// Source  Kruskal 1956, with cannot-links.
Components components_apart(std::size_t row_count, std::span<const Edge> always,
                            std::vector<Edge> links, const RowSets& apart);

}  // namespace winnow::dedup
