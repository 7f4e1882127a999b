#include "dedup/verify/verify.h"

#include <algorithm>

#include "dedup/verify/trials.h"

namespace winnow::dedup {
namespace {

// Runs all steps in this process.
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

// Adds the results of a block of trials.
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
  constexpr std::size_t kAtOnce = 4096;  // between two checks for progress and stop
  const std::span<const Trial> trials = what.trials;
  Verification out;
  out.counts.candidates = what.candidates;
  out.counts.registered = trials.size();
  for (std::size_t begin = 0; begin < trials.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, trials.size() - begin);
    const std::span<const Trial> some = trials.subspan(begin, count);
    add_up(some, steps.judge(some, pictures, model), options.least_probability, out);
    if (options.search.progress) {
      options.search.progress({begin + count, trials.size(), {}, "compare", "pairs"});
    }
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
                 non_duplicate_distance(landmarks, searched))
          .bits;
  const Trials trials = trials_of(landmarks, steps.hits(landmarks, searched, counts.radius), near);
  landmarks = {};  // free it before the next step
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
