#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The settings that a tuning tries. Pure functions.
namespace winnow::app {

// Which numbers an axis has, and how they are spread where they are drawn.
enum class AxisScale {
  kLogarithmic,  // above 0
  kEven,         // 0 or more
  kToOne,        // below 1; 1 less the number is spread logarithmically
};

// A flag of winnow train that can be an axis.
struct TuneFlag {
  std::string_view flag;  // without dashes
  AxisScale scale;
  std::string_view help;
  bool is_option = false;  // of some optimisers, not of all
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

// A number that a tuning chooses, and what is tried of it: a list, or all between two ends.
struct TuneAxis {
  std::string flag;                 // of winnow train: "lr" is --lr
  std::vector<double> values = {};  // ascending; empty: it is drawn
  double least = 0;                 // where it is drawn
  double most = 0;
  AxisScale scale = AxisScale::kLogarithmic;

  bool is_drawn() const noexcept { return values.empty(); }
  friend bool operator==(const TuneAxis&, const TuneAxis&) = default;
};

// A number for each axis, in their order.
using TuneSetting = std::vector<double>;

// What people say of an axis: "0.1,0.2,0.4" is a list, "0.01:1" are ends. "lars=4,8" is of one
// optimiser alone.
struct AxisWords {
  std::string optimizer = {};  // empty: of all that have no words of their own
  TuneAxis axis;
};
// In      `flag`: one of kTuneFlags
// Throws  UsageError: no such words; a number that the flag's scale has not; ends without order
AxisWords parse_axis(std::string_view flag, std::string_view words);

// So many numbers from one to another, each as many times the one before; three digits each.
std::vector<double> spaced_by_factor(double least, double most, int count);

// Every combination of the values of the axes, none of which is drawn; the last axis varies most.
// Throws UsageError where there are over 10,000.
std::vector<TuneSetting> grid_of(const std::vector<TuneAxis>& axes);

// The first `trials` of a sequence that fills the space evenly from its beginning on, and that
// `seed` moves: the additive recurrence of Roberts 2018, whose points are nowhere as close, and
// leave no gaps as wide, as independent draws. With more trials the first stay. Equal for all
// spaces of as many axes but for the ranges. Numbers have three digits. No setting comes twice.
// Throws UsageError where there are not so many.
std::vector<TuneSetting> drawn_of(const std::vector<TuneAxis>& axes, std::size_t trials,
                                  std::uint64_t seed);

// What the rates, decays and trust coefficients of an optimiser are looked for in where nobody
// says.
struct TuneRanges {
  std::string_view optimizer;
  double lr_least = 0;  // for a batch of `batch`
  double lr_most = 0;
  double batch = 0;  // rates follow the root of the batch; 0: they do not follow it
  double decay_least = 0;
  double decay_most = 0;
};
// Throws UsageError: an optimiser that has none.
const TuneRanges& tune_ranges(std::string_view optimizer);
TuneAxis default_lr(std::string_view optimizer, double batch);
TuneAxis default_decay(std::string_view optimizer);
// The table as text of help.
std::string tune_ranges_help();

}  // namespace winnow::app
