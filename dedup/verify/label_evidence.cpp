#include "dedup/verify/label_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

constexpr double kSure = 0.9999;
constexpr double kAlarming = 5;

struct Labelled {
  double probability = 0;
  bool differs = false;
};

// Surest first.
std::vector<Labelled> labelled_pairs(std::span<const VerifiedPair> pairs,
                                     const Ragged<std::int32_t>& labels, double least) {
  std::vector<Labelled> found;
  for (const VerifiedPair& pair : pairs) {
    if (pair.probability < least) continue;
    if (labels[pair.row_a].empty() || labels[pair.row_b].empty()) continue;
    const std::array rows{pair.row_a, pair.row_b};
    found.push_back({pair.probability, labels_differ(labels, rows)});
  }
  std::ranges::sort(found, std::ranges::greater(), &Labelled::probability);
  return found;
}

// A number of pairs, and how many of them differ in label.
struct Differing {
  double pairs = 0;
  double differ = 0;

  void add(const Labelled& pair) {
    ++pairs;
    differ += pair.differs ? 1 : 0;
  }
  double rate() const { return pairs == 0 ? 0 : differ / pairs; }
  // Differing pairs beyond those that `rate` explains, with two standard deviations.
  double excess(double rate) const { return differ - rate * pairs - 2 * std::sqrt(rate * pairs); }
};

}  // namespace

double probable_by_labels(std::span<const VerifiedPair> pairs, const Ragged<std::int32_t>& labels,
                          double least) {
  const std::vector<Labelled> found = labelled_pairs(pairs, labels, least);
  const auto doubtful =
      std::ranges::find_if(found, [](const Labelled& pair) { return pair.probability < kSure; });
  Differing sure;
  std::for_each(found.begin(), doubtful, [&](const Labelled& pair) { sure.add(pair); });
  Differing all;
  std::for_each(doubtful, found.end(), [&](const Labelled& pair) { all.add(pair); });
  if (all.excess(sure.rate()) < kAlarming) return least;
  Differing passed;
  for (auto pair = doubtful; pair != found.end(); ++pair) {
    passed.add(*pair);
    const auto next = std::next(pair);
    if (next != found.end() && next->probability == pair->probability) continue;
    if (passed.excess(sure.rate()) <= 0.5) continue;
    return std::clamp((std::floor(pair->probability * 1e4) + 1) / 1e4, least, kSure);
  }
  return least;
}

}  // namespace winnow::dedup
