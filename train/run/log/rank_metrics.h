#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

// What one rank did since the line of metrics before, and what it holds.
struct RankFigures {
  double compute = 0;    // seconds that steps took it, without its waits for other ranks
  double data_wait = 0;  // seconds that its steps waited for their batch
  double exposed = 0;    // seconds that its steps waited for the sums of gradients
  double reduction = 0;  // seconds that it added up and moved what all-reduces brought
  double received = 0;   // bytes of messages: gradients, and records from other machines
  double sent = 0;
  double memory = 0;                       // bytes that it held at most so far
  std::optional<double> temperature = {};  // of its card, degrees Celsius

  friend bool operator==(const RankFigures&, const RankFigures&) = default;
};

struct RankColumn {
  std::string_view name;
  double RankFigures::*value;
};
inline constexpr std::array<RankColumn, 7> kRankColumns{{{"compute", &RankFigures::compute},
                                                         {"data_wait", &RankFigures::data_wait},
                                                         {"exposed", &RankFigures::exposed},
                                                         {"reduction", &RankFigures::reduction},
                                                         {"received", &RankFigures::received},
                                                         {"sent", &RankFigures::sent},
                                                         {"memory", &RankFigures::memory}}};

// The ranks of a job, by rank.
struct RankTable {
  std::vector<std::string> hosts;
  std::vector<RankFigures> figures;
};

// The least, the median and the greatest over ranks; the median of an even number is the mean of
// the middle two.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;

  friend bool operator==(const Spread&, const Spread&) = default;
};
Spread spread_of(std::vector<double> values);  // of one at least

// The figures of all ranks in short.
struct RankSummary {
  std::array<Spread, kRankColumns.size()> columns{};  // as kRankColumns
  std::optional<Spread> temperature{};                // of those ranks that have one
  std::size_t slowest = 0;
  std::string_view slowest_in = "compute";  // or "data"
};

// Pure.
//
// Slowest  the rank whose own part takes longest, compute + data_wait: what comes before the
//          all-reduce, which all ranks leave together. Of equals the lowest
// In       what it takes longer for than the median rank, by more; of equals, as of a single rank,
//          what it takes longer for
RankSummary summarise_ranks(std::span<const RankFigures> figures);  // of one rank at least

// Enters a summary into a line of metrics.jsonl: ranks.compute.min ... ranks.slowest_in.
void enter(const RankSummary& summary, std::span<const std::string> hosts,
           std::map<std::string, double>& values, std::map<std::string, std::string>& texts);

// RUN/ranks.json. `step`: steps done. `unix_time`: seconds since 1970.
std::string ranks_json(const RankTable& ranks, const std::string& run, std::int64_t step,
                       double unix_time);

// A row of whole numbers that says the same, and back, bit for bit.
inline constexpr std::size_t kRankWords = kRankColumns.size() + 1;
std::array<std::uint64_t, kRankWords> to_words(const RankFigures& figures);
RankFigures figures_of_words(std::span<const std::uint64_t, kRankWords> words);

}  // namespace winnow::train
