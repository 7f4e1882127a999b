#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The space of settings that `winnow tune-lr` searches. Pure functions.
namespace winnow::app {

// Allowed values of an axis (a tuned option), and how random values are distributed.
enum class AxisScale {
  kLogarithmic,  // log-uniform; values above 0
  kEven,         // uniform; values of 0 or more
  kToOne,        // values below 1; 1 - value is log-uniform, as for momentum
};

// An option of winnow train that can be an axis of the search.
struct TuneFlag {
  std::string_view flag;  // name of the option, without dashes
  AxisScale scale;
  std::string_view help;
  bool is_option = false;  // true if only some optimisers have the option
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

// One axis of the search: an option of winnow train, and a list or a range of values.
struct TuneAxis {
  std::string flag;                 // name of the option of winnow train: "lr" is --lr
  std::vector<double> values = {};  // values to try, ascending; empty: random values of the range
  double least = 0;                 // the range of random values, from `least` to `most`
  double most = 0;
  AxisScale scale = AxisScale::kLogarithmic;

  bool is_drawn() const noexcept { return values.empty(); }
  friend bool operator==(const TuneAxis&, const TuneAxis&) = default;
};

// One setting to try: a number for each axis, in the order of the axes.
using TuneSetting = std::vector<double>;

// An axis as the user writes it: "0.1,0.2,0.4" is a list, "0.01:1" a range. "lars=4,8" is for one
// optimiser only.
struct AxisWords {
  // Name of the optimiser; empty: all optimisers without an axis of their own.
  std::string optimizer = {};
  TuneAxis axis;
};
// Parses what the user wrote for an axis.
// flag    one of kTuneFlags
// Throws  UsageError: no list and no range; a number outside the option's scale; ends in wrong
//         order
AxisWords parse_axis(std::string_view flag, std::string_view words);

// Log-spaced numbers from `least` to `most`, both included, rounded to three digits.
std::vector<double> spaced_by_factor(double least, double most, int count);

// All combinations of the axes' values; the last axis varies fastest. No axis may be a range.
// Throws UsageError if there are more than 10,000.
std::vector<TuneSetting> grid_of(const std::vector<TuneAxis>& axes);

// The first `trials` settings of a low-discrepancy sequence: the additive recurrence of Roberts
// 2018. It fills the space more evenly than independent draws, from its beginning on.
//
// seed    offset of the sequence
// More    with more trials, the first ones stay the same
// Axes    spaces with equally many axes get the same sequence, scaled to their ranges
// Digits  numbers have three significant digits; no setting occurs twice
// Throws  UsageError: the space has fewer different settings
std::vector<TuneSetting> drawn_of(const std::vector<TuneAxis>& axes, std::size_t trials,
                                  std::uint64_t seed);

// Default ranges of an optimiser's learning rates, weight decays and trust coefficients.
struct TuneRanges {
  std::string_view optimizer;
  double lr_least = 0;  // lowest learning rate of the range, for batch size `batch`
  double lr_most = 0;
  double batch = 0;  // rates scale with sqrt(batch size / batch); 0: they do not scale
  double decay_least = 0;
  double decay_most = 0;
};
// The default ranges of an optimiser. Throws UsageError if there are none for it.
const TuneRanges& tune_ranges(std::string_view optimizer);
TuneAxis default_lr(std::string_view optimizer, double batch);
TuneAxis default_decay(std::string_view optimizer);
// The table of default ranges as text, for help.
std::string tune_ranges_help();

}  // namespace winnow::app
