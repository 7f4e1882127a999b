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

// Figures of one rank: its work since the previous line of metrics, and its peak memory.
struct RankFigures {
  double compute = 0;    // seconds of computing, without waits for other ranks
  double data_wait = 0;  // seconds that steps waited for their batch
  double exposed = 0;    // seconds that steps waited for all-reduces of gradients
  double reduction = 0;  // seconds of adding and copying within all-reduces
  double received = 0;   // bytes of messages received: gradients, and records from other machines
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

// Host name and figures of each rank of a job, in rank order.
struct RankTable {
  std::vector<std::string> hosts;
  std::vector<RankFigures> figures;
};

// Minimum, median and maximum over all ranks. For an even number of ranks, the median is the mean
// of the middle two.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;

  friend bool operator==(const Spread&, const Spread&) = default;
};
Spread spread_of(std::vector<double> values);  // `values` must not be empty

// Summary of the figures of all ranks.
struct RankSummary {
  // Spread of each figure, in the order of kRankColumns.
  std::array<Spread, kRankColumns.size()> columns{};
  // Spread of the GPU temperatures, over the ranks that have one.
  std::optional<Spread> temperature{};
  std::size_t slowest = 0;
  // Part of the step in which the slowest rank is slow: "compute" or "data".
  std::string_view slowest_in = "compute";
};

// Summarises the figures of at least one rank. Pure.
//
// slowest     The rank with the largest compute + data_wait, the time before the all-reduce, which
//             all ranks finish together. Ties go to the lowest rank.
// slowest_in  The part, compute or data_wait, in which this rank exceeds the median rank by more.
//             In a tie, or with a single rank: the longer part.
RankSummary summarise_ranks(std::span<const RankFigures> figures);

// Adds a summary to a line of metrics.jsonl: ranks.compute.min ... ranks.slowest_in.
void enter(const RankSummary& summary, std::span<const std::string> hosts,
           std::map<std::string, double>& values, std::map<std::string, std::string>& texts);

// Returns the text of RUN/ranks.json. `step`: number of steps done. `unix_time`: seconds since
// 1970.
std::string ranks_json(const RankTable& ranks, const std::string& run, std::int64_t step,
                       double unix_time);

// Conversion of RankFigures to integers and back, for a collective of integers. It keeps all bits.
inline constexpr std::size_t kRankWords = kRankColumns.size() + 1;
std::array<std::uint64_t, kRankWords> to_words(const RankFigures& figures);
RankFigures figures_of_words(std::span<const std::uint64_t, kRankWords> words);

}  // namespace winnow::train
