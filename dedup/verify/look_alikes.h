#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace winnow::dedup {

// Histogram of the scores of pairs of pictures; a score is the log odds of being one picture.
class ScoreCounts {
 public:
  static constexpr int kLeast = -32;  // scores are counted in steps of one; those beyond the limits
  static constexpr int kMost = 31;    // count in the outermost step

  void add(double probability) noexcept;        // 0 (too little overlap) is not counted
  void take_away(double probability) noexcept;  // removes an added pair
  // Pairs with a score in [score, score + 1); 0 outside the limits.
  std::uint64_t at(int score) const noexcept;
  // Pairs with a score in this range, assuming uniform distribution within a step.
  double between(double least, double most) const noexcept;

 private:
  static std::size_t place_of(double probability) noexcept;
  std::array<std::uint64_t, kMost - kLeast + 1> counts_{};
};

// Model of different pictures that look alike: beyond `from`, the number of pairs falls by the
// factor e every `scale`.
struct LookAlikes {
  double from = 0;
  double pairs = 0;  // beyond `from`
  double scale = 1;

  // Expected number of pairs with at least this probability.
  double expected(double least_probability) const noexcept;
  // The same for other pairs, if those with scores between `from` and this one are look-alikes, and
  // the rest follows from the scale.
  double expected_of(const ScoreCounts& others, double least_probability) const noexcept;
};

// Detects look-alikes among registered pairs: clothes of one cut, digits in one hand.
// Random pairs do not show them. The scores of all pairs do, as a cluster whose upper side declines
// before the scores of copies begin (the empirical null of Efron 2004).
//
// copies   Median score of edited pictures; a cluster above it consists of copies.
// Returns  nullopt if there is no such cluster, or if it does not decline far enough to estimate
//          the scale.
std::optional<LookAlikes> find_look_alikes(const ScoreCounts& counts, double copies);

// The smallest probability, at least `least`, that leaves at most `most_false` look-alikes, or a
// hundredth of the remaining pairs. nullopt if none up to 1 - 1e-7 does.
std::optional<double> probable_beside(const LookAlikes& look_alikes,
                                      std::span<const double> probabilities, double least,
                                      double most_false);

// As probable_beside(), for pairs whose codes are similar.
std::optional<double> probable_when_near(const LookAlikes& look_alikes, const ScoreCounts& near,
                                         double least, double most_false);

}  // namespace winnow::dedup
