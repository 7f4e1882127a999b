#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/policy/policy.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// In place of a hash: all pairs verified by comparing pictures (verify/verified_links.h).
inline constexpr std::string_view kByPictures = "pictures";

// The parameters of a sweep, to be combined.
struct SweepAxes {
  std::vector<std::string> hashes{"phash"};  // with orientations if wanted, as in hash_name.h
  std::vector<int> thresholds{};             // bits
  std::vector<double> removed{};             // shares of the training samples to remove, in [0, 1)
  std::vector<KeepPolicy> keeps{KeepPolicy::kFirst};
  std::vector<SelectionMode> modes{SelectionMode::kKeep};
  bool pictures = false;  // also kByPictures
};

// One setting of a sweep: a threshold, or a share of the training samples to thin; neither with
// kByPictures.
struct SweepPoint {
  std::string hash;  // or kByPictures; empty: nothing is thinned and the other fields are unused
  std::optional<int> threshold = {};
  std::optional<double> removed = {};
  KeepPolicy keep = KeepPolicy::kFirst;
  SelectionMode mode = SelectionMode::kKeep;

  bool thins() const noexcept { return !hash.empty(); }
  bool by_pictures() const noexcept { return hash == kByPictures; }
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};

// All settings of the axes, each once. First the baseline that thins nothing; then by hash, mode,
// keep policy and strength; kByPictures comes last. Pure.
//
// Merged  A share of 0 is the baseline. In modes where all images of a group stay in use, keep
//         policies make no difference, so only one is listed.
// Errors  UsageError: no hash; neither threshold, share nor pictures; an unknown hash; a threshold
//         outside its bits; a share outside [0, 1).
std::vector<SweepPoint> points_of(const SweepAxes& axes);

// Names a selection: "all", "phash-t6-first", "ahash-r25-largest", "phash-r12.5-weight",
// "pictures-first". Unique, unless shares are equal to six digits.
std::string name_of(const SweepPoint& point);

}  // namespace winnow::dedup
