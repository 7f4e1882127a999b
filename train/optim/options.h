#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

// Limit of every option: the number and its reciprocal fit a float.
inline constexpr double kMostNumber = 1e38;
inline constexpr double kMostEpochs = 1e6;  // steps are counted in 53 bits

// The allowed values of an option. NaN and infinity never are.
struct Range {
  double least = 0;
  double most = kMostNumber;
  bool above_least = false;  // `least` itself is excluded
  bool below_most = false;   // `most` itself is excluded

  bool contains(double value) const noexcept;
  std::string text() const;  // "at least 0 and below 1"
};

enum class OptionKind : std::uint8_t { kNumber, kSwitch, kNumbers };

// An option of an optimiser or a learning-rate schedule. Its flag, its help and its key in
// config.json are generated from it.
struct Option {
  std::string_view key;   // key in config.json: "weight_decay"; the flag is --weight-decay
  std::string_view what;  // one line of help
  OptionKind kind = OptionKind::kNumber;
  double initial = 0;  // default; a switch is off at 0; kNumbers has none and must be given
  Range range{};       // for every number
  // Added after runs existed without it: config.json omits it if it has its default.
  bool later = false;
};

std::string flag_of(const Option& option);  // "--weight-decay"

// Given values by key: one number; 0 or 1 for a switch; any number of values for kNumbers.
using OptionValues = std::map<std::string, std::vector<double>, std::less<>>;

// The options of one row with their effective values: given ones, otherwise defaults. Given values
// for other rows are ignored. Error for a key that is not among `options`.
class ChosenOptions {
 public:
  ChosenOptions(std::span<const Option> options, const OptionValues& given);

  double number(std::string_view key) const { return values(key).front(); }
  bool is_on(std::string_view key) const { return number(key) != 0; }
  const std::vector<double>& values(std::string_view key) const;

 private:
  OptionValues values_;
};

// Throws UsageError, naming the flag, if a given value of one of `options` is out of range.
void check_ranges(std::span<const Option> options, const OptionValues& given);

}  // namespace winnow::train
