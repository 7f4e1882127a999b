#include "dedup/verify/through_others.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "dedup/cluster/stars.h"
#include "dedup/verify/transformation.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kMostOfRow = 4;
// Maximum for a row for which further pairs are worth trying.
constexpr std::size_t kFewLinks = 16;
constexpr std::size_t kMostOfOne = 16;  // links followed from the row between
constexpr double kLeastShown = 0.25;

// A linked row, and how it lies relative to this one.
struct Link {
  std::uint32_t other = 0;
  Affine map;  // from the row to the other
};

class LinksBetween {
 public:
  explicit LinksBetween(std::span<const VerifiedPair> pairs) {
    std::uint32_t rows = 0;
    for (const VerifiedPair& pair : pairs) rows = std::max(rows, pair.row_b + 1);
    of_row_.resize(rows);
    for (const VerifiedPair& pair : pairs) {
      of_row_[pair.row_a].push_back({pair.row_b, pair.map});
      of_row_[pair.row_b].push_back({pair.row_a, inverse(pair.map)});
      edges_.push_back({pair.row_a, pair.row_b, 0});
    }
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(of_row_.size()); }
  std::span<const Link> of(std::uint32_t row) const { return of_row_[row]; }
  const Link& between(std::uint32_t row, std::uint32_t other) const {
    return *std::ranges::find(of_row_[row], other, &Link::other);
  }
  // The representative of each row; itself if it stays.
  std::vector<std::uint32_t> stands_for() const {
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    const LinkedNodes nodes(connected_components(size(), {}), edges_);
    return stars_of(nodes, order, {[](std::uint32_t, std::uint32_t) { return true; }})
        .stands_for_row;
  }

 private:
  std::vector<std::vector<Link>> of_row_;
  std::vector<Edge> edges_;
};

bool is_enough_shown(const Affine& map) {
  if (is_flat(map)) return false;
  const Transformation what = transformation_of(map, {}, {});
  return std::max(what.shown.area(), what.taken.area()) >= kLeastShown;
}

// Rows reached through one row between, with the composed maps.
using Maps = std::map<std::uint32_t, Affine>;

// To representatives that come before the row's own.
Maps to_staying(const LinksBetween& links, std::span<const std::uint32_t> stands_for,
                std::uint32_t row) {
  Maps maps;
  for (const auto& [between, to_between] : links.of(row)) {
    const std::uint32_t staying = stands_for[between];
    if (staying >= stands_for[row] || staying == between) continue;
    maps.try_emplace(staying, after(links.between(between, staying).map, to_between));
  }
  return maps;
}

// To earlier rows that its links are linked to; empty if it has many links.
Maps to_next_but_one(const LinksBetween& links, std::uint32_t row) {
  Maps maps;
  if (links.of(row).size() > kFewLinks) return maps;
  for (const auto& [between, to_between] : links.of(row)) {
    const std::span<const Link> next = links.of(between);
    for (const auto& [other, map] : next.first(std::min(kMostOfOne, next.size()))) {
      if (other < row) maps.try_emplace(other, after(map, to_between));
    }
  }
  return maps;
}

}  // namespace

std::vector<Trial> trials_through_others(std::span<const VerifiedPair> pairs, RowPairs& tried) {
  const LinksBetween links(pairs);
  const std::vector<std::uint32_t> stands_for = links.stands_for();
  std::vector<Trial> trials;
  for (std::uint32_t row = 0; row < links.size(); ++row) {
    std::size_t of_row = 0;
    const auto try_all = [&](const Maps& maps) {
      for (const auto& [other, map] : maps) {
        if (of_row == kMostOfRow) return;
        if (!is_enough_shown(map) || !tried.emplace(other, row).second) continue;
        trials.push_back({.row_a = other, .row_b = row, .map = inverse(map)});
        ++of_row;
      }
    };
    try_all(to_staying(links, stands_for, row));
    try_all(to_next_but_one(links, row));
  }
  std::ranges::sort(trials, {},
                    [](const Trial& trial) { return std::pair(trial.row_a, trial.row_b); });
  return trials;
}

}  // namespace winnow::dedup
