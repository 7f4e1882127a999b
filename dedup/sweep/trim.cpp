#include "dedup/sweep/trim.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/rng.h"

namespace winnow::dedup {
namespace {

bool is_thinned(const Selection& selection, std::size_t row) noexcept {
  return selection.rules[row] == Rule::kDuplicate;
}

// Sets weights in modes where samples share a weight of 1 with the others of their representative.
void share_weights(Selection& selection) {
  std::unordered_map<SampleId, float> sharers;
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (selection.weights[row] > 0) sharers[selection.kept[row]] += 1;
  }
  for (std::size_t row = 0; row < selection.size(); ++row) {
    float& weight = selection.weights[row];
    if (weight > 0) weight = 1 / sharers.at(selection.kept[row]);
  }
}

}  // namespace

std::uint64_t count_thinned(const Selection& selection) noexcept {
  return static_cast<std::uint64_t>(std::ranges::count(selection.rules, Rule::kDuplicate));
}

Selection trim(const Selection& selection, std::uint64_t count, std::uint64_t seed) {
  std::vector<std::tuple<std::uint16_t, std::uint64_t, std::size_t>> rows;  // nearest first
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (!is_thinned(selection, row)) continue;
    CounterRng draw(seed, 0, selection.ids[row], RandomUse::kStudy);
    rows.emplace_back(selection.distances[row], draw.next_u64(), row);
  }
  Selection trimmed = selection;
  if (rows.size() <= count) return trimmed;
  std::ranges::sort(rows);
  for (std::size_t i = count; i < rows.size(); ++i) {
    const std::size_t row = std::get<2>(rows[i]);
    trimmed.kept[row] = trimmed.ids[row];
    trimmed.weights[row] = 1;
    trimmed.distances[row] = 0;
    trimmed.rules[row] = Rule::kKept;
  }
  if (trimmed.mode == SelectionMode::kWeight) share_weights(trimmed);
  return trimmed;
}

}  // namespace winnow::dedup
