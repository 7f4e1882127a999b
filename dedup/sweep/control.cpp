#include "dedup/sweep/control.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

ClassCounts count_classes(const Selection& selection, const Fingerprints& table, Split split,
                          const auto& counts) {
  ClassCounts out;
  for (std::uint32_t row = 0; row < selection.size(); ++row) {
    if (selection.split_of(row, table.splits[row]) != split || !counts(row)) continue;
    ++out[label_set(table.labels, row)];
  }
  return out;
}

std::uint64_t sum_of(const ClassCounts& counts) noexcept {
  std::uint64_t sum = 0;
  for (const auto& [labels, count] : counts) sum += count;
  return sum;
}

}  // namespace

ClassCounts thinned_by_class(const Selection& selection, const Fingerprints& table) {
  return count_classes(selection, table, Split::kTrain,
                       [&](std::uint32_t row) { return selection.rules[row] == Rule::kDuplicate; });
}

ClassCounts kept_by_class(const Selection& selection, const Fingerprints& table, Split split) {
  return count_classes(selection, table, split,
                       [&](std::uint32_t row) { return selection.weights[row] > 0; });
}

std::vector<std::vector<std::int32_t>> vanished(const ClassCounts& before,
                                                const ClassCounts& after) {
  std::vector<std::vector<std::int32_t>> classes;
  for (const auto& [labels, count] : before) {
    const auto left = after.find(labels);
    if (count > 0 && (left == after.end() || left->second == 0)) classes.push_back(labels);
  }
  return classes;
}

double counts_apart(const ClassCounts& a, const ClassCounts& b) noexcept {
  std::uint64_t common = 0;
  for (const auto& [labels, count] : a) {
    const auto other = b.find(labels);
    if (other != b.end()) common += std::min(count, other->second);
  }
  const std::uint64_t most = std::max(sum_of(a), sum_of(b));
  return most == 0 ? 0 : 1 - static_cast<double>(common) / static_cast<double>(most);
}

std::vector<std::size_t> share_controls(std::span<const ClassCounts> removals, double tolerance) {
  std::vector<std::size_t> of(removals.size());
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const auto near = std::ranges::find_if(own, [&](std::size_t other) {
      return counts_apart(removals[other], removals[i]) <= tolerance;
    });
    of[i] = near == own.end() ? i : *near;
    if (near == own.end()) own.push_back(i);
  }
  return of;
}

Selection draw_control(const Selection& base, const Fingerprints& table, const ClassCounts& counts,
                       std::uint64_t seed) {
  std::map<std::vector<std::int32_t>, std::vector<std::pair<std::uint64_t, std::uint32_t>>> drawn;
  for (std::uint32_t row = 0; row < base.size(); ++row) {
    if (base.split_of(row, table.splits[row]) != Split::kTrain || !(base.weights[row] > 0)) {
      continue;
    }
    CounterRng draw(seed, 1, base.ids[row], RandomUse::kStudy);
    drawn[label_set(table.labels, row)].emplace_back(draw.next_u64(), row);
  }
  Selection control = base;
  for (const auto& [labels, count] : counts) {
    auto& rows = drawn[labels];
    if (count > rows.size()) {
      throw UsageError(std::to_string(count) +
                       " samples of a class cannot be removed at random: train has " +
                       std::to_string(rows.size()));
    }
    std::ranges::sort(rows);
    for (std::size_t i = 0; i < count; ++i) {
      control.weights[rows[i].second] = 0;
      control.rules[rows[i].second] = Rule::kReview;
    }
  }
  return control;
}

}  // namespace winnow::dedup
