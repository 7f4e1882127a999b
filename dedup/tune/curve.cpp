#include "dedup/tune/curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "common/binomial.h"
#include "common/error.h"
#include "common/rng.h"
#include "dedup/cluster/cluster.h"
#include "dedup/hash/hash_name.h"
#include "dedup/hash/hashes.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

constexpr std::uint32_t kNoClass = ~std::uint32_t{0};

// Numbers for the sets of labels, in any order; kNoClass without labels.
std::vector<std::uint32_t> classes_of(const Ragged<std::int32_t>& labels,
                                      std::span<const std::uint32_t> rows) {
  std::map<std::vector<std::int32_t>, std::uint32_t> numbers;
  std::vector<std::uint32_t> classes;
  classes.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    std::vector<std::int32_t> set = label_set(labels, row);
    const auto number = static_cast<std::uint32_t>(numbers.size());
    classes.push_back(set.empty() ? kNoClass
                                  : numbers.try_emplace(std::move(set), number).first->second);
  }
  return classes;
}

// The probability that two random images have different labels.
double chance_of_other_class(std::vector<std::uint32_t> classes) {
  std::erase(classes, kNoClass);
  if (classes.empty()) return 0;
  std::ranges::sort(classes);
  const auto total = static_cast<double>(classes.size());
  double same = 0;
  for (auto at = classes.begin(); at != classes.end();) {
    const auto end = std::upper_bound(at, classes.end(), *at);
    const double share = static_cast<double>(end - at) / total;
    same += share * share;
    at = end;
  }
  return 1 - same;
}

struct PairCount {
  std::uint64_t pairs = 0;
  std::uint64_t labelled = 0;
  std::uint64_t other_class = 0;

  PairCount& operator+=(const PairCount& more) noexcept {
    pairs += more.pairs;
    labelled += more.labelled;
    other_class += more.other_class;
    return *this;
  }
};

// The images of each distinct code, by class, so that pairs between two codes can be counted
// without visiting each.
class Nodes {
 public:
  // `rows` and `classes` are parallel.
  Nodes(const CodeColumn& codes, std::span<const std::uint32_t> rows,
        std::span<const std::uint32_t> classes, std::size_t table_rows)
      : node_of_row_(table_rows, 0) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      const auto x = codes.code(rows[a]);
      const auto y = codes.code(rows[b]);
      if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y);
      return classes[a] < classes[b];
    };
    std::ranges::sort(order, before);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t row = rows[order[i]];
      const bool is_new =
          i == 0 || !std::ranges::equal(codes.code(rows[order[i - 1]]), codes.code(row));
      if (is_new) begins_.push_back(static_cast<std::uint32_t>(counts_.size()));
      const std::uint32_t label = classes[order[i]];
      if (is_new || counts_.back().label != label) counts_.push_back({label, 0});
      ++counts_.back().images;
      node_of_row_[row] = static_cast<std::uint32_t>(begins_.size() - 1);
    }
    begins_.push_back(static_cast<std::uint32_t>(counts_.size()));
  }

  std::size_t size() const noexcept { return begins_.size() - 1; }
  std::uint32_t of_row(std::uint32_t row) const noexcept { return node_of_row_[row]; }
  std::uint64_t images(std::size_t node) const { return sums_of(node).images; }

  PairCount within(std::size_t node) const {
    const Sums sums = sums_of(node);
    PairCount count{.pairs = sums.images * (sums.images - 1) / 2,
                    .labelled = sums.labelled * (sums.labelled - 1) / 2};
    count.other_class = count.labelled;
    for (const Count& c : counts(node)) {
      if (c.label != kNoClass) count.other_class -= c.images * (c.images - 1) / 2;
    }
    return count;
  }
  PairCount between(std::size_t a, std::size_t b) const {
    const Sums x = sums_of(a);
    const Sums y = sums_of(b);
    PairCount count{.pairs = x.images * y.images, .labelled = x.labelled * y.labelled};
    count.other_class = count.labelled;
    auto other = counts(b).begin();
    for (const Count& c : counts(a)) {
      while (other != counts(b).end() && other->label < c.label) ++other;
      if (other == counts(b).end() || c.label == kNoClass) break;
      if (other->label == c.label) count.other_class -= c.images * other->images;
    }
    return count;
  }

 private:
  struct Count {
    std::uint32_t label;  // kNoClass sorts last
    std::uint64_t images;
  };
  struct Sums {
    std::uint64_t images = 0;
    std::uint64_t labelled = 0;
  };

  std::span<const Count> counts(std::size_t node) const {
    return std::span(counts_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }
  Sums sums_of(std::size_t node) const {
    Sums sums;
    for (const Count& c : counts(node)) {
      sums.images += c.images;
      if (c.label != kNoClass) sums.labelled += c.images;
    }
    return sums;
  }

  std::vector<std::uint32_t> begins_;  // start of each node's counts, and the end
  std::vector<Count> counts_;
  std::vector<std::uint32_t> node_of_row_;
};

