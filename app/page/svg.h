#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::app {

// Small SVG charts for HTML pages, coloured by the page's style sheet: classes bar, axis, tick,
// value, part0 to part3. Escapes all texts.

struct Column {
  std::string tick;   // label under the left edge of the column
  std::string title;  // text of the column, shown on hover
  std::uint64_t count = 0;
};
// Draws a histogram: columns from left to right, each with its share of the total. `name` is the
// alternative text for people who cannot see the chart.
std::string columns_svg(const std::string& name, const std::vector<Column>& columns);

// Draws a stacked horizontal bar: `parts` from the left, out of a full width of `most`.
std::string bar_svg(const std::vector<std::uint64_t>& parts, std::uint64_t most);

// Draws numbers, sorted in descending order, as an area chart.
std::string falling_svg(const std::string& name, std::vector<std::uint64_t> numbers);

}  // namespace winnow::app
