#include "common/row_called.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace winnow {
namespace {

// Edit distance: insertions, deletions, replacements, and swaps of neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({change, row[j] + 1, next[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  const std::size_t most = 1 + word.size() / 4;
  std::string best;
  std::size_t least = most + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() > 2 && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : edits(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> known) {
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  const std::string meant = nearest_word(name, known);
  return std::string(what) + " '" + std::string(name) + "'; known: " + all +
         (meant.empty() ? "" : "; did you mean " + meant + "?");
}

}  // namespace winnow
