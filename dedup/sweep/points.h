#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/policy/policy.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// Used in place of a hash's name: duplicates are the pairs verified by comparing pictures
// (verify/verified_links.h).
inline constexpr std::string_view kByPictures = "pictures";

// The axes of a sweep: values of each parameter. All combinations are tried.
struct SweepAxes {
  // Names of hashes, with orientations if wanted (hash_name.h).
  std::vector<std::string> hashes{"phash"};
  std::vector<int> thresholds{};  // bits
  std::vector<double> removed{};  // shares of the training samples to remove, each in [0, 1)
  std::vector<KeepPolicy> keeps{KeepPolicy::kFirst};
  std::vector<SelectionMode> modes{SelectionMode::kKeep};
  bool pictures = false;  // also kByPictures
};

// One setting of a sweep: a threshold, or the share of the training samples to remove. kByPictures
// has neither.
struct SweepPoint {
  std::string hash;  // name, or kByPictures; empty: the baseline, which removes nothing
  std::optional<int> threshold = {};
  std::optional<double> removed = {};
  KeepPolicy keep = KeepPolicy::kFirst;
  SelectionMode mode = SelectionMode::kKeep;

  bool thins() const noexcept { return !hash.empty(); }
  bool by_pictures() const noexcept { return hash == kByPictures; }
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};

// All settings of the axes, each once. First the baseline, which removes nothing; then by hash,
// mode, keep policy, and threshold or share; kByPictures comes last. Pure.
//
// Merged  A share of 0 is the baseline. In modes in which all images of a group stay in use, the
//         keep policy makes no difference, so only one is listed.
// Errors  UsageError: no hash; neither threshold, share nor pictures; an unknown hash; a threshold
//         outside the hash's bits; a share outside [0, 1).
std::vector<SweepPoint> points_of(const SweepAxes& axes);

// The name of a setting's selection: "all", "phash-t6-first", "ahash-r25-largest",
// "phash-r12.5-weight", "pictures-first". Unique, unless two shares have the same six digits.
std::string name_of(const SweepPoint& point);

}  // namespace winnow::dedup
