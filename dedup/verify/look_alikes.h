#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace winnow::dedup {

// Histogram of the scores of pairs. A score is the log odds of the probability that both pictures
// are one.
class ScoreCounts {
 public:
  // Smallest score; bins are one wide, lower scores count in the first.
  static constexpr int kLeast = -32;
  static constexpr int kMost = 31;  // largest score; higher ones count in the last bin

  void add(double probability) noexcept;        // adds a pair; ignores 0 (too little overlap)
  void take_away(double probability) noexcept;  // removes an added pair
  // Number of pairs with a score in [score, score + 1); 0 beyond the limits.
  std::uint64_t at(int score) const noexcept;
  // Number of pairs with a score from `least` to `most`, assuming that scores are uniform within a
  // bin.
  double between(double least, double most) const noexcept;

 private:
  static std::size_t place_of(double probability) noexcept;
  std::array<std::uint64_t, kMost - kLeast + 1> counts_{};
};

// Model of look-alikes (different pictures that look alike): above a score of `from`, the number of
// pairs falls by the factor e every `scale`.
struct LookAlikes {
  double from = 0;
  double pairs = 0;  // beyond `from`
  double scale = 1;

  // Expected number of look-alike pairs with at least this probability.
  double expected(double least_probability) const noexcept;
  // Like expected(), for other pairs. Takes those with scores from `from` up to that of
  // `least_probability` for look-alikes, and estimates the number beyond from `scale`.
  double expected_of(const ScoreCounts& others, double least_probability) const noexcept;
};

// Detects look-alikes among registered pairs: different pictures as similar as clothes of one cut
// or digits in one hand.
// Random pairs of pictures do not show them. The scores of all pairs do: as a cluster that declines
// before the scores of copies begin (the empirical null of Efron 2004).
//
// copies   Median score of edited pictures; a cluster above it consists of copies.
// Returns  nullopt if there is no such cluster, or if it does not decline far enough to estimate
//          the scale.
std::optional<LookAlikes> find_look_alikes(const ScoreCounts& counts, double copies);

// The smallest probability, at least `least`, such that at most `most_false` look-alikes, or at
// most a hundredth of the remaining pairs, are expected to reach it. nullopt if none up to 1 - 1e-7
// is enough.
std::optional<double> probable_beside(const LookAlikes& look_alikes,
                                      std::span<const double> probabilities, double least,
                                      double most_false);

// Like probable_beside(), for pairs whose hash codes are near.
std::optional<double> probable_when_near(const LookAlikes& look_alikes, const ScoreCounts& near,
                                         double least, double most_false);

}  // namespace winnow::dedup
