#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/statistics.h"

// Figures of an experiment as its sentences, tables and pages have them. Pure functions.
namespace winnow::app {

// The mean of those that there are.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

// "93.21 %": a mean_of() shares; `none` where there is no value.
std::string mean_in_percent(const std::vector<std::optional<double>>& shares,
                            std::string_view none = "");
// "93.21 % ± 0.12", or without a deviation "93.21 %".
std::string accuracy_in_words(double mean, const std::optional<double>& deviation);

// In points: "+0.12, -0.30 to +0.54", or without an interval "+0.12".
std::string in_points(const PairedDifference& difference);
// "+0.12 (-0.30 to +0.54)"; empty where there is none.
std::string points_html(const std::optional<PairedDifference>& difference);

// With as few digits as give it again; empty where there is none.
std::string exactly(const std::optional<double>& value);

// {"mean", "least", "most"}, the latter null without an interval; null where there is none.
Json json_of(const std::optional<PairedDifference>& difference);

}  // namespace winnow::app
