#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/statistics.h"

// Formats figures of an experiment for sentences, tables and pages. Pure functions.
namespace winnow::app {

// The mean of the values that exist.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

// "93.21 %": the mean of shares; `none` if there is no value.
std::string mean_in_percent(const std::vector<std::optional<double>>& shares,
                            std::string_view none = "");
// "93.21 % ± 0.12"; without a deviation "93.21 %".
std::string accuracy_in_words(double mean, const std::optional<double>& deviation);

// In points: "+0.12, -0.30 to +0.54"; without an interval "+0.12".
std::string in_points(const PairedDifference& difference);
// "+0.12 (-0.30 to +0.54)"; empty if there is no difference.
std::string points_html(const std::optional<PairedDifference>& difference);

// The shortest text that reads back as the same value; empty if there is none.
std::string exactly(const std::optional<double>& value);

// {"mean", "least", "most"}. least and most are null without an interval; all is null without a
// difference.
Json json_of(const std::optional<PairedDifference>& difference);

}  // namespace winnow::app
