#include "app/live/rank_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "app/live/columns.h"
#include "app/words.h"

namespace winnow::app {
namespace {

using train::RankFigures;
using train::RankTable;

constexpr int kMark = 2;
constexpr int kMostRankName = 30;
constexpr int kNumber = 11;
constexpr int kLeastBar = 12;
constexpr double kMostBytes = 1e18;

enum class Unit { kSeconds, kBytes, kDegrees };

std::string figure(double value, Unit unit) {
  if (!std::isfinite(value) || value < 0) return "-";
  if (unit == Unit::kDegrees) return fmt::format("{:.0f} °C", std::min(value, 1e4));
  if (unit == Unit::kBytes)
    return in_bytes(static_cast<std::uint64_t>(std::min(value, kMostBytes)));
  return in_seconds(std::min(value, 1e9));
}

struct Column {
  std::string_view title;
  std::string_view name;  // name in metrics.jsonl, after "ranks."
  Unit unit;
  double RankFigures::*value;
};
// The first four fit any terminal.
constexpr std::array<Column, 7> kColumns{
    {{"compute", "compute", Unit::kSeconds, &RankFigures::compute},
     {"data wait", "data_wait", Unit::kSeconds, &RankFigures::data_wait},
     {"exposed", "exposed", Unit::kSeconds, &RankFigures::exposed},
     {"memory", "memory", Unit::kBytes, &RankFigures::memory},
     {"reduction", "reduction", Unit::kSeconds, &RankFigures::reduction},
     {"received", "received", Unit::kBytes, &RankFigures::received},
     {"sent", "sent", Unit::kBytes, &RankFigures::sent}}};
constexpr std::size_t kNarrow = 4;
constexpr int kWideFrom = 120;

double own(const RankFigures& figures) { return figures.compute + figures.data_wait; }
double all(const RankFigures& figures) { return own(figures) + figures.exposed; }

std::string name_of(const RankTable& ranks, std::size_t rank) {
  const std::string& host = ranks.hosts[rank];
  return fmt::format("rank {}{}", rank, host.empty() ? "" : " (" + host + ")");
}

struct Layout {
  int name = 0;
  std::size_t columns = kNarrow;
  bool temperature = false;
  int bar = 0;  // width; 0: no bar
};

Layout layout_of(const RankTable& ranks, int width) {
  Layout layout;
  for (std::size_t rank = 0; rank < ranks.hosts.size(); ++rank) {
    layout.name = std::max(layout.name, width_of(name_of(ranks, rank)));
  }
  layout.name = std::clamp(layout.name, 20, kMostRankName);
  if (width >= kWideFrom) {
    layout.columns = kColumns.size();
    layout.temperature = std::ranges::any_of(
        ranks.figures, [](const RankFigures& rank) { return rank.temperature.has_value(); });
  }
  const int numbers = static_cast<int>(layout.columns) + (layout.temperature ? 1 : 0);
  const int bar = width - kMark - layout.name - numbers * kNumber - 2;
  layout.bar = bar >= kLeastBar ? bar : 0;
  return layout;
}

std::string head(const Layout& layout, std::int64_t step) {
  std::string text = padded(fmt::format("ranks, to step {}", step), kMark + layout.name);
  for (std::size_t i = 0; i < layout.columns; ++i) {
    text += aligned_right(std::string(kColumns[i].title), kNumber);
  }
  if (layout.temperature) text += aligned_right("card", kNumber);
  return text;
}

// A bar of a rank's time. The rank that takes longest fills the width.
std::string bar_of(const RankFigures& rank, double longest, int width) {
  std::string bar;
  double sum = 0;
  int drawn = 0;
  for (const auto& [sign, seconds] : {std::pair<std::string_view, double>{"█", rank.compute},
                                      {"▓", rank.data_wait},
                                      {"▒", rank.exposed}}) {
    sum += std::max(0.0, seconds);
    const double share = longest > 0 ? std::min(1.0, sum / longest) : 0;
    const int until = static_cast<int>(std::lround(share * width));
    bar += repeated(sign, until - drawn);
    drawn = until;
  }
  return bar;
}

std::string row_of(const RankTable& ranks, std::size_t rank, const Layout& layout, bool slowest,
                   double longest) {
  const RankFigures& figures = ranks.figures[rank];
  std::string text = slowest ? "> " : "  ";
  text += padded(name_of(ranks, rank), layout.name);
  for (std::size_t i = 0; i < layout.columns; ++i) {
    text += aligned_right(figure(figures.*kColumns[i].value, kColumns[i].unit), kNumber);
  }
  if (layout.temperature) {
    text += aligned_right(figures.temperature ? figure(*figures.temperature, Unit::kDegrees) : "-",
                          kNumber);
  }
  if (layout.bar > 0) text += "  " + bar_of(figures, longest, layout.bar);
  return text;
}

std::vector<std::string> rows_of(const LiveRanks& ranks, int width, int most) {
  const RankTable& table = ranks.table;
  const Layout layout = layout_of(table, width);
  const std::size_t slowest = train::summarise_ranks(table.figures).slowest;
  std::vector<std::size_t> order(table.figures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto room = static_cast<std::size_t>(most) - 2;  // two lines: the head, and who waits for whom
  if (order.size() > room) {
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return own(table.figures[a]) > own(table.figures[b]);
    });
    order.resize(--room);
  }
  const double longest = all(*std::ranges::max_element(table.figures, {}, &all));
  std::vector<std::string> lines{head(layout, ranks.step)};
  for (const std::size_t rank : order) {
    lines.push_back(row_of(table, rank, layout, rank == slowest, longest));
  }
  if (order.size() < table.figures.size()) {
    lines.push_back(fmt::format("  and {} more, none slower", table.figures.size() - order.size()));
  }
  lines.push_back(waits_of(table));
  return lines;
}

// For a run without figures for each rank.
std::vector<std::string> spread_rows(const train::MetricsRow& row) {
  const Layout layout{.name = 20};
  std::vector<std::string> lines{head(layout, row.step)};
  for (const auto& [title, end] :
       {std::pair{"least", ".min"}, {"median", ".median"}, {"greatest", ".max"}}) {
    std::string text = "  " + padded(title, layout.name);
    for (std::size_t i = 0; i < layout.columns; ++i) {
      const auto value = row.values.find(fmt::format("ranks.{}{}", kColumns[i].name, end));
      text += aligned_right(
          value == row.values.end() ? "-" : figure(value->second, kColumns[i].unit), kNumber);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace

std::string waits_of(const RankTable& ranks) {
  if (ranks.figures.size() < 2) return {};
  const train::RankSummary summary = train::summarise_ranks(ranks.figures);
  std::vector<double> seconds;
  for (const RankFigures& rank : ranks.figures) seconds.push_back(own(rank));
  const double longest = own(ranks.figures[summary.slowest]);
  // With two ranks the median would be half the slowest.
  seconds.erase(seconds.begin() + static_cast<std::ptrdiff_t>(summary.slowest));
  const double typical = train::spread_of(std::move(seconds)).median;
  constexpr double kWorthSaying = 1.1;
  if (longest <= kWorthSaying * typical) return "no rank waits long for another";
  return fmt::format("others wait for {}: {} against {}, in {}", name_of(ranks, summary.slowest),
                     in_seconds(longest), in_seconds(typical),
                     summary.slowest_in == "data" ? "waiting for data" : "computing");
}

std::vector<std::string> rank_rows(const LiveState& state, int width, int most) {
  std::vector<std::string> lines;
  if (state.ranks.table.figures.size() > 1) {
    lines = rows_of(state.ranks, width, most);
  } else if (state.ranks.table.figures.empty() && state.last.values.contains("ranks.compute.max") &&
             state.last.values.contains("ranks.slowest")) {
    lines = spread_rows(state.last);
  }
  for (std::string& line : lines) line = cut(std::move(line), width);
  return lines;
}

}  // namespace winnow::app
