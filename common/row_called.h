#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace winnow {

// The element of `known` that `word` was probably meant to be: it has `word` as a prefix, or is a
// small edit distance away. Empty if none is near. Pure.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

// The text of an error: "unknown optimizer 'adam'; known: sgd, adamw; did you mean adamw?", where
// `what` is "unknown optimizer".
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> known);

// The row of a table with this name. Throws UsageError with the text of unknown_name() if there is
// none.
template <class Rows>
const auto& row_called(std::string_view what, std::string_view name, const Rows& rows) {
  std::vector<std::string> known;
  for (const auto& row : rows) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw UsageError(unknown_name(what, name, known));
}

}  // namespace winnow
