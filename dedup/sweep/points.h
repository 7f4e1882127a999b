#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/policy/policy.h"
#include "dedup/selection.h"

namespace winnow::dedup {

// In place of a hash: pairs that show one picture (verify/verified_links.h), all that there are.
inline constexpr std::string_view kByPictures = "pictures";

// How hard to thin, in all the ways that are to be compared.
struct SweepAxes {
  std::vector<std::string> hashes{"phash"};  // of orientations too, as hash_name.h has them
  std::vector<int> thresholds{};             // bits
  std::vector<double> removed{};             // shares of the training samples, in [0, 1)
  std::vector<KeepPolicy> keeps{KeepPolicy::kFirst};
  std::vector<SelectionMode> modes{SelectionMode::kKeep};
  bool pictures = false;  // kByPictures as well
};

// One of these ways: either a threshold, or the share that is thinned of the training samples; by
// pictures neither.
struct SweepPoint {
  std::string hash;  // or kByPictures; empty: nothing is thinned, and all else says nothing
  std::optional<int> threshold = {};
  std::optional<double> removed = {};
  KeepPolicy keep = KeepPolicy::kFirst;
  SelectionMode mode = SelectionMode::kKeep;

  bool thins() const noexcept { return !hash.empty(); }
  bool by_pictures() const noexcept { return hash == kByPictures; }
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};

// All points of the axes, each once: first the one that thins nothing, which the others are
// compared with, then by hash, mode, keep policy, and how hard; those by pictures come last.
//
// Once      A share of 0 is the first point. Under modes in which all of a group go on being seen,
//           keep policies make no difference: one of them is there.
// Pure.     Throws UsageError: no hash; neither threshold, share nor pictures; a name that is no
// hash, bits
//           that it has not, a share outside [0, 1).
std::vector<SweepPoint> points_of(const SweepAxes& axes);

// "all", "phash-t6-first", "ahash-r25-largest", "phash-r12.5-weight", "pictures-first": names a
// selection. Different of different points, but for shares that are equal to six digits.
std::string name_of(const SweepPoint& point);

}  // namespace winnow::dedup
