#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// Plans which pairs to compare, as data.
//
// - Bands: among budget + 1 disjoint sets of bits, two codes that differ in at most `budget` bits
//   agree in one whole set (a band).
// - Each pair of a cell belongs to one part: it agrees in band 0, or else in band 1 (and may then
//   differ in budget - 1 bits elsewhere), and so on.
// - A cell is partitioned by one band after the other. Each bucket is again a cell, with the
//   remaining bands and the remaining budget. Small cells are scanned.
// - With budget + levels bands, `levels` bands agree before a scan. That leaves fewer pairs to
//   compare, but puts each code into choose(budget + levels, levels) cells.

// Bit positions of codes: i is bit i % 64, by value, of word i / 64. The bands of one plan share no
// bit.
struct Band {
  std::vector<std::uint16_t> bits;
  std::vector<std::uint64_t> mask;  // the same as masks, one a word
};

inline constexpr std::size_t kMaxBandBits = 12;
inline constexpr int kMaxLevels = 4;

// The input of a plan: the size of the problem and, if available, a sample of pairs.
struct JoinCase {
  double codes = 0;  // on both sides
  double pairs = 0;  // pairs that a scan would compare
  std::size_t words_per_code = 1;
  int radius = 0;  // maximum number of differing bits
  int budget = 0;  // maximum number among the bits that no band has used yet
  // Codes XOR codes of random pairs, words_per_code each. Empty: uniform codes are assumed.
  std::span<const std::uint64_t> differences;
};

// Costs in nanoseconds of one core.
struct JoinCosts {
  double pair = 0;    // compare two codes in a scan
  double hit = 0;     // process a pair within the radius
  double query = 0;   // start another query code in a scan
  double move = 0;    // move a code into its bucket
  double scan = 0;    // start a scan
  double bucket = 0;  // an empty bucket
};
// pair_ns  Time to compare two codes.
JoinCosts join_costs(double pair_ns, std::size_t words_per_code) noexcept;

struct JoinChoice {
  int levels = 0;      // bands that must agree before a scan; 0: scan at once
  double cost_ns = 0;  // estimated cost of that choice
  double scan_ns = 0;  // estimated cost of scanning at once
};

// Whether scanning at once is cheapest for any bands and codes: each of at least budget + 1 bands
// moves every code and starts a scan with it.
bool is_scan_cheapest(const JoinCase& problem, const JoinCosts& costs) noexcept;

// Chooses how many levels of existing bands to use, in their order.
JoinChoice choose_levels(const JoinCase& problem, std::span<const Band> bands,
                         const JoinCosts& costs);

struct JoinPlan {
  JoinChoice choice;
  std::vector<Band> bands;  // budget + levels of them; none: scan at once
};

// Makes new bands from the bits in `unused` (words_per_code words). Each band takes the bit that
// separates most of the pairs it has not separated yet, the band with most of those first.
// Redundant or constant bits therefore do not end up together.
JoinPlan plan_join(const JoinCase& problem, std::span<const std::uint64_t> unused,
                   const JoinCosts& costs);

// Assigns cells to the processes that share them, by cost. Cells that cost more than `large` are
// processed by all together, which divide them again.
inline constexpr std::uint32_t kAllParts = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoPart = kAllParts - 1;  // there is nothing to do

// loads  The present load of each part (at least one); updated by what is assigned.
std::vector<std::uint32_t> share_out(std::span<const std::uint64_t> costs, std::uint64_t large,
                                     std::vector<std::uint64_t>& loads);

// Minimum work of a plan for uniform codes.
struct JoinWork {
  double moves = 0;  // codes moved into buckets
  double pairs = 0;  // pairs compared
};
JoinWork work_of(const JoinCase& problem, const JoinPlan& plan);

}  // namespace winnow::dedup
