#include "dedup/verify/best_rounds.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "dedup/cluster/components.h"

namespace winnow::dedup {
namespace {

// A neighbour of a row, with the number of their pair.
struct Neighbour {
  std::uint32_t row;
  std::size_t pair;
};

class Rounds {
 public:
  Rounds(std::span<const RowPair> pairs, std::span<const std::uint32_t> places,
         const ComparePair& compare)
      : places_(places),
        compare_(compare),
        neighbours_(places.size()),
        numbers_(),
        is_done_(places.size()),
        told_(pairs.size()),
        is_asked_(pairs.size()) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      neighbours_[pairs[i].first].push_back({pairs[i].second, i});
      neighbours_[pairs[i].second].push_back({pairs[i].first, i});
      numbers_.emplace(std::minmax(pairs[i].first, pairs[i].second), i);
    }
  }

  // Processes one component; other threads may process others.
  void run(std::vector<std::uint32_t> rows) {
    std::ranges::sort(rows, {}, [&](std::uint32_t row) { return places_[row]; });
    for (const std::uint32_t row : rows) {
      while (!is_done_[row]) close(best_from(row));
    }
  }

  std::vector<std::optional<PictureComparison>> told() && { return std::move(told_); }

 private:
  // Comparisons of a row with those that are not finished.
  struct Record {
    int sure_lost = 0, sure = 0;
    int lost = 0, all = 0;

    // Smaller is better.
    auto key() const {
      return std::pair(static_cast<double>(sure_lost) / (1 + sure),
                       static_cast<double>(lost) / (1 + all));
    }
    bool is_mostly_lost() const { return lost >= 2 && 2 * lost > all; }
  };
  Record record_of(std::uint32_t row) const {
    Record record;
    for (const Neighbour& other : neighbours_[row]) {
      if (is_done_[other.row] || !told_[other.pair]) continue;
      const Preference& told = told_[other.pair]->preference;
      if (!told.is_likely) continue;
      const int lost = told.worse == row ? 1 : 0;
      ++record.all;
      record.lost += lost;
      if (told.is_sure) ++record.sure, record.sure_lost += lost;
    }
    return record;
  }
  auto key_of(std::uint32_t row) const {
    return std::tuple_cat(record_of(row).key(), std::tuple(places_[row]));
  }

  std::uint32_t best_from(std::uint32_t first) {
    constexpr std::size_t kMostTried = 8;
    constexpr std::size_t kFirst = 3;
    std::vector<std::uint32_t> tried{first};
    for (;;) {
      const std::uint32_t row = tried.back();
      compare_with_neighbours(row, kFirst);
      if (!record_of(row).is_mostly_lost()) compare_with_neighbours(row, neighbours_[row].size());
      const auto next = better_than(tried);
      if (!next || tried.size() == kMostTried) break;
      tried.push_back(*next);
    }
    return *std::ranges::min_element(tried, {}, [&](std::uint32_t row) { return key_of(row); });
  }

  // Whether it is one of `tried`, or worse than one of them.
  bool is_worse_than_any(std::uint32_t row, const std::vector<std::uint32_t>& tried) const {
    const auto is_tried = [&](std::uint32_t other) {
      return std::ranges::find(tried, other) != tried.end();
    };
    return is_tried(row) || std::ranges::any_of(neighbours_[row], [&](const Neighbour& other) {
             const auto& told = told_[other.pair];
             return told && told->preference.is_likely && told->preference.worse == row &&
                    is_tried(other.row);
           });
  }

