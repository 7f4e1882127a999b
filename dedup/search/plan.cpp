#include "dedup/search/plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace winnow::dedup {
namespace {

double choose(int n, int k) noexcept {
  double ways = 1;
  for (int i = 0; i < k; ++i) ways = ways * (n - i) / (i + 1);
  return ways;
}

bool agree(const std::uint64_t* difference, const Band& band) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t w = 0; w < band.mask.size(); ++w) bits |= difference[w] & band.mask[w];
  return bits == 0;
}

// Scan cost per pair of the cell if `levels` bands agree first, estimated from the sample.
std::array<double, kMaxLevels + 1> sampled_scans(const JoinCase& problem,
                                                 std::span<const Band> bands, int levels,
                                                 const JoinCosts& costs) {
  std::array<double, kMaxLevels + 1> sums{};
  const std::size_t words = problem.words_per_code;
  const std::size_t sample = problem.differences.size() / words;
  for (std::size_t i = 0; i < sample; ++i) {
    const std::uint64_t* difference = problem.differences.data() + i * words;
    int distance = 0;
    for (std::size_t w = 0; w < words; ++w) distance += std::popcount(difference[w]);
    const double cost = costs.pair + (distance <= problem.radius ? costs.hit : 0);
    sums[0] += cost;
    if (levels == 0) continue;
    int equal = 0;
    for (int b = 0; b < problem.budget + levels; ++b) {
      equal += agree(difference, bands[static_cast<std::size_t>(b)]) ? 1 : 0;
      const int level = b + 1 - problem.budget;
      if (level >= 1 && equal >= level) {
        sums[static_cast<std::size_t>(level)] += cost * choose(equal, level);
      }
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(std::max<std::size_t>(sample, 1));
  return sums;
}

// For every bit, the sampled pairs that agree in it.
class Agreement {
 public:
  Agreement(const JoinCase& problem, std::size_t bits)
      : pairs_(problem.differences.size() / problem.words_per_code),
        words_((pairs_ + 63) / 64),
        sets_(bits * words_) {
    for (std::size_t i = 0; i < pairs_; ++i) {
      const std::uint64_t* difference = problem.differences.data() + i * problem.words_per_code;
      for (std::size_t bit = 0; bit < bits; ++bit) {
        const std::uint64_t equal = ~(difference[bit / 64] >> (bit % 64)) & 1;
        sets_[bit * words_ + i / 64] |= equal << (i % 64);
      }
    }
  }

  std::vector<std::uint64_t> all_pairs() const {
    std::vector<std::uint64_t> set(words_, ~std::uint64_t{0});
    if (pairs_ % 64 != 0) set.back() >>= 64 - pairs_ % 64;
    return set;
  }
  std::size_t left(const std::vector<std::uint64_t>& set, std::size_t bit) const noexcept {
    std::size_t count = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      count += static_cast<std::size_t>(std::popcount(set[w] & sets_[bit * words_ + w]));
    }
    return count;
  }
  void take(std::vector<std::uint64_t>& set, std::size_t bit) const noexcept {
    for (std::size_t w = 0; w < words_; ++w) set[w] &= sets_[bit * words_ + w];
  }
  std::size_t pairs() const noexcept { return pairs_; }

 private:
  std::size_t pairs_;
  std::size_t words_;
  std::vector<std::uint64_t> sets_;
};

struct Candidate {
  std::uint16_t bit;
  std::size_t agreeing;  // agreeing pairs
};

std::vector<Candidate> useful_bits(const Agreement& agreement,
                                   std::span<const std::uint64_t> unused) {
  std::vector<Candidate> bits;
  const std::vector<std::uint64_t> all = agreement.all_pairs();
  for (std::size_t bit = 0; bit < unused.size() * 64; ++bit) {
    if (((unused[bit / 64] >> (bit % 64)) & 1) == 0) continue;
    const std::size_t agreeing = agreement.left(all, bit);
    if (agreeing > 0 && agreeing == agreement.pairs()) continue;  // constant bit
    bits.push_back({static_cast<std::uint16_t>(bit), agreeing});
  }
  return bits;
}

std::vector<Band> make_bands(const Agreement& agreement, std::vector<Candidate> bits,
                             std::size_t count, std::size_t words, std::size_t width) {
  std::vector<Band> bands(count, Band{{}, std::vector<std::uint64_t>(words)});
  std::vector<std::vector<std::uint64_t>> together(count, agreement.all_pairs());
  std::vector<std::size_t> pairs(count, agreement.pairs());
  const auto full = [&](std::size_t b) {
    const std::size_t size = bands[b].bits.size();
    return size >= kMaxBandBits || (size >= width && pairs[b] <= (agreement.pairs() >> width));
  };
  while (!bits.empty()) {
    std::size_t band = count;
    for (std::size_t b = 0; b < count; ++b) {
      if (full(b)) continue;
      if (band == count || pairs[b] > pairs[band] ||
          (pairs[b] == pairs[band] && bands[b].bits.size() < bands[band].bits.size())) {
        band = b;
      }
    }
    if (band == count) break;
    std::size_t best = 0;
    std::size_t best_left = std::numeric_limits<std::size_t>::max();
    for (std::size_t c = 0; c < bits.size(); ++c) {
      const std::size_t left = agreement.left(together[band], bits[c].bit);
      if (left < best_left || (left == best_left && bits[c].agreeing < bits[best].agreeing)) {
        best = c;
        best_left = left;
      }
    }
    const std::uint16_t bit = bits[best].bit;
    bits.erase(bits.begin() + static_cast<std::ptrdiff_t>(best));
    bands[band].bits.push_back(bit);
    bands[band].mask[bit / 64] |= std::uint64_t{1} << (bit % 64);
    agreement.take(together[band], bit);
    pairs[band] = best_left;
  }
  return bands;
}

}  // namespace

