#include "dedup/tune/judged.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {
namespace {

using ImagePair = std::array<Hash128, 2>;  // smaller hash first

// The latest judgement of each pair: whether it is a duplicate.
std::map<ImagePair, bool> judged_pairs(std::span<const Review> reviews) {
  constexpr std::size_t kMostImages = 1000;
  std::map<ImagePair, bool> pairs;
  for (const Judgement& judgement : last_said(reviews)) {
    const bool duplicate = judgement.verdict == Verdict::kDuplicate;
    if (!duplicate && judgement.verdict != Verdict::kDifferent) continue;
    const std::size_t images = std::min(judgement.images.size(), kMostImages);
    for (std::size_t i = 0; i < images; ++i) {
      for (std::size_t j = i + 1; j < images; ++j) {
        const auto [a, b] = std::minmax(judgement.images[i], judgement.images[j]);
        pairs[{a, b}] = duplicate;
      }
    }
  }
  return pairs;
}

// Pairs of one distance, drawn with equal probability.
struct Stratum {
  int distance = 0;
  double pairs = 0;  // pairs that it represents
  std::uint64_t judged = 0;
  std::uint64_t duplicates = 0;
};

// The estimate from all strata within a threshold.
JudgedPoint point_of(int threshold, double certain, std::span<const Stratum> strata) {
  JudgedPoint point{.threshold = threshold, .precision = {}, .interval = {}, .found = {}};
  double pairs = 0;    // in judged strata
  double unknown = 0;  // in strata without judged pairs
  double hits = 0;
  double squares = 0;  // sum of squared weights of judged pairs
  for (const Stratum& stratum : strata) {
    if (stratum.distance > threshold) continue;
    point.judged += stratum.judged;
    point.duplicates += stratum.duplicates;
    if (stratum.judged == 0) {
      unknown += stratum.pairs;
      continue;
    }
    const auto judged = static_cast<double>(stratum.judged);
    pairs += stratum.pairs;
    hits += stratum.pairs * static_cast<double>(stratum.duplicates) / judged;
    squares += stratum.pairs * stratum.pairs / judged;
  }
  const double all = certain + pairs + unknown;
  if (!(all > 0)) return point;
  const double trials = pairs > 0 ? pairs * pairs / squares : 0;
  const double share = pairs > 0 ? hits / pairs : 0;
  const Interval of_judged = clopper_pearson(share * trials, trials);
  point.interval = {(certain + of_judged.least * pairs) / all,
                    (certain + of_judged.most * pairs + unknown) / all};
  if (pairs > 0) point.precision = (certain + share * (pairs + unknown)) / all;
  if (pairs + unknown == 0) point.precision = 1;
  return point;
}

// Fills in relative recall, from the number of pairs that each threshold finds.
void add_found(JudgedCurve& curve, const auto& pairs_within) {
  if (curve.points.empty()) return;
  const auto duplicates = [&](const JudgedPoint& point) {
    return *point.precision * pairs_within(point.threshold);
  };
  const JudgedPoint& last = curve.points.back();
  if (!last.precision || !(duplicates(last) > 0)) return;
  const double all = duplicates(last);
  for (JudgedPoint& point : curve.points) {
    if (point.precision) point.found = std::min(1.0, duplicates(point) / all);
  }
}

JudgedCurve by_sample(const PairSample& sample, const std::map<ImagePair, bool>& judged) {
  JudgedCurve out{.hash = sample.hash, .sampled = true, .points = {}};
  std::vector<Stratum> strata;
  for (const PairSample::Stratum& from : sample.strata) {
    Stratum stratum{.distance = from.distance, .pairs = static_cast<double>(from.pairs)};
    for (const ImagePair& pair : from.drawn) {
      const auto said = judged.find(pair);
      if (said == judged.end()) continue;
      ++stratum.judged;
      stratum.duplicates += said->second ? 1 : 0;
    }
    strata.push_back(stratum);
  }
  if (std::ranges::all_of(strata, [](const Stratum& s) { return s.judged == 0; })) return out;
  const auto certain = static_cast<double>(sample.certain);
  int last = 0;  // no pair is further apart, whatever the threshold
  for (const Stratum& stratum : strata) last = std::max(last, stratum.distance);
  for (int t = 0; t <= std::min(last, sample.threshold); ++t) {
    out.points.push_back(point_of(t, certain, strata));
  }
  add_found(out, [&](int threshold) {
    double pairs = certain;
    for (const Stratum& stratum : strata) {
      pairs += stratum.distance <= threshold ? stratum.pairs : 0;
    }
    return pairs;
  });
  return out;
}

// The first row of each judged image.
std::map<Hash128, std::uint32_t> rows_of_images(const std::map<ImagePair, bool>& judged,
                                                const std::vector<Hash128>& file_hashes) {
  std::map<Hash128, std::uint32_t> rows;
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [pair, duplicate] : judged) {
    for (const Hash128& image : pair) rows[image] = kNone;
  }
  for (std::uint32_t row = 0; row < file_hashes.size() && !rows.empty(); ++row) {
    const auto at = rows.find(file_hashes[row]);
    if (at != rows.end()) at->second = std::min(at->second, row);
  }
  std::erase_if(rows, [](const auto& image) { return image.second == kNone; });
  return rows;
}