struct Distances {
  double mean = 0;
  double independent_bits = 0;
};

// The statistics of a histogram from `first` bits on.
Distances distances_of(std::span<const std::uint32_t> pairs_at, std::size_t first, int bits) {
  double pairs = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t distance = first; distance < pairs_at.size(); ++distance) {
    const double count = pairs_at[distance];
    const auto d = static_cast<double>(distance);
    pairs += count;
    sum += count * d;
    squares += count * d * d;
  }
  const double mean = sum / pairs;
  const double variance = squares / pairs - mean * mean;
  if (!(variance > 0)) return {mean, 0};
  const double share = mean / bits;
  return {mean, share * (1 - share) / (variance / bits / bits)};
}

// The distance at which unrelated pairs begin: this many deviations below the median, because
// copies only lie below it. Distributions are skewed, so half as much again is allowed.
std::size_t begin_of_strangers(std::span<const std::uint32_t> pairs_at, double deviations) {
  std::uint64_t pairs = 0;
  for (const std::uint32_t count : pairs_at) pairs += count;
  std::size_t median = 0;
  for (std::uint64_t below = pairs_at[0]; 2 * below < pairs; below += pairs_at[median]) ++median;
  double above = 0;
  double squares = 0;
  for (std::size_t distance = median; distance < pairs_at.size(); ++distance) {
    const double count = pairs_at[distance];
    const auto beyond = static_cast<double>(distance - median);
    above += count;
    squares += count * beyond * beyond;
  }
  const double least = static_cast<double>(median) - 1.5 * deviations * std::sqrt(squares / above);
  return static_cast<std::size_t>(std::max(0.0, std::ceil(least)));
}

// Distances of random pairs of images, as they are. If a set has many copies, so have the random
// pairs, and a few would widen the distribution considerably. They lie separately below it, and are
// left out.
Distances random_distances(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                           std::uint64_t seed) {
  constexpr int kPairs = 200'000;
  constexpr double kDeviations = 5;
  if (rows.size() < 2) return {};
  CounterRng rng(seed, 0, 0, RandomUse::kStudy);
  const int bits = codes.most_distance();
  const auto upright = [&](std::uint32_t row) {
    return codes.code(row).first(static_cast<std::size_t>(bits) / 64);
  };
  const auto pick = [&] { return rows[rng.below(static_cast<std::uint32_t>(rows.size()))]; };
  std::vector<std::uint32_t> pairs_at(static_cast<std::size_t>(bits) + 1);
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t a = pick();
    std::uint32_t b = pick();
    while (b == a) b = pick();
    ++pairs_at[static_cast<std::size_t>(hamming(upright(a), upright(b)))];
  }
  std::size_t first = begin_of_strangers(pairs_at, kDeviations);
  while (true) {
    const Distances distances = distances_of(pairs_at, first, bits);
    if (!(distances.independent_bits > 0)) return distances;
    const double share = distances.mean / bits;
    const double deviation = bits * std::sqrt(share * (1 - share) / distances.independent_bits);
    const double least = distances.mean - kDeviations * deviation;
    if (least <= static_cast<double>(first)) return distances;
    first = static_cast<std::size_t>(std::ceil(least));
  }
}

// Pairs of equal pixels with different labels on both sides.
std::uint64_t equal_pixels_of_other_class(const std::vector<Hash128>& pixels,
                                          std::span<const std::uint32_t> rows,
                                          std::span<const std::uint32_t> classes) {
  std::vector<std::pair<Hash128, std::uint32_t>> labelled;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (classes[i] != kNoClass) labelled.emplace_back(pixels[rows[i]], classes[i]);
  }
  std::ranges::sort(labelled);
  const auto pairs_of = [&](const auto& is_same) {
    std::uint64_t pairs = 0;
    for (std::size_t begin = 0; begin < labelled.size();) {
      std::size_t end = begin;
      while (end < labelled.size() && is_same(labelled[begin], labelled[end])) ++end;
      pairs += (end - begin) * (end - begin - 1) / 2;
      begin = end;
    }
    return pairs;
  };
  return pairs_of([](const auto& a, const auto& b) { return a.first == b.first; }) -
         pairs_of([](const auto& a, const auto& b) { return a == b; });
}