JoinCosts join_costs(double pair_ns, std::size_t words_per_code) noexcept {
  const auto words = static_cast<double>(words_per_code);
  return {.pair = pair_ns,
          .hit = 2,
          .query = 1.2 + 0.6 * words,
          .move = 1 + 0.6 * words,
          .scan = 10,
          .bucket = 1.5};
}

bool is_scan_cheapest(const JoinCase& problem, const JoinCosts& costs) noexcept {
  const double bands = problem.budget + 1;
  return bands * problem.codes * (costs.move + costs.query) >=
         problem.pairs * costs.pair + problem.codes * costs.query;
}

JoinChoice choose_levels(const JoinCase& problem, std::span<const Band> bands,
                         const JoinCosts& costs) {
  const int most = std::clamp(static_cast<int>(bands.size()) - problem.budget, 0, kMaxLevels);
  const auto sampled = sampled_scans(problem, bands, most, costs);
  JoinChoice choice;
  choice.scan_ns = problem.pairs * std::max(costs.pair, sampled[0]) + problem.codes * costs.query;
  choice.cost_ns = choice.scan_ns;
  double partitions = 0;
  if (most == 0) return choice;
  double width = 0;  // total width of all bands up to the last one of the level
  for (int b = 0; b < problem.budget; ++b) {
    width += static_cast<double>(bands[static_cast<std::size_t>(b)].bits.size());
  }
  for (int level = 1; level <= most; ++level) {
    const int used = problem.budget + level;
    width += static_cast<double>(bands[static_cast<std::size_t>(used - 1)].bits.size());
    const double band_width = width / used;
    const double ways = choose(used, level);
    const double cells = std::exp2(band_width * (level - 1));
    partitions += ways * (problem.codes * costs.move +
                          std::min(cells, problem.codes) * std::exp2(band_width) * costs.bucket);
    const double uniform = ways * std::exp2(-band_width * level) * costs.pair;
    const double cost =
        partitions +
        ways * (problem.codes * costs.query +
                std::min(problem.codes / 2, cells * std::exp2(band_width)) * costs.scan) +
        problem.pairs * std::max(uniform, sampled[static_cast<std::size_t>(level)]);
    if (cost < choice.cost_ns) {
      choice.levels = level;
      choice.cost_ns = cost;
    }
  }
  return choice;
}

JoinPlan plan_join(const JoinCase& problem, std::span<const std::uint64_t> unused,
                   const JoinCosts& costs) {
  const Agreement agreement(problem, unused.size() * 64);
  const std::vector<Candidate> bits = useful_bits(agreement, unused);
  JoinPlan plan;
  plan.choice = choose_levels(problem, {}, costs);
  for (int levels = 1; levels <= kMaxLevels; ++levels) {
    const auto count = static_cast<std::size_t>(problem.budget + levels);
    if (bits.size() < count) break;
    const double width = std::ceil(std::log2(std::max(problem.codes, 2.0)) / levels);
    std::vector<Band> bands = make_bands(agreement, bits, count, problem.words_per_code,
                                         std::min(kMaxBandBits, static_cast<std::size_t>(width)));
    const JoinChoice choice = choose_levels(problem, bands, costs);
    if (choice.levels == 0 || choice.cost_ns >= plan.choice.cost_ns) continue;
    bands.resize(static_cast<std::size_t>(problem.budget + choice.levels));
    plan = {choice, std::move(bands)};
  }
  return plan;
}

std::vector<std::uint32_t> share_out(std::span<const std::uint64_t> costs, std::uint64_t large,
                                     std::vector<std::uint64_t>& loads) {
  std::vector<std::uint32_t> owners(costs.size(), kNoPart);
  std::vector<std::uint32_t> small;
  for (std::uint32_t cell = 0; cell < costs.size(); ++cell) {
    if (costs[cell] > large) {
      owners[cell] = kAllParts;
    } else if (costs[cell] > 0) {
      small.push_back(cell);
    }
  }
  std::ranges::stable_sort(small, std::ranges::greater{},
                           [&](std::uint32_t cell) { return costs[cell]; });
  using Load = std::pair<std::uint64_t, std::uint32_t>;  // with the number of the part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::uint32_t part = 0; part < loads.size(); ++part) least.emplace(loads[part], part);
  for (const std::uint32_t cell : small) {
    const auto [load, part] = least.top();
    least.pop();
    owners[cell] = part;
    loads[part] = load + costs[cell];
    least.emplace(loads[part], part);
  }
  return owners;
}

JoinWork work_of(const JoinCase& problem, const JoinPlan& plan) {
  JoinWork work{0, problem.pairs};
  double bits = 0;
  for (const Band& band : plan.bands) bits += static_cast<double>(band.bits.size());
  for (int level = 1; level <= plan.choice.levels; ++level) {
    const double ways = choose(problem.budget + level, level);
    work.moves += ways * problem.codes;
    work.pairs =
        problem.pairs * ways * std::exp2(-bits * level / static_cast<double>(plan.bands.size()));
  }
  return work;
}

}  // namespace winnow::dedup
