#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The settings that a tuning tries. Pure functions.
namespace winnow::app {

// Which numbers an axis may have, and how random ones are spread.
enum class AxisScale {
  kLogarithmic,  // above 0
  kEven,         // 0 or more
  kToOne,        // below 1; the logarithm of 1 minus the number is spread evenly
};

// A flag of winnow train that can be an axis.
struct TuneFlag {
  std::string_view flag;  // without dashes
  AxisScale scale;
  std::string_view help;
  bool is_option = false;  // only some optimisers have it
};
inline constexpr std::array kTuneFlags{
    TuneFlag{"lr", AxisScale::kLogarithmic, "Learning rates"},
    TuneFlag{"weight-decay", AxisScale::kLogarithmic, "Weight decays", true},
    TuneFlag{"warmup-epochs", AxisScale::kEven,
             "Epochs of warm-up; of shorter runs as large a share"},
    TuneFlag{"lars-eta", AxisScale::kLogarithmic, "Trust coefficients (lars, lars_paper, larc)",
             true},
    TuneFlag{"momentum", AxisScale::kToOne,
             "Momentum (sgd, lars, lars_paper, larc, rmsprop, rmsprop_tf)", true},
};

// A number that a tuning chooses, and what it tries: a list, or a range.
struct TuneAxis {
  std::string flag;                 // flag of winnow train: "lr" is --lr
  std::vector<double> values = {};  // ascending; empty: random numbers of the range
  double least = 0;                 // the range of random numbers
  double most = 0;
  AxisScale scale = AxisScale::kLogarithmic;

  bool is_drawn() const noexcept { return values.empty(); }
  friend bool operator==(const TuneAxis&, const TuneAxis&) = default;
};

// One number per axis, in their order.
using TuneSetting = std::vector<double>;

// An axis as the user writes it: "0.1,0.2,0.4" is a list, "0.01:1" a range. "lars=4,8" is for one
// optimiser alone.
struct AxisWords {
  std::string optimizer = {};  // empty: all optimisers without an axis of their own
  TuneAxis axis;
};
// In      `flag`: one of kTuneFlags
// Throws  UsageError: not an axis; a number outside the flag's scale; ends that are not in order
AxisWords parse_axis(std::string_view flag, std::string_view words);

// `count` numbers from one end to the other, evenly spaced on a logarithmic scale, with three
// digits.
std::vector<double> spaced_by_factor(double least, double most, int count);

// All combinations of the axes' values; the last axis varies fastest. No axis is a range. Throws
// UsageError if there are more than 10,000.
std::vector<TuneSetting> grid_of(const std::vector<TuneAxis>& axes);

// The first `trials` settings of a low-discrepancy sequence: the additive recurrence of Roberts
// 2018. It fills the space more evenly than independent draws, from its beginning on.
//
// seed    moves the sequence
// More    more trials keep the first ones
// Axes    spaces with as many axes get the same sequence, scaled to their ranges
// Digits  three; no setting comes twice
// Throws  UsageError: there are not so many settings
std::vector<TuneSetting> drawn_of(const std::vector<TuneAxis>& axes, std::size_t trials,
                                  std::uint64_t seed);

// Default ranges of an optimiser's rates, decays and trust coefficients.
struct TuneRanges {
  std::string_view optimizer;
  double lr_least = 0;  // range of rates for a batch of `batch`
  double lr_most = 0;
  double batch = 0;  // rates scale with the square root of the batch; 0: they do not scale
  double decay_least = 0;
  double decay_most = 0;
};
// Throws UsageError for an optimiser without ranges.
const TuneRanges& tune_ranges(std::string_view optimizer);
TuneAxis default_lr(std::string_view optimizer, double batch);
TuneAxis default_decay(std::string_view optimizer);
// The table as text for help.
std::string tune_ranges_help();

}  // namespace winnow::app