// Upper bound of a Poisson mean, given `seen` events: that many or fewer occur in one of twenty
// cases (Wilson and Hilferty's approximation).
double upper_mean(double seen) {
  constexpr double kNormal = 1.6449;
  const double k = seen + 1;
  const double root = 1 - 1 / (9 * k) + kNormal / (3 * std::sqrt(k));
  return k * root * root * root;
}

void estimate_by_class(Curve& curve) {
  for (CurvePoint& point : curve.points) {
    if (point.labelled == 0) continue;
    const auto labelled = static_cast<double>(point.labelled);
    const auto other = static_cast<double>(curve.unequal_of_other_class(point));
    const double share = curve.false_share(labelled, other);
    point.false_pairs = share * static_cast<double>(point.pairs);
    point.precision = 1 - share;
    point.precision_at_least =
        1 - curve.false_share(labelled, std::min(labelled, upper_mean(other)));
  }
}

// Probability that two images with such distances are at most `threshold` bits apart in any of
// `orientations`.
double chance_probability(const Distances& random, int bits, int orientations, int threshold) {
  if (!(random.independent_bits > 0)) return 1;
  const double once = binomial_at_most(threshold * random.independent_bits / bits,
                                       random.independent_bits, random.mean / bits);
  return orientations == 1 ? once : -std::expm1(orientations * std::log1p(-once));
}

// The default search radius: as far as chance makes no more pairs than there are images. Most pairs
// are false there, so no good threshold is missed, and the result fits into memory. At least an
// eighth of the bits.
int search_limit(const Distances& random, const CodeColumn& codes, std::size_t images,
                 const std::optional<double>& chance_pairs) {
  const int bits = codes.most_distance();
  const int orientations = codes.orientations;
  int limit = chance_pairs ? 0 : bits / 8;
  if (images < 2 || !(random.independent_bits > 0)) return limit;
  const auto n = static_cast<double>(images);
  const double most = 2 * chance_pairs.value_or(n) / n / (n - 1);
  while (limit < bits && chance_probability(random, bits, orientations, limit + 1) <= most) {
    ++limit;
  }
  return limit;
}

// cut_short  The search ended before chance is visible, so the fit estimates what lies beyond.
void estimate_by_distance(Curve& curve, bool cut_short) {
  // Some hashes only give even distances: only thresholds that find more than the one below count.
  const auto finds_more = [&](std::size_t i) {
    return i == 0 || curve.points[i].pairs > curve.points[i - 1].pairs;
  };
  // Pairs at this threshold or any larger one, relative to the distribution.
  const auto images = static_cast<double>(curve.images);
  double ratio = cut_short ? images * (images - 1) / 2 : -1;
  for (std::size_t i = curve.points.size(); i-- > 0;) {
    if (!finds_more(i)) continue;
    CurvePoint& point = curve.points[i];
    const double expected = point.chance_probability;
    const auto pairs = static_cast<double>(point.pairs);
    const double here = expected > 0 ? pairs / expected : 0;
    ratio = ratio < 0 ? here : std::min(ratio, here);
    point.false_pairs = std::min(pairs, ratio * expected);
    if (point.pairs == 0) continue;
    point.precision = 1 - point.false_pairs / pairs;
    point.precision_at_least = 1 - std::min(1.0, upper_mean(point.false_pairs) / pairs);
  }
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    if (finds_more(i)) continue;
    curve.points[i].false_pairs = curve.points[i - 1].false_pairs;
    curve.points[i].precision = curve.points[i - 1].precision;
    curve.points[i].precision_at_least = curve.points[i - 1].precision_at_least;
  }
}

// Links that connect at each threshold what all links connect: a minimum spanning forest (Kruskal
// 1956). Links may come in any order and number. Holds about 60 bytes a node.
class SpanningForest {
 public:
  explicit SpanningForest(std::size_t nodes) : nodes_(nodes) {}

  void add(const Edge& edge) {
    edges_.push_back(edge);
    if (edges_.size() > 4 * nodes_ + kFew) reduce();
  }
  // Sorted by distance.
  std::vector<Edge> edges() && {
    reduce();
    return std::move(edges_);
  }

