#include "app/experiment/tune_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostSettings = 10'000;
constexpr std::size_t kMostDraws = 100;  // for a trial, most of which others had

// Two decades about the rates that were published; seeds of LARS: NVCaffe's and MLPerf's 4 to 25
// for batches from 512 to 65,536; of LAMB: 0.04 sqrt(B / 32,768), You et al. 2019.
constexpr std::array kRanges{
    TuneRanges{"sgd", 0.02, 2, 512, 1e-5, 1e-3},
    TuneRanges{"lars", 0.5, 50, 0, 1e-5, 1e-3},
    TuneRanges{"lars_paper", 0.5, 50, 0, 1e-5, 1e-3},
    TuneRanges{"larc", 0.02, 2, 512, 1e-5, 1e-3},
    TuneRanges{"lamb", 5e-4, 0.05, 512, 1e-3, 0.1},
    TuneRanges{"adamw", 2e-4, 0.02, 512, 1e-3, 0.3},
    TuneRanges{"rmsprop", 1e-4, 0.01, 512, 1e-6, 1e-4},
    TuneRanges{"rmsprop_tf", 1e-3, 0.1, 512, 1e-6, 1e-4},
    TuneRanges{"lion", 2e-5, 2e-3, 512, 1e-2, 1},
};

// Rounds to the digits that a person would type in a command.
double three_digits(double number) { return std::stod(fmt::format("{:.3g}", number)); }

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

// The number at `share` of the way from one end to the other.
double at(const TuneAxis& axis, double share) {
  if (!axis.is_drawn()) {
    const auto place = static_cast<std::size_t>(share * static_cast<double>(axis.values.size()));
    return axis.values[std::min(place, axis.values.size() - 1)];
  }
  const auto by_factor = [&](double from, double to) {
    return three_digits(from * std::exp(share * std::log(to / from)));
  };
  double drawn = 0;
  switch (axis.scale) {
    case AxisScale::kEven:
      return three_digits(axis.least + share * (axis.most - axis.least));
    case AxisScale::kLogarithmic:
      drawn = by_factor(axis.least, axis.most);
      break;
    case AxisScale::kToOne:
      drawn = std::stod(fmt::format("{:.6g}", 1 - by_factor(1 - axis.least, 1 - axis.most)));
      break;
  }
  // Rounding may leave the range.
  return std::clamp(drawn, axis.least, axis.most);
}

// Why an axis cannot have this number; empty: it can.
std::string_view why_not(AxisScale scale, double number) {
  switch (scale) {
    case AxisScale::kLogarithmic:
      return number > 0 ? "" : "is not above 0";
    case AxisScale::kEven:
      return number >= 0 ? "" : "is not 0 or more";
    case AxisScale::kToOne:
      return number >= 0 && number < 1 ? "" : "is not from 0 to below 1";
  }
  return "";
}

// The root above 1 of x^(n + 1) = x + 1: the golden ratio for one axis (Roberts 2018).
double generalised_golden_ratio(std::size_t axes) {
  double root = 1.5;
  for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1 / static_cast<double>(axes + 1));
  return root;
}

}  // namespace

AxisWords parse_axis(std::string_view flag, std::string_view words) {
  const auto fail = [&](const std::string& why) {
    throw UsageError(
        fmt::format("--{} {}: {}; write a list such as 0.1,0.2,0.4, or a range such as 0.01:1",
                    flag, words, why));
  };
  const AxisScale scale = std::ranges::find(kTuneFlags, flag, &TuneFlag::flag)->scale;
  AxisWords out{.axis = {.flag = std::string(flag), .scale = scale}};
  std::string_view rest = words;
  if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
    out.optimizer = rest.substr(0, equals);
    if (out.optimizer.empty()) fail("no optimizer is named before '='");
    rest.remove_prefix(equals + 1);
  }
  const bool ends = rest.find(':') != std::string_view::npos;
  std::vector<double> numbers;
  for (bool more = true; more;) {
    const std::size_t length = std::min(rest.find(ends ? ':' : ','), rest.size());
    const std::string_view word = rest.substr(0, length);
    const std::optional<double> number = number_of(word);
    if (!number) fail(fmt::format("'{}' is no number", word));
    if (const auto why = why_not(scale, *number); !why.empty()) {
      fail(fmt::format("{} {}", word, why));
    }
    numbers.push_back(*number);
    more = length < rest.size();
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  if (ends) {
    if (numbers.size() != 2) fail("a range has two ends");
    if (numbers[0] >= numbers[1]) fail("the range must begin below its end");
    out.axis.least = numbers[0];
    out.axis.most = numbers[1];
    return out;
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  out.axis.values = std::move(numbers);
  return out;
}

std::vector<double> spaced_by_factor(double least, double most, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : static_cast<double>(i) / (count - 1);
    values.push_back(three_digits(least * std::pow(most / least, share)));
  }
  return values;
}