  // The best row that is better than one of these and worse than none.
  std::optional<std::uint32_t> better_than(const std::vector<std::uint32_t>& tried) const {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t row : tried) {
      for (const Neighbour& other : neighbours_[row]) {
        if (is_done_[other.row] || !told_[other.pair]) continue;
        const Preference& told = told_[other.pair]->preference;
        if (told.worse != row || !told.is_likely) continue;
        if (is_worse_than_any(other.row, tried)) continue;
        if (!best || key_of(other.row) < key_of(*best)) best = other.row;
      }
    }
    return best;
  }

  void compare_with_neighbours(std::uint32_t row, std::size_t most) {
    std::vector<std::size_t> pairs;
    for (const Neighbour& other : neighbours_[row]) {
      if (pairs.size() == most) break;
      if (!is_done_[other.row] && !told_[other.pair]) pairs.push_back(other.pair);
    }
    compare(pairs);
    ask_others(row);
  }

  // Compares both rows of undecided pairs of a row with a third one.
  void ask_others(std::uint32_t row) {
    constexpr double kAltered = 0.01;
    constexpr std::size_t kMostAsked = 2;
    constexpr std::size_t kMostLookedAt = 64;
    struct Asked {
      Neighbour about;
      // Numbers of the pairs of a third row with `row` and with `other`.
      std::vector<std::pair<std::size_t, std::size_t>> pairs;
    };
    std::vector<Asked> all;
    std::vector<std::size_t> pairs;
    for (const Neighbour& other : neighbours_[row]) {
      const auto& told = told_[other.pair];
      if (is_done_[other.row] || !told || is_asked_[other.pair]) continue;
      if (told->preference.is_sure || told->altered < kAltered) continue;
      Asked asked{other, {}};
      const auto& near = neighbours_[row];
      for (const Neighbour& third : std::span(near).first(std::min(near.size(), kMostLookedAt))) {
        if (asked.pairs.size() == kMostAsked) break;
        if (third.row == other.row || !told_[third.pair]) continue;
        const auto with_other = numbers_.find(std::minmax(third.row, other.row));
        if (with_other == numbers_.end()) continue;
        asked.pairs.emplace_back(third.pair, with_other->second);
        if (!told_[with_other->second]) pairs.push_back(with_other->second);
      }
      if (asked.pairs.empty()) continue;
      is_asked_[other.pair] = true;
      all.push_back(std::move(asked));
    }
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    compare(pairs);
    for (const Asked& asked : all) {
      PictureComparison& told = *told_[asked.about.pair];
      double of_row = 0;
      double of_other = 0;
      for (const auto& [with_row, with_other] : asked.pairs) {
        of_row += told_[with_row]->altered;
        of_other += told_[with_other]->altered;
      }
      if (std::fabs(of_row - of_other) < std::max(kAltered, told.altered / 2)) continue;
      told.preference = {of_row < of_other ? row : asked.about.row,
                         of_row < of_other ? asked.about.row : row, KeptFor::kNothingAdded,
                         /*is_likely=*/true, /*is_sure=*/true};
    }
  }

  // A thread that waits here must not start another component meanwhile.
  void compare(const std::vector<std::size_t>& pairs) {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(std::size_t{0}, pairs.size(),
                        [&](std::size_t i) { told_[pairs[i]] = compare_(pairs[i]); });
    });
  }

  void close(std::uint32_t best) {
    is_done_[best] = true;
    for (const Neighbour& other : neighbours_[best]) is_done_[other.row] = true;
  }

  std::span<const std::uint32_t> places_;
  const ComparePair& compare_;
  std::vector<std::vector<Neighbour>> neighbours_;      // by row, most probable first
  std::map<RowPair, std::size_t> numbers_;              // number of each pair, lower row first
  std::vector<char> is_done_;                           // by row
  std::vector<std::optional<PictureComparison>> told_;  // by pair
  std::vector<char> is_asked_;                          // by pair: third rows were asked
};

}  // namespace

std::vector<std::optional<PictureComparison>> compare_for_best(
    std::span<const RowPair> pairs, std::span<const std::uint32_t> places,
    const ComparePair& compare) {
  std::vector<Edge> edges;
  for (const auto& [a, b] : pairs) edges.push_back({a, b, 0});
  const auto groups = members_of_groups(connected_components(places.size(), edges));
  Rounds rounds(pairs, places, compare);
  tbb::parallel_for(std::size_t{0}, groups.size(), [&](std::size_t i) { rounds.run(groups[i]); });
  return std::move(rounds).told();
}

}  // namespace winnow::dedup
