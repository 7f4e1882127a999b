#include "dedup/tune/choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {
namespace {

constexpr std::uint64_t kFewestToCount = 1000;
// Different real photos are near more often than the fit says: for pairs of 500 photos 1.4 to 2.6
// times as often, within 16 bits of pHash and 100 of the longer codes.
constexpr double kHeavierTail = 3;
// Chance pairs expected at the end of a search beyond the threshold, to see whether chance explains
// all pairs.
constexpr double kChancePairsToSee = 20;
// With more images, a search of all pairs of longer codes takes too long to start unasked: two
// million take four minutes on one core.
constexpr std::uint64_t kMostImagesOfLongCodes = 2'000'000;
// A difference in pairs between two hashes that may be chance.
constexpr double kFewPairs = 5;

double pairs_by_chance(const CurvePoint& point, std::uint64_t images) {
  const auto n = static_cast<double>(images);
  return point.chance_probability * n * (n - 1) / 2;
}

double false_by_class(const Curve& curve, const CurvePoint& point) {
  if (!curve.do_labels_tell() || 2 * point.labelled < point.pairs) return 0;
  return curve.false_share(static_cast<double>(point.labelled),
                           static_cast<double>(curve.unequal_of_other_class(point))) *
         static_cast<double>(point.pairs);
}

double counted_by_chance(const Curve& curve, const CurvePoint& point) {
  return kHeavierTail * pairs_by_chance(point, std::max(curve.images, kFewestToCount));
}

// `allowed`: the largest threshold by chance alone.
std::optional<Alike> find_alike(const Curve& curve, const CurvePoint& allowed,
                                const Demand& demand) {
  constexpr double kFewFalse = 5;
  const double by_class = false_by_class(curve, allowed);
  if (by_class >= std::max(kFewFalse, 10 * demand.risk)) {
    return Alike{allowed.threshold, allowed.threshold, allowed.pairs, by_class, true};
  }
  if (curve.do_labels_tell() && allowed.labelled > 0) return std::nullopt;
  const CurvePoint* beyond = &allowed;
  for (const CurvePoint& point : curve.points) {
    if (pairs_by_chance(point, curve.images) > chance_pairs_for(demand)) break;
    if (point.threshold > beyond->threshold) beyond = &point;
  }
  const auto more = static_cast<double>(beyond->pairs - allowed.pairs);
  const double expected =
      pairs_by_chance(*beyond, curve.images) - pairs_by_chance(allowed, curve.images);
  const bool is_alike = more > 10 + 3 * expected && 4 * more > static_cast<double>(allowed.pairs);
  if (!is_alike) return std::nullopt;
  return Alike{allowed.threshold, beyond->threshold, beyond->pairs - allowed.pairs, expected,
               false};
}

HashAndThreshold choice_at(const Curve& curve, int threshold, ThresholdReason reason) {
  const auto last = curve.points.size() - 1;
  const CurvePoint& point = curve.points[std::min(last, static_cast<std::size_t>(threshold))];
  HashAndThreshold choice;
  choice.hash = curve.hash;
  choice.threshold = threshold;
  choice.bits = curve.bits;
  choice.reason = reason;
  choice.images = curve.images;
  choice.pairs = point.pairs;
  choice.false_pairs = expected_false_pairs(curve, point);
  return choice;
}

// Expected false pairs among similar pictures without labels.
double false_if_alike(const Curve& curve, const Alike& alike, const CurvePoint& point) {
  const CurvePoint& beyond = curve.points[static_cast<std::size_t>(alike.beyond)];
  const double rarer = std::sqrt(point.chance_probability / beyond.chance_probability);
  return std::min(1.0, rarer) * static_cast<double>(beyond.pairs);
}

// The largest threshold such that it and all lower ones have less than `risk` false pairs by
// `expected`.
const CurvePoint* largest_below(const Curve& curve, double risk, const auto& expected) {
  const CurvePoint* chosen = nullptr;
  for (const CurvePoint& point : curve.points) {
    if (!(expected(point) < risk)) break;
    chosen = &point;
  }
  return chosen;
}

std::optional<HashAndThreshold> choose_by_risk(const Curve& curve, const Demand& demand) {
  if (curve.images < kFewestToFit) {
    HashAndThreshold choice =
        choice_at(curve, usual_threshold(curve.hash), ThresholdReason::kFewImages);
    choice.false_pairs = 0;
    return choice;
  }
  const auto by_chance = [&](const CurvePoint& point) { return counted_by_chance(curve, point); };
  const CurvePoint* allowed = largest_below(curve, demand.risk, by_chance);
  if (allowed == nullptr) return std::nullopt;
  const std::optional<Alike> alike = find_alike(curve, *allowed, demand);
  const auto expected = [&](const CurvePoint& point) {
    const double usual = expected_false_pairs(curve, point);
    return alike && !alike->by_class ? std::max(usual, false_if_alike(curve, *alike, point))
                                     : usual;
  };
  const CurvePoint* chosen = largest_below(curve, demand.risk, expected);
  if (chosen == nullptr) return std::nullopt;
  const bool ends = chosen == &curve.points.back() && chosen->threshold < curve.bits;
  HashAndThreshold choice = choice_at(
      curve, chosen->threshold, ends ? ThresholdReason::kSearchLimit : ThresholdReason::kRisk);
  choice.false_pairs = expected(*chosen);
  choice.alike = alike;
  return choice;
}

std::optional<HashAndThreshold> choose_by_precision(const Curve& curve, double precision) {
  const auto choice = choose_threshold(curve, precision);
  if (!choice) return std::nullopt;
  HashAndThreshold out = choice_at(curve, choice->threshold, choice->reason);
  const auto last = curve.points.size() - 1;
  out.false_pairs =
      curve.points[std::min(last, static_cast<std::size_t>(choice->threshold))].false_pairs;
  return out;
}

// The results of a search by one hash.
struct SearchRecord {
  std::string hash;
  int radius = 0;
  std::vector<std::uint32_t> rows;
  std::vector<Edge> edges;
  bool too_many = false;
};

void search_with(const LinkSource& search, const CodeColumn& codes,
                 std::span<const std::uint32_t> rows, int radius, const EdgeSink& sink) {
  if (search) {
    search(codes, rows, radius, sink);
  } else {
    find_edges(codes, rows, radius, sink);
  }
}

// The same search, recording its links as long as they are not many more than the images.
LinkSource recorded(const LinkSource& search, SearchRecord& record) {
  return [&search, &record](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                            int radius, const EdgeSink& sink) {
    record.hash = codes.hash;
    record.radius = radius;
    record.rows.assign(rows.begin(), rows.end());
    const std::size_t most = 4 * rows.size() + (1 << 20);
    search_with(search, codes, rows, radius, [&](std::span<const Edge> edges) {
      record.too_many = record.too_many || record.edges.size() + edges.size() > most;
      if (record.too_many) {
        record.edges = {};
      } else {
        record.edges.insert(record.edges.end(), edges.begin(), edges.end());
      }
      sink(edges);
    });
  };
}

// Replays the recorded links for the same question; otherwise searches.
LinkSource replayed(SearchRecord of, LinkSource search) {
  const auto record = std::make_shared<const SearchRecord>(std::move(of));
  return [record, search = std::move(search)](const CodeColumn& codes,
                                              std::span<const std::uint32_t> rows, int radius,
                                              const EdgeSink& sink) {
    const bool is_known = !record->too_many && codes.hash == record->hash &&
                          radius <= record->radius && std::ranges::equal(rows, record->rows);
    if (!is_known) return search_with(search, codes, rows, radius, sink);
    std::vector<Edge> within;
    std::ranges::copy_if(record->edges, std::back_inserter(within), [&](const Edge& edge) {
      return static_cast<int>(edge.distance) <= radius;
    });
    sink(within);
  };
}

}  // namespace