// Judged pairs of a table by distance; each represents itself only.
std::vector<Stratum> judged_distances(const Curve& curve, const ColumnSource& columns,
                                      const std::map<ImagePair, bool>& judged) {
  const auto rows = rows_of_images(judged, columns({"file_hashes"}).file_hashes);
  const std::vector<Hash128> pixels = columns({"pixel_hashes"}).pixel_hashes;
  const Fingerprints table = columns({"codes:" + curve.hash, "quality"});
  const auto is_enough = is_enough_for(curve.hash, curve.least_quality);
  const CodeColumn& codes = codes_of(table, curve.hash);
  std::map<int, Stratum> at;
  for (const auto& [pair, duplicate] : judged) {
    const auto a = rows.find(pair[0]);
    const auto b = rows.find(pair[1]);
    if (a == rows.end() || b == rows.end()) continue;
    const bool equal = pixels[a->second] == pixels[b->second];
    if (!equal && !(is_enough(table.quality[a->second]) && is_enough(table.quality[b->second])))
      continue;
    const int bits = equal ? 0 : row_distance(codes, a->second, b->second);
    Stratum& stratum = at[bits];
    stratum.distance = bits;
    ++stratum.pairs;
    ++stratum.judged;
    stratum.duplicates += duplicate ? 1 : 0;
  }
  std::vector<Stratum> strata;
  for (const auto& [bits, stratum] : at) strata.push_back(stratum);
  return strata;
}

}  // namespace

JudgedCurve judge_curve(const Curve& curve, const ColumnSource& columns,
                        std::span<const Review> reviews) {
  const std::map<ImagePair, bool> judged = judged_pairs(reviews);
  for (std::size_t i = reviews.size(); i-- > 0;) {
    const std::optional<PairSample>& sample = reviews[i].sample;
    if (sample && sample->hash == curve.hash && sample->least_quality == curve.least_quality) {
      return by_sample(*sample, judged);
    }
  }
  JudgedCurve out{.hash = curve.hash, .sampled = false, .points = {}};
  const std::vector<Stratum> strata = judged_distances(curve, columns, judged);
  if (strata.empty() || curve.points.empty()) return out;
  const int last = std::min(strata.back().distance, curve.points.back().threshold);
  for (int t = 0; t <= last; ++t) {
    // All pairs within a threshold form one stratum.
    Stratum within;
    for (const Stratum& stratum : strata) {
      if (stratum.distance > t) break;
      within.pairs += stratum.pairs;
      within.judged += stratum.judged;
      within.duplicates += stratum.duplicates;
    }
    out.points.push_back(point_of(t, 0, std::span(&within, 1)));
  }
  add_found(out, [&](int threshold) {
    return static_cast<double>(curve.points[static_cast<std::size_t>(threshold)].pairs);
  });
  return out;
}

const JudgedPoint* choose_judged(const JudgedCurve& curve, double precision) {
  const JudgedPoint* choice = nullptr;
  for (const JudgedPoint& point : curve.points) {
    if (point.precision && *point.precision < precision) break;
    if (point.precision && (choice == nullptr || point.judged > choice->judged)) choice = &point;
  }
  return choice;
}

}  // namespace winnow::dedup