std::vector<TuneSetting> grid_of(const std::vector<TuneAxis>& axes) {
  std::vector<TuneSetting> settings{TuneSetting{}};
  for (const TuneAxis& axis : axes) {
    if (settings.size() * axis.values.size() > kMostSettings) {
      throw UsageError(
          fmt::format("the lists make over {} settings; shorten them, or draw --trials "
                      "of them",
                      kMostSettings));
    }
    std::vector<TuneSetting> longer;
    for (const TuneSetting& setting : settings) {
      for (const double value : axis.values) {
        longer.push_back(setting);
        longer.back().push_back(value);
      }
    }
    settings = std::move(longer);
  }
  return settings;
}

std::vector<TuneSetting> drawn_of(const std::vector<TuneAxis>& axes, std::size_t trials,
                                  std::uint64_t seed) {
  const double root = generalised_golden_ratio(axes.size());
  CounterRng rng(seed, 0, 0, RandomUse::kStudy);
  std::vector<double> shares;
  for (std::size_t i = 0; i < axes.size(); ++i) shares.push_back(rng.uniform());
  std::vector<TuneSetting> settings;
  std::set<TuneSetting> seen;
  for (std::size_t draw = 0; settings.size() < trials; ++draw) {
    if (draw == kMostDraws * trials) {
      throw UsageError(
          fmt::format("--trials {} is more than the {} settings that the lists make; leave out "
                      "--trials to try them all",
                      trials, settings.size()));
    }
    TuneSetting setting;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      setting.push_back(at(axes[i], shares[i]));
      shares[i] = std::fmod(shares[i] + std::pow(root, -static_cast<double>(i + 1)), 1.0);
    }
    if (seen.insert(setting).second) settings.push_back(std::move(setting));
  }
  return settings;
}

const TuneRanges& tune_ranges(std::string_view optimizer) {
  const auto* const found = std::ranges::find(kRanges, optimizer, &TuneRanges::optimizer);
  if (found != kRanges.end()) return *found;
  throw UsageError(
      fmt::format("there are no default ranges for {}; give --lr {}=A:B and --weight-decay {}=A:B",
                  optimizer, optimizer, optimizer));
}

TuneAxis default_lr(std::string_view optimizer, double batch) {
  const TuneRanges& ranges = tune_ranges(optimizer);
  const double factor = ranges.batch > 0 ? std::sqrt(batch / ranges.batch) : 1;
  return {.flag = "lr",
          .least = three_digits(ranges.lr_least * factor),
          .most = three_digits(ranges.lr_most * factor)};
}

TuneAxis default_decay(std::string_view optimizer) {
  const TuneRanges& ranges = tune_ranges(optimizer);
  return {.flag = "weight-decay", .least = ranges.decay_least, .most = ranges.decay_most};
}

std::string tune_ranges_help() {
  std::string text = fmt::format("\n  {:11} {:18} {}", "", "--lr", "--weight-decay");
  for (const TuneRanges& ranges : kRanges) {
    text += fmt::format("\n  {:11} {:18} {}", ranges.optimizer,
                        fmt::format("{:g}:{:g}", ranges.lr_least, ranges.lr_most),
                        fmt::format("{:g}:{:g}", ranges.decay_least, ranges.decay_most));
  }
  return text;
}

}  // namespace winnow::app
