#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "common/error.h"

namespace winnow {

// A value with its name. A table of these, or of rows with more columns, names all values of an
// enumeration.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

// The value with a name. UsageError lists the names if it is unknown. `what` describes the value:
// "scope".
template <class Row, std::size_t N>
auto parse_named(const std::array<Row, N>& table, std::string_view what, std::string_view name) {
  std::string known;
  for (const Row& row : table) {
    if (row.name == name) return row.value;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) +
                   "'; choose one of " + known);
}

// The name of a value, which must be in the table.
template <class T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& table, const T& value) noexcept {
  return std::find_if(table.begin(), table.end() - 1,
                      [&](const Named<T>& row) { return row.value == value; })
      ->name;
}

}  // namespace winnow
