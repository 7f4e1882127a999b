#include "dedup/sweep/points.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "common/error.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {
namespace {

// At most six digits, without trailing zeros: "12.5".
std::string short_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

// Sorted, without repeats.
template <class T>
std::vector<T> sorted_once(std::vector<T> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void check_axes(const SweepAxes& axes) {
  if (axes.hashes.empty())
    throw UsageError("no hash is given; name one with --hash, such as phash");
  if (axes.thresholds.empty() && axes.removed.empty() && !axes.pictures) {
    throw UsageError(
        "say what to remove: give --threshold, --removed, or --verify to compare pictures");
  }
  for (const double share : axes.removed) {
    if (share >= 0 && share < 1) continue;
    throw UsageError(
        short_text(share) +
        " is not a share of samples to remove; give a number from 0 to below 1, such as 0.25");
  }
  for (const std::string& hash : axes.hashes) {
    const int bits = find_hash(hash).row->bits;  // UsageError for an unknown hash
    for (const int threshold : axes.thresholds) {
      if (threshold >= 0 && threshold <= bits) continue;
      throw UsageError("a threshold of " + std::to_string(threshold) +
                       " bits is out of range for " + hash + ", which has " + std::to_string(bits) +
                       " bits; leave out this threshold or this hash");
    }
  }
}

// All treatments of groups.
std::vector<SweepPoint> ways_of(const SweepAxes& axes, const std::string& hash) {
  std::vector<SweepPoint> ways;
  for (const SelectionMode mode : axes.modes) {
    const bool by_policy = mode == SelectionMode::kKeep;
    for (const KeepPolicy keep : by_policy ? axes.keeps : std::vector{KeepPolicy::kFirst}) {
      ways.push_back({.hash = hash, .keep = keep, .mode = mode});
    }
  }
  return ways;
}

}  // namespace

std::vector<SweepPoint> points_of(const SweepAxes& axes) {
  check_axes(axes);
  std::vector<SweepPoint> points{{.hash = ""}};
  std::set<std::string> seen{name_of(points.front())};
  const auto add = [&](SweepPoint point) {
    if (seen.insert(name_of(point)).second) points.push_back(std::move(point));
  };
  for (const std::string& hash : axes.hashes) {
    for (SweepPoint point : ways_of(axes, hash)) {
      for (const int threshold : sorted_once(axes.thresholds)) {
        point.threshold = threshold;
        add(point);
      }
      point.threshold.reset();
      for (const double share : sorted_once(axes.removed)) {
        if (share == 0) continue;
        point.removed = share;
        add(point);
      }
    }
  }
  if (axes.pictures) {
    for (SweepPoint& point : ways_of(axes, std::string(kByPictures))) add(std::move(point));
  }
  return points;
}

std::string name_of(const SweepPoint& point) {
  if (!point.thins()) return "all";
  std::string hash = point.hash;
  std::ranges::replace_if(
      hash, [](char c) { return c == '@' || c == '/'; }, '.');
  std::string how;
  if (point.threshold) how = "t" + std::to_string(*point.threshold) + "-";
  if (point.removed) how = "r" + short_text(100 * *point.removed) + "-";
  return hash + "-" + how +
         std::string(point.mode == SelectionMode::kKeep ? keep_policy_name(point.keep)
                                                        : selection_mode_name(point.mode));
}

}  // namespace winnow::dedup
