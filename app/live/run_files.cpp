#include "app/live/run_files.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "common/error.h"
#include "common/json_reader.h"

namespace winnow::app {
namespace {

constexpr std::size_t kDate = std::string_view("2026-11-26T").size();
constexpr std::size_t kClock = std::string_view("10:31:05").size();

}  // namespace

std::optional<LiveRanks> parse_ranks(std::string_view text) {
  try {
    const JsonReader in(text, {"ranks.json"});
    if (in.at("schema").text() != "winnow.ranks/1") return std::nullopt;
    LiveRanks ranks{.step = in.at("step").integer(std::numeric_limits<std::int64_t>::min(),
                                                  std::numeric_limits<std::int64_t>::max())};
    for (const JsonReader& row : in.at("ranks").items()) {
      train::RankFigures figures;
      for (const train::RankColumn& column : train::kRankColumns) {
        figures.*column.value = row.at(column.name).real(0, 1e100);
      }
      if (const auto degrees = row.find("temperature")) figures.temperature = degrees->real();
      if (row.at("rank").number() != ranks.table.figures.size()) return std::nullopt;
      ranks.table.figures.push_back(figures);
      ranks.table.hosts.push_back(row.at("host").text());
    }
    return ranks;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

std::vector<std::string> newest_lines(const std::vector<std::string>& logs, std::size_t most) {
  std::vector<std::string> lines;
  for (const std::string& log : logs) {
    std::istringstream in(log);
    for (std::string line; std::getline(in, line);) {
      if (line.size() > kDate + kClock && line[kDate - 1] == 'T') lines.push_back(std::move(line));
    }
  }
  std::ranges::stable_sort(lines, {}, [](const std::string& line) {
    return std::string_view(line).substr(0, kDate + kClock);
  });
  std::vector<std::string> said;
  for (const std::string& line : lines) {
    const std::string sentence = line.substr(std::min(line.find(' '), line.size()));
    std::string told = line.substr(kDate, kClock) + sentence;
    if (std::ranges::count(said, told) == 0) said.push_back(std::move(told));
  }
  if (said.size() > most) said.erase(said.begin(), said.end() - static_cast<std::ptrdiff_t>(most));
  return said;
}

}  // namespace winnow::app
