#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

// Largest value of any option: it and its reciprocal fit into a float.
inline constexpr double kMostNumber = 1e38;
// Largest number of epochs; steps are counted in 53 bits.
inline constexpr double kMostEpochs = 1e6;

// The allowed values of an option. NaN and infinity are never allowed.
struct Range {
  double least = 0;
  double most = kMostNumber;
  bool above_least = false;  // `least` itself is excluded
  bool below_most = false;   // `most` itself is excluded

  bool contains(double value) const noexcept;
  std::string text() const;  // description such as "at least 0 and below 1"
};

enum class OptionKind : std::uint8_t { kNumber, kSwitch, kNumbers };

// An option of an optimiser or a learning-rate schedule. Its command-line flag, its help and its
// key in config.json are generated from it.
struct Option {
  std::string_view key;   // key in config.json: "weight_decay"; the flag is --weight-decay
  std::string_view what;  // one line of help
  OptionKind kind = OptionKind::kNumber;
  // Default value: 0 is off for a switch; kNumbers has no default and must be given.
  double initial = 0;
  Range range{};  // allowed values, for every number of the option
  // Whether runs exist that were made before this option. Then config.json omits it at its default,
  // so that their configurations stay equal.
  bool later = false;
};

std::string flag_of(const Option& option);  // "--weight-decay"

// Values that were given explicitly, by key: one number; 0 or 1 for a switch; any number of values
// for kNumbers.
using OptionValues = std::map<std::string, std::vector<double>, std::less<>>;

// The options of one optimiser or schedule with their values: given ones, otherwise defaults.
// Ignores given values of other optimisers and schedules. Asking for a key that is not among
// `options` throws Error.
class ChosenOptions {
 public:
  ChosenOptions(std::span<const Option> options, const OptionValues& given);

  double number(std::string_view key) const { return values(key).front(); }
  bool is_on(std::string_view key) const { return number(key) != 0; }
  const std::vector<double>& values(std::string_view key) const;

 private:
  OptionValues values_;
};

// Throws UsageError, which names the flag, if the given value of one of `options` is out of range.
void check_ranges(std::span<const Option> options, const OptionValues& given);

}  // namespace winnow::train
