#include "train/backend/load_state.h"

#include <algorithm>
#include <string>

#include "common/error.h"

namespace winnow::train {

void LoadState::mark(int part, int parts) {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::size_t>(parts);
  const auto at = static_cast<std::size_t>(part);
  if (is_loaded_.size() != count || is_loaded_[at]) is_loaded_.assign(count, false);
  is_loaded_[at] = true;
}

void LoadState::forget() {
  const std::lock_guard lock(mutex_);
  is_loaded_.clear();
}

void LoadState::check_complete() const {
  const std::lock_guard lock(mutex_);
  if (is_loaded_.empty()) throw Error("load_parameters must be called before the first run");
  const auto missing = std::ranges::count(is_loaded_, false);
  if (missing == 0) return;
  throw Error("load_parameters was called for " +
              std::to_string(static_cast<std::ptrdiff_t>(is_loaded_.size()) - missing) + " of " +
              std::to_string(is_loaded_.size()) + " parts, which must all be loaded before a run");
}

void check_part(int part, int parts) {
  if (part >= 0 && part < parts) return;
  throw Error("there is no part " + std::to_string(part) + " of " + std::to_string(parts) +
              " to load");
}

int part_of(std::size_t begin, std::size_t end, std::size_t total, int parts) noexcept {
  const double middle = (static_cast<double>(begin) + static_cast<double>(end)) / 2;
  const auto part = static_cast<int>(middle / static_cast<double>(total) * parts);
  return std::min(part, parts - 1);
}

}  // namespace winnow::train