 private:
  void reduce() {
    std::ranges::sort(edges_, {}, &Edge::distance);
    UnionFind linked(nodes_);
    std::erase_if(edges_, [&](const Edge& edge) { return !linked.unite(edge); });
  }

  static constexpr std::size_t kFew = 1 << 16;
  std::size_t nodes_;
  std::vector<Edge> edges_;
};

// Counts the groups that the links of each threshold make.
void count_groups(const std::vector<Edge>& forest, const Nodes& nodes, Curve& curve) {
  std::uint64_t grouped = 0;
  std::uint64_t removable = 0;
  std::vector<bool> alone(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::uint64_t images = nodes.images(node);
    alone[node] = images == 1;
    grouped += images == 1 ? 0 : images;
    removable += images - 1;
  }
  auto next = forest.begin();
  for (CurvePoint& point : curve.points) {
    for (; next != forest.end() && static_cast<int>(next->distance) <= point.threshold; ++next) {
      for (const std::uint32_t node : {next->a, next->b}) {
        grouped += alone[node] ? 1 : 0;
        alone[node] = false;
      }
      ++removable;
    }
    point.grouped = grouped;
    point.removable = removable;
  }
}

// The nearest pairs with labels on both sides; they may come in any order.
class NearestLabelled {
 public:
  NearestLabelled(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> classes,
                  std::size_t table_rows)
      : class_of_row_(table_rows, kNoClass) {
    for (std::size_t i = 0; i < rows.size(); ++i) class_of_row_[rows[i]] = classes[i];
  }

  void add(const Edge& edge) {
    if (class_of_row_[edge.a] == kNoClass || class_of_row_[edge.b] == kNoClass) return;
    pairs_.push_back(edge);
    if (pairs_.size() >= 2 * kMostShown) leave_nearest();
  }

  // The share of different labels among pairs whose pictures show one. If no labels differ, none is
  // compared.
  double label_errors(const ShownPairs& shown) {
    leave_nearest();
    const auto begin_alike = std::partition(pairs_.begin(), pairs_.end(), [&](const Edge& edge) {
      return class_of_row_[edge.a] != class_of_row_[edge.b];
    });
    const double differ = count_shown({pairs_.begin(), begin_alike}, shown);
    if (differ == 0) return 0;
    const double alike = count_shown({begin_alike, pairs_.end()}, shown);
    return std::max(0.0, differ - std::sqrt(differ)) / (differ + alike);
  }

 private:
  static double count_shown(std::span<const Edge> pairs, const ShownPairs& shown) {
    if (pairs.empty()) return 0;
    const std::vector<bool> is_shown = shown(pairs);
    return static_cast<double>(std::ranges::count(is_shown, true));
  }
  void leave_nearest() {
    std::ranges::sort(pairs_, {},
                      [](const Edge& edge) { return std::tuple(edge.distance, edge.a, edge.b); });
    if (pairs_.size() > kMostShown) pairs_.resize(kMostShown);
  }

  std::vector<std::uint32_t> class_of_row_;
  std::vector<Edge> pairs_;
};

// Pairs at each distance, and the spanning forest.
struct FoundAt {
  std::vector<PairCount> at;
  std::vector<Edge> forest;
};

FoundAt find_pairs(const CodeColumn& codes, std::span<const std::uint32_t> rows, const Nodes& nodes,
                   NearestLabelled& labelled, int most, const CurveOptions& options) {
  FoundAt found;
  found.at.resize(static_cast<std::size_t>(most) + 1);
  for (std::size_t node = 0; node < nodes.size(); ++node) found.at[0] += nodes.within(node);
  SpanningForest forest(nodes.size());
  const EdgeSink take = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      if (options.shown) labelled.add(edge);
      const Edge between{nodes.of_row(edge.a), nodes.of_row(edge.b), edge.distance};
      if (between.a == between.b) continue;
      found.at[edge.distance] += nodes.between(between.a, between.b);
      forest.add(between);
    }
  };
  if (options.links) {
    options.links(codes, rows, most, take);
  } else {
    find_edges(codes, rows, most, take, options.search);
  }
  found.forest = std::move(forest).edges();
  return found;
}

