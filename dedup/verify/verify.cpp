#include "dedup/verify/verify.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "dedup/verify/best_of_rows_internal.h"

namespace winnow::dedup {
namespace {

// Takes all steps by itself.
class OwnSteps final : public VerifySteps {
 public:
  explicit OwnSteps(const SearchOptions& search) : search_(search) {}

  LandmarkTable landmarks(std::span<const std::uint32_t> rows,
                          const PictureSource& pictures) override {
    return LandmarkTable(rows, pictures, search_);
  }
  SupportedHits hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                     int radius) override {
    SupportedHits found{find_hits(landmarks, some, radius, search_), {}};
    found.supports = count_supports(landmarks, found.hits, search_.stop);
    return found;
  }
  std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                  const MatchModel& model) override {
    return dedup::judge(trials, pictures, model, search_.stop);
  }

 private:
  const SearchOptions& search_;
};

// The pairs that are worth a trial, of so many that have near landmarks or near codes.
struct Trials {
  std::vector<Trial> trials;  // sorted by rows
  std::vector<int> supports;  // of each, the most that a landmark of it has
  std::uint64_t candidates = 0;
};

// Of a crowd of pictures that look alike each would be tried with each. Leaves those of which one
// picture has few trials that promise more, and all that are near by codes.
void keep_most_promising(Trials& all) {
  constexpr int kMostOfPicture = 64;
  std::vector<std::size_t> order(all.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return std::tuple(all.trials[i].is_near, all.supports[i], all.trials[i].guesses.size());
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
  for (const std::size_t i : order) rows.emplace_back(all.trials[i].row_a, all.trials[i].row_b);
  const std::vector<bool> are_best = are_best_of_a_row(rows, kMostOfPicture);
  std::vector<bool> stays(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    stays[order[k]] = are_best[k] || all.trials[order[k]].is_near;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i] && kept != i) all.trials[kept] = std::move(all.trials[i]);
    kept += stays[i] ? 1 : 0;
  }
  all.trials.resize(kept);
  all.supports.clear();
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

// Puts what a block of trials came to behind what those before did.
void add_up(std::span<const Trial> trials, std::span<const VerifiedPair> judged, double least,
            Verification& out) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const VerifiedPair& pair = judged[i];
    if (!trials[i].is_near) out.far_scores.add(pair.probability);
    if (trials[i].is_near && !pair.lacks_details) out.near_scores.add(pair.probability);
    if (pair.probability >= least) {
      out.pairs.push_back(pair);
    } else if (pair.lacks_details) {
      out.undecided.push_back({pair.row_a, pair.row_b, 0});
    }
  }
}

Verification judge_all(const Trials& what, const PictureSource& pictures, const MatchModel& model,
                       VerifySteps& steps, const VerifyOptions& options) {
  constexpr std::size_t kAtOnce = 4096;  // between two looks at the clock
  const std::span<const Trial> trials = what.trials;
  Verification out;
  out.counts.candidates = what.candidates;
  out.counts.registered = trials.size();
  for (std::size_t begin = 0; begin < trials.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, trials.size() - begin);
    const std::span<const Trial> some = trials.subspan(begin, count);
    add_up(some, steps.judge(some, pictures, model), options.least_probability, out);
    if (options.search.progress) options.search.progress({begin + count, trials.size(), {}});
  }
  out.counts.verified = out.pairs.size();
  return out;
}

}  // namespace

Verification verify(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                    std::span<const Edge> near, const MatchModel& model,
                    const VerifyOptions& options) {
  OwnSteps own(options.search);
  VerifySteps& steps = options.steps != nullptr ? *options.steps : own;
  LandmarkTable landmarks =
      options.landmarks ? options.landmarks(rows) : steps.landmarks(rows, pictures);
  VerifyCounts counts{.pictures = rows.size(), .landmarks = landmarks.size()};
  std::vector<std::uint32_t> searched =
      searched_landmarks(landmarks, 0, static_cast<std::uint32_t>(landmarks.size()));
  counts.radius =
      hit_radius(searched.size(), options.hits_a_picture * static_cast<double>(rows.size()),
                 stranger_distance(landmarks, searched))
          .bits;
  const Trials trials = trials_of(landmarks, steps.hits(landmarks, searched, counts.radius), near);
  landmarks = {};  // not needed beside what comes now
  searched = {};
  Verification out = judge_all(trials, pictures, model, steps, options);
  out.counts.pictures = counts.pictures;
  out.counts.landmarks = counts.landmarks;
  out.counts.radius = counts.radius;
  return out;
}

Verification verify_hits(const LandmarkTable& landmarks, std::span<const Hit> hits,
                         const PictureSource& pictures, std::span<const Edge> near,
                         const MatchModel& model, const VerifyOptions& options) {
  OwnSteps own(options.search);
  const SupportedHits found{{hits.begin(), hits.end()},
                            count_supports(landmarks, hits, options.search.stop)};
  return judge_all(trials_of(landmarks, found, near), pictures, model, own, options);
}

}  // namespace winnow::dedup
