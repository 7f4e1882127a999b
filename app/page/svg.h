#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::app {

// Pictures of a page, coloured by its style sheet: classes bar, axis, tick, value, part0 to part3.
// All texts are escaped here.

struct Column {
  std::string tick;   // under its left edge
  std::string title;  // shown on hover
  std::uint64_t count = 0;
};
// A histogram: columns from left to right, each with its share of the total. `name`: text for
// people who cannot see it.
std::string columns_svg(const std::string& name, const std::vector<Column>& columns);

// A bar of `most` in width, filled from the left by `parts`.
std::string bar_svg(const std::vector<std::uint64_t>& parts, std::uint64_t most);

// Numbers in falling order, as an area.
std::string falling_svg(const std::string& name, std::vector<std::uint64_t> numbers);

}  // namespace winnow::app
