#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace winnow {

// The one of `known` that `word` was most likely meant for: it begins so, or little has to be
// changed. Empty where none is near. Pure.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

// "unknown optimizer 'adam'; known: sgd, adamw; did you mean adamw?", where `what` is "unknown
// optimizer".
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> known);

// The row of a table that is called `name`. UsageError as unknown_name() says it.
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