void estimate(Curve& curve, bool cut_short) {
  const CurvePoint& last = curve.points.back();
  // Labels without any disagreement prove nothing: there may be few pairs, or only one class.
  const bool by_class = curve.do_labels_tell() && 2 * last.labelled >= last.pairs &&
                        curve.unequal_of_other_class(last) > 0;
  curve.by = by_class ? FalsePairs::kByClass : FalsePairs::kByDistance;
  if (by_class) {
    estimate_by_class(curve);
  } else {
    estimate_by_distance(curve, cut_short);
  }
}

// A curve without pairs, and whether it ends before chance is visible.
struct Fit {
  Curve curve;
  bool cut_short = false;
};
Fit fit(const CodeColumn& codes, std::span<const std::uint32_t> rows, const CurveOptions& options) {
  const int bits = codes.most_distance();
  const Distances random = random_distances(codes, rows, options.seed);
  const int limit = search_limit(random, codes, rows.size(), options.chance_pairs);
  const int most = options.most < 0 ? limit : std::min(options.most, bits);
  Fit out;
  out.cut_short = most < limit || options.chance_pairs;
  out.curve.hash = options.hash;
  out.curve.bits = bits;
  out.curve.least_quality = options.least_quality;
  out.curve.images = rows.size();
  out.curve.mean = random.mean;
  out.curve.independent_bits = random.independent_bits;
  for (int t = 0; t <= most; ++t) {
    out.curve.points.push_back(
        {.threshold = t,
         .chance_probability = chance_probability(random, bits, codes.orientations, t),
         .precision = {},
         .precision_at_least = {}});
  }
  return out;
}

}  // namespace

double Curve::false_share(double labelled, double other) const noexcept {
  if (!(labelled > 0)) return 0;
  const double by_errors = label_errors * labelled;
  const double beyond = std::max(0.0, other - by_errors - 2 * std::sqrt(by_errors));
  return std::min(1.0, beyond / (chance - label_errors) / labelled);
}

Curve chance_curve(const ColumnSource& columns, const CurveOptions& options) {
  const Fingerprints table = columns({"codes:" + options.hash, "quality"});
  const CodeColumn& codes = codes_of(table, options.hash);
  return fit(codes, matchable_rows(table, options.hash, options.least_quality), options).curve;
}

Curve measure_curve(const ColumnSource& columns, const CurveOptions& options) {
  const Fingerprints table = columns({"codes:" + options.hash, "quality", "labels"});
  const CodeColumn& codes = codes_of(table, options.hash);
  const std::vector<std::uint32_t> rows =
      matchable_rows(table, options.hash, options.least_quality);
  const std::vector<std::uint32_t> classes = classes_of(table.labels, rows);
  const Nodes nodes(codes, rows, classes, table.size());
  auto [curve, cut_short] = fit(codes, rows, options);
  NearestLabelled labelled(rows, classes, table.size());
  const FoundAt found =
      find_pairs(codes, rows, nodes, labelled, static_cast<int>(curve.points.size()) - 1, options);
  curve.chance = chance_of_other_class(classes);
  PairCount sum;
  for (CurvePoint& point : curve.points) {
    sum += found.at[static_cast<std::size_t>(point.threshold)];
    point.pairs = sum.pairs;
    point.other_class = sum.other_class;
    point.labelled = sum.labelled;
  }
  count_groups(found.forest, nodes, curve);
  if (options.shown) curve.label_errors = labelled.label_errors(options.shown);
  curve.equal_pixels_other_class =
      equal_pixels_of_other_class(columns({"pixel_hashes"}).pixel_hashes, rows, classes);
  estimate(curve, cut_short);
  return curve;
}

std::optional<ThresholdChoice> choose_threshold(const Curve& curve, double precision) {
  std::optional<ThresholdChoice> choice;
  std::uint64_t pairs = 0;  // within the chosen threshold
  int good = -1;            // the largest threshold up to which all are precise
  for (const CurvePoint& point : curve.points) {
    if (point.precision && *point.precision < precision) break;
    good = point.threshold;
    // Among thresholds that find the same, take the smallest: distances may all be even.
    if (choice && point.pairs == pairs) continue;
    choice = {point.threshold, ThresholdReason::kPrecision};
    pairs = point.pairs;
  }
  if (!choice) return std::nullopt;
  if (pairs == 0) {
    return ThresholdChoice{std::min(usual_threshold(curve.hash), good), ThresholdReason::kNoPairs};
  }
  if (good == curve.points.back().threshold) choice->reason = ThresholdReason::kSearchLimit;
  return choice;
}

}  // namespace winnow::dedup
