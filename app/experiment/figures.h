#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/statistics.h"

// Formats results of experiments for sentences, tables and pages. Pure functions.
namespace winnow::app {

// The mean of the values that are not nullopt; nullopt if there are none.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

// The mean of shares in percent, "93.21 %"; `none` if there is no value.
std::string mean_in_percent(const std::vector<std::optional<double>>& shares,
                            std::string_view none = "");
// A mean accuracy and its standard deviation, "93.21 % ± 0.12"; without a deviation "93.21 %".
std::string accuracy_in_words(double mean, const std::optional<double>& deviation);

// A difference in percentage points with its confidence interval, "+0.12, -0.30 to +0.54"; without
// an interval "+0.12".
std::string in_points(const PairedDifference& difference);
// A difference in percentage points as HTML, "+0.12 (-0.30 to +0.54)"; empty if there is none.
std::string points_html(const std::optional<PairedDifference>& difference);

// The shortest text that parses to exactly the same value; empty for nullopt.
std::string exactly(const std::optional<double>& value);

// A difference as JSON: {"mean", "least", "most"}. Without an interval `least` and `most` are null;
// without a difference all three are.
Json json_of(const std::optional<PairedDifference>& difference);

}  // namespace winnow::app
