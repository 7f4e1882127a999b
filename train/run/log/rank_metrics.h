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

// Figures of one rank since the previous line of metrics, and its memory.
struct RankFigures {
  double compute = 0;    // seconds of computing, without waits for other ranks
  double data_wait = 0;  // seconds that steps waited for their batch
  double exposed = 0;    // seconds that steps waited for the sums of gradients
  double reduction = 0;  // seconds for adding and copying in all-reduces
  double received = 0;   // bytes of messages: gradients, and records from other machines
  double sent = 0;
  double memory = 0;                       // peak memory so far, in bytes
  std::optional<double> temperature = {};  // GPU temperature in degrees Celsius

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

// The ranks of a job, in rank order.
struct RankTable {
  std::vector<std::string> hosts;
  std::vector<RankFigures> figures;
};

// Minimum, median and maximum over ranks. The median of an even number is the mean of the middle
// two.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;

  friend bool operator==(const Spread&, const Spread&) = default;
};
Spread spread_of(std::vector<double> values);  // `values` must not be empty

// Summary of the figures of all ranks.
struct RankSummary {
  std::array<Spread, kRankColumns.size()> columns{};  // in the order of kRankColumns
  std::optional<Spread> temperature{};                // over the ranks that have one
  std::size_t slowest = 0;
  std::string_view slowest_in = "compute";  // or "data"
};

// Summarises the figures of at least one rank. Pure.
//
// Slowest  The rank whose own part takes longest: compute + data_wait, which come before the
//          all-reduce that all ranks finish together. Ties go to the lowest rank.
// In       The part in which it exceeds the median rank by more. In a tie, or with a single rank:
//          the part that takes longer.
RankSummary summarise_ranks(std::span<const RankFigures> figures);

// Adds a summary to a line of metrics.jsonl: ranks.compute.min ... ranks.slowest_in.
void enter(const RankSummary& summary, std::span<const std::string> hosts,
           std::map<std::string, double>& values, std::map<std::string, std::string>& texts);

// The text of RUN/ranks.json. `step`: steps done. `unix_time`: seconds since 1970.
std::string ranks_json(const RankTable& ranks, const std::string& run, std::int64_t step,
                       double unix_time);

// Converts the figures to a row of integers and back, with the same bits.
inline constexpr std::size_t kRankWords = kRankColumns.size() + 1;
std::array<std::uint64_t, kRankWords> to_words(const RankFigures& figures);
RankFigures figures_of_words(std::span<const std::uint64_t, kRankWords> words);

}  // namespace winnow::train
