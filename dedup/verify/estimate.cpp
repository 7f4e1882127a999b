#include "dedup/verify/estimate.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "dedup/verify/evenly_internal.h"
#include "dedup/verify/trials.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kMostSampled = 1000;
constexpr std::size_t kMostTrials = 150;
constexpr double kMostTrialsOfPicture = 32;  // half of 64, as a pair has two pictures
constexpr double kMostLooksOfPicture = 4;    // half of 8
constexpr double kSecondsOfTrial = 5e-4;     // if none was measured
constexpr double kSecondsOfSearch = 3e-4;    // per picture, among some ten thousand
constexpr double kBytesOfLandmark = 130;     // including what a search keeps
constexpr double kBytesOfPicture = 1200;     // for one without landmarks
constexpr double kBytesOfTrial = 200;

// Trials within the sample, and the expected number for all rows, without those near by codes.
struct ExpectedTrials {
  std::vector<Trial> of_sample;
  double all = 0;
};

ExpectedTrials expected_trials(const LandmarkTable& landmarks, std::size_t sampled,
                               std::span<const std::uint32_t> rows, std::size_t near,
                               const VerifyOptions& options) {
  const double more = static_cast<double>(rows.size()) / static_cast<double>(sampled);
  const std::vector<std::uint32_t> searched =
      searched_landmarks(landmarks, 0, static_cast<std::uint32_t>(landmarks.size()));
  const auto all_searched = static_cast<std::size_t>(more * static_cast<double>(searched.size()));
  const int radius =
      hit_radius(all_searched, options.hits_a_picture * static_cast<double>(rows.size()),
                 non_duplicate_distance(landmarks, searched))
          .bits;
  SupportedHits found{find_hits(landmarks, searched, radius, {.stop = options.search.stop}), {}};
  found.supports = count_supports(landmarks, found.hits, options.search.stop);
  const Trials trials = trials_of(landmarks, found, {});
  double doubtful = 0;
  double supported = 0;
  for (const int support : trials.supports) {
    (support < kDoubtfulSupport ? doubtful : supported) += more * more;
  }
  supported = std::min(supported, kMostTrialsOfPicture * static_cast<double>(rows.size()));
  const auto most = static_cast<double>(most_trials(rows.size())) - static_cast<double>(near);
  return {trials.trials, std::max(supported, std::min(supported + doubtful, most))};
}

// Cost of registering pairs and of looking closer at possible matches, measured on some of them.
class Cost {
 public:
  Cost(const PictureSource& pictures, const MatchModel& model, const VerifyOptions& options,
       const Seconds& seconds)
      : pictures_(pictures), model_(model), options_(options), seconds_(seconds) {}

  double of(double count, std::span<const Trial> trials, double most_looks) const {
    constexpr std::size_t kMostLooks = 20;
    if (trials.empty()) return count * kSecondsOfTrial;
    const std::vector<Trial> some = evenly(trials, kMostTrials);
    std::vector<VerifiedPair> judged;
    const double of_trial = each(some.size(), [&] { judged = judge(some, pictures_, model_); });
    std::erase_if(judged,
                  [](const VerifiedPair& pair) { return pair.probability < kLeastDoubtful; });
    const double share = static_cast<double>(judged.size()) / static_cast<double>(some.size());
    std::vector<VerifiedPair> looked = evenly(std::span<const VerifiedPair>(judged), kMostLooks);
    const double of_look = each(looked.size(), [&] {
      look_closer(looked, pictures_, options_.closer, options_.search.stop);
    });
    return count * of_trial + std::min(share * count, most_looks) * of_look;
  }
  template <class Function>
  double each(std::size_t count, const Function& function) const {
    if (count == 0) return 0;
    const double begin = seconds_();
    function();
    return (seconds_() - begin) / static_cast<double>(count);
  }

 private:
  const PictureSource& pictures_;
  const MatchModel& model_;
  const VerifyOptions& options_;
  const Seconds& seconds_;
};

VerifyEstimate estimate(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                        std::span<const Edge> near, const MatchModel& model,
                        const VerifyOptions& options, const Seconds& seconds) {
  const auto all = static_cast<double>(rows.size());
  const Cost cost(pictures, model, options, seconds);
  const std::vector<std::uint32_t> sample = evenly(rows, kMostSampled);
  const auto more = all / static_cast<double>(sample.size());
  LandmarkTable landmarks;
  const double of_picture = cost.each(sample.size(), [&] {
    landmarks = LandmarkTable(sample, pictures, {.stop = options.search.stop});
  });
  const ExpectedTrials far = expected_trials(landmarks, sample.size(), rows, near.size(), options);
  std::vector<Trial> near_trials;
  for (const Edge& edge : evenly(near, kMostTrials)) {
    near_trials.push_back({.row_a = edge.a, .row_b = edge.b, .is_near = true});
  }
  const double most_looks = kMostLooksOfPicture * all;
  const auto near_count = static_cast<double>(near.size());
  return {.sampled = sample.size(),
          .trials = far.all + near_count,
          .core_seconds = all * (of_picture + kSecondsOfSearch) +
                          cost.of(far.all, far.of_sample, most_looks) +
                          cost.of(near_count, near_trials, most_looks),
          .bytes = all * kBytesOfPicture + (far.all + near_count) * kBytesOfTrial +
                   more * static_cast<double>(landmarks.size()) * kBytesOfLandmark};
}

}  // namespace

VerifyEstimate estimate_verification(std::span<const std::uint32_t> rows,
                                     const PictureSource& pictures, std::span<const Edge> near,
                                     const MatchModel& model, const VerifyOptions& options,
                                     const Seconds& seconds) {
  if (rows.empty()) return {};
  tbb::task_arena alone(1);  // so that seconds are those of one thread
  return alone.execute([&] { return estimate(rows, pictures, near, model, options, seconds); });
}

}  // namespace winnow::dedup
