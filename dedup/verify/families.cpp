#include "dedup/verify/families.h"

#include <algorithm>
#include <utility>

#include "dedup/cluster/cluster.h"

namespace winnow::dedup {
namespace {

using Numbers = std::vector<std::uint32_t>;  // sorted

bool have_in_common(const Numbers& a, const Numbers& b, int few) {
  auto left = a.begin();
  auto right = b.begin();
  while (few > 0 && left != a.end() && right != b.end()) {
    if (*left == *right) --few;
    const bool is_left = *left <= *right;
    const bool is_right = *right <= *left;
    left += is_left ? 1 : 0;
    right += is_right ? 1 : 0;
  }
  return few == 0;
}

// Connected components of rows through pairs that `are_linked` accepts.
template <class Pairs>
Components components_of(std::span<const AlikePair> pairs, const Pairs& are_linked) {
  std::uint32_t rows = 0;
  for (const AlikePair& pair : pairs) rows = std::max({rows, pair.row_a + 1, pair.row_b + 1});
  UnionFind linked(rows);
  for (const AlikePair& pair : pairs) {
    if (are_linked(pair)) linked.unite(Edge{pair.row_a, pair.row_b, 0});
  }
  return std::move(linked).components();
}

// Rows shown to be one picture.
Components shown_pictures(std::span<const AlikePair> pairs) {
  return components_of(pairs, [](const AlikePair& pair) { return pair.is_shown; });
}

}  // namespace

std::vector<char> are_of_families(std::span<const AlikePair> pairs) {
  const Components pictures = shown_pictures(pairs);
  const auto picture_of = [&](std::uint32_t row) { return pictures.of_row[row]; };
  std::vector<Numbers> alike(pictures.count);
  for (const AlikePair& pair : pairs) {
    const std::uint32_t a = picture_of(pair.row_a);
    const std::uint32_t b = picture_of(pair.row_b);
    if (a == b) continue;
    alike[a].push_back(b);
    alike[b].push_back(a);
  }
  for (Numbers& numbers : alike) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  std::vector<char> of_family;
  for (const AlikePair& pair : pairs) {
    const std::uint32_t a = picture_of(pair.row_a);
    const std::uint32_t b = picture_of(pair.row_b);
    of_family.push_back(a != b && have_in_common(alike[a], alike[b], pair.others) ? 1 : 0);
  }
  return of_family;
}

std::vector<std::uint32_t> count_look_alikes(std::span<const AlikePair> pairs,
                                             std::span<const char> refused) {
  const Components pictures = shown_pictures(pairs);
  std::vector<Numbers> others(pictures.of_row.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [row_a, row_b, is_shown, few] = pairs[i];
    const std::uint32_t a = pictures.of_row[row_a];
    const std::uint32_t b = pictures.of_row[row_b];
    if (refused[i] == 0 || a == b) continue;
    others[row_a].push_back(b);
    others[row_b].push_back(a);
  }
  std::vector<std::uint32_t> counts;
  for (Numbers& numbers : others) {
    std::ranges::sort(numbers);
    const auto end = std::unique(numbers.begin(), numbers.end());
    counts.push_back(static_cast<std::uint32_t>(end - numbers.begin()));
  }
  return counts;
}

std::vector<char> are_mostly_look_alikes(std::span<const AlikePair> pairs,
                                         std::span<const char> refused) {
  constexpr std::uint64_t kFew = 4;
  constexpr std::uint64_t kPairsOfPicture = 2;
  const Components together = components_of(pairs, [](const AlikePair&) { return true; });
  struct Lump {
    std::uint64_t pictures = 0;
    std::uint64_t pairs = 0;
    std::uint64_t none = 0;  // refused pairs, between different pictures
    std::uint64_t one = 0;   // pairs within one picture
  };
  std::vector<Lump> lumps(together.count);
  for (const std::uint32_t component : together.of_row) ++lumps[component].pictures;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Lump& lump = lumps[together.of_row[pairs[i].row_a]];
    ++lump.pairs;
    lump.none += refused[i] != 0 ? 1 : 0;
    lump.one += pairs[i].is_shown ? 1 : 0;
  }
  std::vector<char> mostly;
  for (const std::uint32_t component : together.of_row) {
    const auto& [pictures, in_all, none, one] = lumps[component];
    const bool is_dense = in_all >= kPairsOfPicture * pictures;
    mostly.push_back(is_dense && none >= kFew && none > one ? 1 : 0);
  }
  return mostly;
}

}  // namespace winnow::dedup
