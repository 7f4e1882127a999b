#include "dedup/verify/trials.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "dedup/verify/best_of_rows_internal.h"

namespace winnow::dedup {
namespace {

// The order of trials, most promising first.
std::vector<std::size_t> by_promise(const Trials& all) {
  std::vector<std::size_t> order(all.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return std::tuple(all.trials[i].is_near, all.supports[i], all.trials[i].guesses.size());
  });
  return order;
}

// The number of pictures with trials.
std::size_t pictures_of(std::span<const Trial> trials) {
  std::unordered_set<std::uint32_t> rows;
  for (const Trial& trial : trials) rows.insert({trial.row_a, trial.row_b});
  return rows.size();
}

// Limits the trials of a crowd, where each picture would be tried with each. Keeps pairs that are
// among the most promising of one of their pictures, and all that are near by codes.
// Poorly supported trials succeed once in a thousand; if there are many trials, a picture keeps
// fewer of these.
void keep_most_promising(Trials& all) {
  constexpr int kMostOfPicture = 64;
  constexpr int kFewestOfPicture = 2;
  const std::vector<std::size_t> order = by_promise(all);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
  for (const std::size_t i : order) rows.emplace_back(all.trials[i].row_a, all.trials[i].row_b);
  const std::size_t many = most_trials(pictures_of(all.trials));
  const std::vector<bool> are_best = are_best_of_a_row(rows, kMostOfPicture);
  std::vector<bool> stays(order.size());
  for (int few = kMostOfPicture; few >= kFewestOfPicture; few /= 2) {
    const std::vector<bool> are_first = are_best_of_a_row(rows, few);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool is_doubtful = all.supports[order[k]] < kDoubtfulSupport;
      stays[order[k]] = (is_doubtful ? are_first[k] : are_best[k]) || all.trials[order[k]].is_near;
    }
    if (static_cast<std::size_t>(std::ranges::count(stays, true)) <= many) break;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (!stays[i]) continue;
    if (kept != i) all.trials[kept] = std::move(all.trials[i]);
    all.supports[kept++] = all.supports[i];
  }
  all.trials.resize(kept);
  all.supports.resize(kept);
}

}  // namespace

std::size_t most_trials(std::size_t pictures) noexcept {
  constexpr std::size_t kMany = 50'000;
  constexpr std::size_t kOfPicture = 3;
  return std::max(kMany, kOfPicture * pictures);
}

Trials trials_of(const LandmarkTable& landmarks, const SupportedHits& found,
                 std::span<const Edge> near) {
  Trials out;
  using Rows = std::pair<std::uint32_t, std::uint32_t>;
  const auto take = [&](const Rows& rows, std::span<const Hit> hits, int supports, bool is_near) {
    ++out.candidates;
    Trial trial{.row_a = rows.first, .row_b = rows.second, .is_near = is_near};
    for (const Hit& hit : hits) {
      trial.guesses.push_back(
          {landmarks.place(hit.landmark_a), landmarks.place(hit.landmark_b), hit.is_mirrored});
    }
    if (trial.guesses.empty() && !is_near) return;
    out.trials.push_back(std::move(trial));
    out.supports.push_back(supports);
  };
  auto edge = near.begin();
  const auto take_edges_before = [&](const Rows& rows) {
    for (; edge != near.end() && Rows(edge->a, edge->b) < rows; ++edge) {
      take({edge->a, edge->b}, {}, 0, true);
    }
  };
  const std::span<const Hit> hits = found.hits;
  for (std::size_t begin = 0; begin < hits.size();) {
    std::size_t end = begin;
    const Rows rows{hits[begin].row_a, hits[begin].row_b};
    while (end < hits.size() && Rows(hits[end].row_a, hits[end].row_b) == rows) ++end;
    take_edges_before(rows);
    const bool is_near = edge != near.end() && Rows(edge->a, edge->b) == rows;
    if (is_near) ++edge;
    const auto supports = std::span(found.supports).subspan(begin, end - begin);
    take(rows, worth_trying(hits.subspan(begin, end - begin), supports), std::ranges::max(supports),
         is_near);
    begin = end;
  }
  take_edges_before({~std::uint32_t{0}, ~std::uint32_t{0}});
  keep_most_promising(out);
  return out;
}

}  // namespace winnow::dedup
