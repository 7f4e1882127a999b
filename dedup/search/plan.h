#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// Which pairs to compare, decided as data.
//
// Among budget + 1 sets of bits that share none, two codes that differ in at most `budget` bits
// agree in one whole set: a band. So all pairs of a cell are those that agree in band 0, those
// that do not but agree in band 1 (they may differ in budget - 1 bits elsewhere), and so on; each
// pair is in one part only. A cell is partitioned by one band after the other and each bucket is a
// cell again, with the bands behind and the budget that is left; what is small enough is scanned.
// With budget + levels bands, `levels` bands agree before a scan: fewer pairs to compare, but
// choose(budget + levels, levels) cells that each code is in.

// Bits of codes, no two bands of one plan sharing any: i is bit i % 64, by value, of word i / 64.
struct Band {
  std::vector<std::uint16_t> bits;
  std::vector<std::uint64_t> mask;  // the same, a word each
};

inline constexpr std::size_t kMaxBandBits = 12;
inline constexpr int kMaxLevels = 4;

// What a plan is made for: some codes and, if they could be looked at, some of their pairs.
struct JoinCase {
  double codes = 0;  // of both sides
  double pairs = 0;  // to be compared by a scan
  std::size_t words_per_code = 1;
  int radius = 0;  // two codes may differ in so many bits
  int budget = 0;  // and in so many of those that no band has had yet
  // Codes XOR codes of pairs drawn at random, words_per_code each. None: taken for uniform.
  std::span<const std::uint64_t> differences;
};

// Nanoseconds of one core.
struct JoinCosts {
  double pair = 0;    // compare two codes in a scan
  double hit = 0;     // look at a pair within the radius
  double query = 0;   // begin with another code in a scan
  double move = 0;    // bring a code into its bucket
  double scan = 0;    // begin a scan
  double bucket = 0;  // have an empty bucket
};
// `pair_ns`: to compare two codes.
JoinCosts join_costs(double pair_ns, std::size_t words_per_code) noexcept;

struct JoinChoice {
  int levels = 0;      // bands that agree before a scan; 0: scan at once
  double cost_ns = 0;  // of that, estimated
  double scan_ns = 0;  // of scanning at once
};

// Whether no bands can make it cheaper than a scan at once, whatever the codes: of budget + 1 bands
// or more each moves every code and begins a scan with it.
bool is_scan_cheapest(const JoinCase& problem, const JoinCosts& costs) noexcept;

// How far to follow bands that are there, in their order.
JoinChoice choose_levels(const JoinCase& problem, std::span<const Band> bands,
                         const JoinCosts& costs);

struct JoinPlan {
  JoinChoice choice;
  std::vector<Band> bands;  // budget + levels of them; none to scan at once
};

// New bands out of the bits in `unused` (words_per_code words). Each takes the bit that parts most
// of the pairs it has not parted yet, the band with most of those first, so that bits that say the
// same or nothing do not come together.
JoinPlan plan_join(const JoinCase& problem, std::span<const std::uint64_t> unused,
                   const JoinCosts& costs);

// Who does some cells that several processes share, by what each costs. What costs more than
// `large` is done by all together, which share it again.
inline constexpr std::uint32_t kAllParts = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoPart = kAllParts - 1;  // there is nothing to do

// `loads`, what each part has to do already, one or more of them; comes back with what is added.
std::vector<std::uint32_t> share_out(std::span<const std::uint64_t> costs, std::uint64_t large,
                                     std::vector<std::uint64_t>& loads);

// What a plan has to do at least, were the codes uniform.
struct JoinWork {
  double moves = 0;  // of a code into a bucket
  double pairs = 0;  // that are compared
};
JoinWork work_of(const JoinCase& problem, const JoinPlan& plan);

}  // namespace winnow::dedup