double chance_pairs_for(const Demand& demand) noexcept {
  return std::max(kChancePairsToSee, 4 * demand.risk);
}

double expected_false_pairs(const Curve& curve, const CurvePoint& point) {
  return std::max(counted_by_chance(curve, point), false_by_class(curve, point));
}

std::optional<HashAndThreshold> choose(const Curve& curve, const Demand& demand) {
  return demand.precision ? choose_by_precision(curve, *demand.precision)
                          : choose_by_risk(curve, demand);
}

std::optional<HashAndThreshold> choose(std::span<const Curve> curves, const Demand& demand) {
  const auto true_pairs = [](const HashAndThreshold& choice) {
    return static_cast<double>(choice.pairs) - choice.false_pairs;
  };
  std::vector<HashAndThreshold> choices;
  for (const Curve& curve : curves) {
    if (const auto choice = choose(curve, demand)) choices.push_back(*choice);
  }
  if (choices.empty()) return std::nullopt;
  const double most = true_pairs(std::ranges::max(choices, {}, true_pairs));
  std::erase_if(choices, [&](const auto& choice) { return true_pairs(choice) < most - kFewPairs; });
  return *std::ranges::max_element(choices, {}, &HashAndThreshold::bits);  // ties go to the first
}

std::vector<std::string> worth_comparing(std::span<const std::string> hashes,
                                         std::uint64_t images) {
  const auto is_short = [](const std::string& hash) { return find_hash(hash).row->bits <= 64; };
  std::vector<std::string> out(hashes.begin(), hashes.end());
  if (images <= kMostImagesOfLongCodes || std::ranges::none_of(out, is_short)) return out;
  std::erase_if(out, [&](const std::string& hash) { return !is_short(hash); });
  return out;
}

std::optional<Chosen> measure_and_choose(const ColumnSource& columns,
                                         std::span<const std::string> hashes, const Demand& demand,
                                         const LinkSource& search, const ShownPairs& shown) {
  std::vector<Curve> curves;
  std::vector<SearchRecord> records(hashes.size());
  const Fingerprints table = columns({"quality"});
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    CurveOptions options{.hash = hashes[i],
                         .links = recorded(search, records[i]),
                         .shown = shown,
                         .least_quality = demand.least_quality};
    if (!demand.precision) options.chance_pairs = chance_pairs_for(demand);
    const bool few = matchable_rows(table, hashes[i], demand.least_quality).size() < kFewestToFit;
    if (!demand.precision && few) options.most = usual_threshold(hashes[i]);
    curves.push_back(measure_curve(columns, options));
  }
  const auto choice = choose(curves, demand);
  if (!choice) return std::nullopt;
  const auto record = std::ranges::find(records, choice->hash, &SearchRecord::hash);
  return Chosen{*choice, replayed(std::move(*record), search)};
}

std::optional<HashAndThreshold> choose_by_chance(const ColumnSource& columns,
                                                 const std::string& hash, const Demand& demand) {
  const Curve curve = chance_curve(columns, {.hash = hash,
                                             .chance_pairs = chance_pairs_for(demand),
                                             .least_quality = demand.least_quality});
  return choose(curve, {.risk = demand.risk, .precision = {}});
}

}  // namespace winnow::dedup
