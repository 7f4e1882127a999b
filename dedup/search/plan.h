#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// Plans a search for all pairs of codes within a number of bits: decides which pairs need a
// comparison (a join by bands of bits).
//
// - Bands: if the bits are divided into budget + 1 disjoint sets (bands), two codes that differ in
//   at most `budget` bits agree in all bits of at least one band.
// - A cell is a set of codes whose pairs are still to be found. It is divided by one band after the
//   other. Codes that agree in the band form a bucket, which is again a cell, with the remaining
//   bands and the remaining budget. Small cells are scanned: every pair is compared.
// - Each pair is found once: in the first band in which it agrees. As it differs in the bands
//   before, it may only differ in fewer bits elsewhere.
// - With budget + levels bands, `levels` bands must agree before a scan. A higher level leaves
//   fewer pairs to compare, but puts each code into choose(budget + levels, levels) cells.

// A band: some bit positions of a code. Position i is the bit of value 2^(i % 64) in word i / 64.
// The bands of one plan have no bit in common.
struct Band {
  std::vector<std::uint16_t> bits;
  std::vector<std::uint64_t> mask;  // the band's bits, as a mask for the words of a code
};

inline constexpr std::size_t kMaxBandBits = 12;
inline constexpr int kMaxLevels = 4;

// Input of a plan: the size of the problem and, if available, a sample of pairs.
struct JoinCase {
  double codes = 0;  // on both sides
  double pairs = 0;  // number of pairs that a scan would compare
  std::size_t words_per_code = 1;
  int radius = 0;  // maximum number of bits in which codes of a pair differ
  int budget = 0;  // maximum number of differing bits outside the bands used so far
  // Differences (XOR) of the codes of random pairs, words_per_code words each. Empty: bits are
  // assumed to be independent and uniform.
  std::span<const std::uint64_t> differences;
};

// Costs of the steps of a search, in nanoseconds of one core.
struct JoinCosts {
  double pair = 0;    // comparison of two codes in a scan
  double hit = 0;     // processing of a pair within the radius
  double query = 0;   // start of a further query code in a scan
  double move = 0;    // move of a code into its bucket
  double scan = 0;    // start a scan
  double bucket = 0;  // an empty bucket
};
// Estimates all costs from the speed of a scan.
// pair_ns  Time to compare two codes in a scan, in nanoseconds.
JoinCosts join_costs(double pair_ns, std::size_t words_per_code) noexcept;

struct JoinChoice {
  int levels = 0;      // number of bands that must agree before a scan; 0: scan everything at once
  double cost_ns = 0;  // estimated cost with this number of levels
  double scan_ns = 0;  // estimated cost of scanning everything at once
};

// Whether scanning everything at once is cheapest, whatever the bands and codes. True if moving
// every code once for each of budget + 1 bands, and starting a scan with it, costs more.
bool is_scan_cheapest(const JoinCase& problem, const JoinCosts& costs) noexcept;

// Chooses how many levels of existing bands to use. Bands are used in their order.
JoinChoice choose_levels(const JoinCase& problem, std::span<const Band> bands,
                         const JoinCosts& costs);

struct JoinPlan {
  JoinChoice choice;
  std::vector<Band> bands;  // budget + levels bands; empty: everything is scanned at once
};

// Makes new bands from the bits that are set in `unused` (words_per_code words). Bands take turns:
// the one that has separated the fewest of the sampled pairs takes the bit that separates most of
// its remaining pairs. Redundant or constant bits therefore do not end up together.
JoinPlan plan_join(const JoinCase& problem, std::span<const std::uint64_t> unused,
                   const JoinCosts& costs);

// Assigns cells (sets of codes to be searched) to the processes that share a search, by cost. A
// cell that costs more than `large` gets kAllParts: all processes divide it among them.
inline constexpr std::uint32_t kAllParts = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoPart = kAllParts - 1;  // for a cell without pairs

// Returns the part of each cell.
// loads  The work that each part has so far (at least one part); the costs of its cells are added.
std::vector<std::uint32_t> share_out(std::span<const std::uint64_t> costs, std::uint64_t large,
                                     std::vector<std::uint64_t>& loads);

// Minimum work of a plan, if bits of codes are independent and uniform.
struct JoinWork {
  double moves = 0;  // codes moved into buckets
  double pairs = 0;  // pairs compared
};
JoinWork work_of(const JoinCase& problem, const JoinPlan& plan);

}  // namespace winnow::dedup
