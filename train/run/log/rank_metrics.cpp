#include "train/run/log/rank_metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/json.h"
#include "common/statistics.h"
#include "common/utf8.h"

namespace winnow::train {
namespace {

double own_seconds(const RankFigures& figures) { return figures.compute + figures.data_wait; }

std::vector<double> column(std::span<const RankFigures> figures, double RankFigures::*value) {
  std::vector<double> values;
  for (const RankFigures& rank : figures) values.push_back(rank.*value);
  return values;
}

std::string_view slow_in(const RankFigures& rank, double median_compute, double median_wait) {
  const double compute = rank.compute - median_compute;
  const double wait = rank.data_wait - median_wait;
  if (compute == wait) return rank.data_wait > rank.compute ? "data" : "compute";
  return wait > compute ? "data" : "compute";
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  const auto [min, max] = std::ranges::minmax(values);
  return {.min = min, .median = median(std::move(values)), .max = max};
}

RankSummary summarise_ranks(std::span<const RankFigures> figures) {
  RankSummary summary;
  for (std::size_t i = 0; i < kRankColumns.size(); ++i) {
    summary.columns[i] = spread_of(column(figures, kRankColumns[i].value));
  }
  std::vector<double> temperatures;
  for (const RankFigures& rank : figures) {
    if (rank.temperature) temperatures.push_back(*rank.temperature);
  }
  if (!temperatures.empty()) summary.temperature = spread_of(std::move(temperatures));
  const auto slowest = std::ranges::max_element(figures, {}, &own_seconds);
  summary.slowest = static_cast<std::size_t>(slowest - figures.begin());
  const auto median_of = [&](double RankFigures::*value) {
    const auto* const at = std::ranges::find(kRankColumns, value, &RankColumn::value);
    return summary.columns[static_cast<std::size_t>(at - kRankColumns.begin())].median;
  };
  summary.slowest_in =
      slow_in(*slowest, median_of(&RankFigures::compute), median_of(&RankFigures::data_wait));
  return summary;
}

void enter(const RankSummary& summary, std::span<const std::string> hosts,
           std::map<std::string, double>& values, std::map<std::string, std::string>& texts) {
  const auto enter_spread = [&](std::string_view name, const Spread& spread) {
    const std::string prefix = "ranks." + std::string(name);
    values[prefix + ".min"] = spread.min;
    values[prefix + ".median"] = spread.median;
    values[prefix + ".max"] = spread.max;
  };
  for (std::size_t i = 0; i < kRankColumns.size(); ++i) {
    enter_spread(kRankColumns[i].name, summary.columns[i]);
  }
  if (summary.temperature) enter_spread("temperature", *summary.temperature);
  values["ranks.slowest"] = static_cast<double>(summary.slowest);
  texts["ranks.slowest_host"] = to_utf8(hosts[summary.slowest]);
  texts["ranks.slowest_in"] = summary.slowest_in;
}

std::string ranks_json(const RankTable& ranks, const std::string& run, std::int64_t step,
                       double unix_time) {
  Json json{{"schema", "winnow.ranks/1"}, {"run", run}, {"step", step}, {"time", unix_time}};
  json["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < ranks.figures.size(); ++rank) {
    const RankFigures& figures = ranks.figures[rank];
    Json row{{"rank", rank}, {"host", to_utf8(ranks.hosts[rank])}};
    for (const RankColumn& column : kRankColumns) row[column.name] = figures.*column.value;
    if (figures.temperature) row["temperature"] = *figures.temperature;
    json["ranks"].push_back(std::move(row));
  }
  return json.dump() + '\n';
}

std::array<std::uint64_t, kRankWords> to_words(const RankFigures& figures) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::array<std::uint64_t, kRankWords> words{};
  for (std::size_t i = 0; i < kRankColumns.size(); ++i) {
    words[i] = std::bit_cast<std::uint64_t>(figures.*kRankColumns[i].value);
  }
  words.back() = std::bit_cast<std::uint64_t>(figures.temperature.value_or(kNone));
  return words;
}

RankFigures figures_of_words(std::span<const std::uint64_t, kRankWords> words) {
  RankFigures figures;
  for (std::size_t i = 0; i < kRankColumns.size(); ++i) {
    figures.*kRankColumns[i].value = std::bit_cast<double>(words[i]);
  }
  const double temperature = std::bit_cast<double>(words.back());
  if (!std::isnan(temperature)) figures.temperature = temperature;
  return figures;
}

}  // namespace winnow::train
