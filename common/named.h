#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/row_called.h"

namespace winnow {

// A value of an enumeration and its name. A table of these, or of rows with more columns, names all
// values of the enumeration.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

// The value with this name. Throws UsageError with the text of unknown_name() if there is none.
// what  A noun for the names, for the message: "scope".
template <class Row, std::size_t N>
auto parse_named(const std::array<Row, N>& table, std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const Row& row : table) {
    if (row.name == name) return row.value;
    known.emplace_back(row.name);
  }
  throw UsageError(unknown_name("there is no " + std::string(what), name, known));
}

// The name of a value, which must be in the table.
template <class T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& table, const T& value) noexcept {
  return std::find_if(table.begin(), table.end() - 1,
                      [&](const Named<T>& row) { return row.value == value; })
      ->name;
}

}  // namespace winnow
