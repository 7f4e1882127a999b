#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace winnow::dedup {

// How many pairs of pictures have which score, the log odds of being one picture.
class ScoreCounts {
 public:
  static constexpr int kLeast = -32;  // scores are counted in steps of one; those beyond these
  static constexpr int kMost = 31;    // with the outermost

  void add(double probability) noexcept;        // 0, too little in common, is not counted
  void take_away(double probability) noexcept;  // what was added
  std::uint64_t at(int score) const noexcept;   // from `score` to the next; 0 beyond
  // As if those of a step lay evenly in it.
  double between(double least, double most) const noexcept;

 private:
  static std::size_t place_of(double probability) noexcept;
  std::array<std::uint64_t, kMost - kLeast + 1> counts_{};
};

// Pairs of different pictures that are alike: their scores from `from` on fall off by the factor e
// every `scale`.
struct LookAlikes {
  double from = 0;
  double pairs = 0;  // beyond `from`
  double scale = 1;

  // How many are expected to be this probable.
  double expected(double least_probability) const noexcept;
  // The same of other pairs: those with scores between `from` and this are look-alikes, and as many
  // are beyond as the scale says.
  double expected_of(const ScoreCounts& others, double least_probability) const noexcept;
};

// Look-alikes among pairs that were laid upon each other: clothes of one cut, digits of one hand.
// Pairs of strangers drawn at random do not show them; the scores of all pairs do, as a lump whose
// upper side falls off before the scores of copies begin (the empirical null of Efron 2004).
//
// copies   the median score of edited pictures: a lump that lies higher is of copies
// Nothing  where there is no such lump, or it does not fall off by far enough to tell how fast
std::optional<LookAlikes> find_look_alikes(const ScoreCounts& counts, double copies);

// The least probability, `least` or more, that leaves no more look-alikes than `most_false` or a
// hundredth of the pairs that are left. Nothing where none up to 1 - 1e-7 does.
std::optional<double> probable_beside(const LookAlikes& look_alikes,
                                      std::span<const double> probabilities, double least,
                                      double most_false);

// The same of pairs that codes bring together.
std::optional<double> probable_when_near(const LookAlikes& look_alikes, const ScoreCounts& near,
                                         double least, double most_false);

}  // namespace winnow::dedup
