#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

// Of any option: a float holds it, and so does its reciprocal.
inline constexpr double kMostNumber = 1e38;
inline constexpr double kMostEpochs = 1e6;  // steps of them are counted in 53 bits

// Numbers that an option may be. NaN and infinities never are.
struct Range {
  double least = 0;
  double most = kMostNumber;
  bool above_least = false;  // `least` itself is excluded
  bool below_most = false;   // `most` itself is excluded

  bool contains(double value) const noexcept;
  std::string text() const;  // "at least 0 and below 1"
};

enum class OptionKind : std::uint8_t { kNumber, kSwitch, kNumbers };

// An option of an optimiser or of a learning-rate schedule. Flag, help and the key in config.json
// are made from it.
struct Option {
  std::string_view key;   // in config.json: "weight_decay"; the flag is --weight-decay
  std::string_view what;  // one line of help
  OptionKind kind = OptionKind::kNumber;
  double initial = 0;  // value where none is given; a switch is off at 0; kNumbers must be given
  Range range{};       // of every number
  // Runs were begun before there was this option: config.json leaves it out at its initial value.
  bool later = false;
};

std::string flag_of(const Option& option);  // "--weight-decay"

// Values that were given, by key: one number, 0 or 1 for a switch, any count of kNumbers.
using OptionValues = std::map<std::string, std::vector<double>, std::less<>>;

// The options of one row with the values that hold: given ones, else initial ones. Given values of
// other rows are passed over. Error for a key that is not among `options`.
class ChosenOptions {
 public:
  ChosenOptions(std::span<const Option> options, const OptionValues& given);

  double number(std::string_view key) const { return values(key).front(); }
  bool is_on(std::string_view key) const { return number(key) != 0; }
  const std::vector<double>& values(std::string_view key) const;

 private:
  OptionValues values_;
};

// UsageError naming the flag when a given value of one of `options` is out of range.
void check_ranges(std::span<const Option> options, const OptionValues& given);

}  // namespace winnow::train
