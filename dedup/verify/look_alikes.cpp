#include "dedup/verify/look_alikes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace winnow::dedup {
namespace {

constexpr std::uint64_t kFewLookAlikes = 30;  // minimum number in the fullest step of a cluster
constexpr double kMostShare = 0.01;           // share of false pairs

double score_of(double probability) noexcept { return std::log(probability / (1 - probability)); }
double probability_of(double score) noexcept { return 1 / (1 + std::exp(-score)); }

// The position of a cluster: from below, the first maximum that is followed by half as many.
std::optional<int> lump_of(const ScoreCounts& counts) {
  std::uint64_t most = 0;
  int mode = 0;
  for (int score = ScoreCounts::kLeast; score <= ScoreCounts::kMost + 1; ++score) {
    const std::uint64_t here = counts.at(score);
    if (here > most) {
      most = here;
      mode = score;
    } else if (most >= kFewLookAlikes && 2 * here <= most) {
      return mode;
    }
  }
  return std::nullopt;
}

// The end of a cluster: the step with fewest before the number rises again.
int valley_after(const ScoreCounts& counts, int mode) {
  int valley = mode;
  auto fewest = static_cast<double>(counts.at(mode));
  for (int score = mode + 1; score <= ScoreCounts::kMost && fewest > 0; ++score) {
    const auto here = static_cast<double>(counts.at(score));
    if (here < fewest) {
      fewest = here;
      valley = score;
    } else if (here > fewest + 3 * std::sqrt(fewest) + 3) {
      break;
    }
  }
  return valley;
}

// The scale of an exponential truncated at `end`, from its mean. nullopt if it does not decline.
std::optional<double> scale_of(double mean, double end) {
  if (mean >= 0.49 * end) return std::nullopt;
  double least = 0.05;
  double most = 100 * end;
  for (int round = 0; round < 60; ++round) {
    const double scale = std::sqrt(least * most);
    const double mean_of_scale = scale - end / std::expm1(end / scale);
    (mean_of_scale > mean ? most : least) = scale;
  }
  return least;
}

// The smallest probability at which few enough false pairs are expected among the remaining ones.
template <class Expected, class Left>
std::optional<double> least_with_few(double least, double most_false, const Expected& expected,
                                     const Left& left) {
  constexpr double kMostScore = 16.1;
  constexpr double kStep = 0.1;
  for (double score = score_of(least); score < kMostScore; score += kStep) {
    const double probability = std::max(least, probability_of(score));
    if (expected(probability) <= std::max(most_false, kMostShare * left(probability))) {
      return probability;
    }
  }
  return std::nullopt;
}

}  // namespace

void ScoreCounts::add(double probability) noexcept {
  if (probability > 0) ++counts_[place_of(probability)];
}

void ScoreCounts::take_away(double probability) noexcept {
  if (probability > 0) --counts_[place_of(probability)];
}

std::size_t ScoreCounts::place_of(double probability) noexcept {
  const double score = std::clamp<double>(std::floor(score_of(probability)), kLeast, kMost);
  return static_cast<std::size_t>(static_cast<int>(score) - kLeast);
}

std::uint64_t ScoreCounts::at(int score) const noexcept {
  if (score < kLeast || score > kMost) return 0;
  return counts_[static_cast<std::size_t>(score - kLeast)];
}

double ScoreCounts::between(double least, double most) const noexcept {
  double sum = 0;
  for (int score = kLeast; score <= kMost; ++score) {
    const double share = std::min(most, score + 1.0) - std::max<double>(least, score);
    if (share > 0) sum += share * static_cast<double>(at(score));
  }
  return sum;
}

double LookAlikes::expected(double least_probability) const noexcept {
  return pairs * std::exp(-(std::max(score_of(least_probability), from) - from) / scale);
}

double LookAlikes::expected_of(const ScoreCounts& others, double least_probability) const noexcept {
  const double score = score_of(least_probability);
  if (score <= from) return others.between(score, ScoreCounts::kMost + 1);
  const double beyond = std::exp(-(score - from) / scale);
  return others.between(from, score) * beyond / (1 - beyond);
}

std::optional<LookAlikes> find_look_alikes(const ScoreCounts& counts, double copies) {
  const std::optional<int> mode = lump_of(counts);
  if (!mode || *mode + 0.5 > copies) return std::nullopt;
  const int valley = valley_after(counts, *mode);
  int from = *mode + 1;
  while (from <= valley && 5 * counts.at(from) > 3 * counts.at(*mode)) ++from;
  // Nearer to the valley there may be copies.
  const int steps = (2 * (valley + 1 - from) + 2) / 3;
  if (steps < 2) return std::nullopt;
  double pairs = 0;
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    const auto here = static_cast<double>(counts.at(from + step));
    pairs += here;
    sum += here * (step + 0.5);
  }
  const std::optional<double> scale = scale_of(sum / pairs, steps);
  if (!scale) return std::nullopt;
  const double seen = -std::expm1(-steps / *scale);
  return LookAlikes{.from = static_cast<double>(from), .pairs = pairs / seen, .scale = *scale};
}

std::optional<double> probable_beside(const LookAlikes& look_alikes,
                                      std::span<const double> probabilities, double least,
                                      double most_false) {
  std::vector<double> sorted(probabilities.begin(), probabilities.end());
  std::ranges::sort(sorted);
  return least_with_few(
      least, most_false, [&](double p) { return look_alikes.expected(p); },
      [&](double p) {
        return static_cast<double>(sorted.end() - std::ranges::lower_bound(sorted, p));
      });
}

std::optional<double> probable_when_near(const LookAlikes& look_alikes, const ScoreCounts& near,
                                         double least, double most_false) {
  return least_with_few(
      least, most_false, [&](double p) { return look_alikes.expected_of(near, p); },
      [&](double p) { return near.between(score_of(p), ScoreCounts::kMost + 1); });
}

}  // namespace winnow::dedup
