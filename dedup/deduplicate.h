#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/index/index.h"
#include "dedup/selection.h"

namespace winnow::dedup {

enum class KeepPolicy { kFirst, kLargest, kSharpest };
enum class Scope {
  kAll,     // duplicates within and across splits are one group
  kWithin,  // only inside each split; leaks between splits are still reported
};

struct Options {
  std::string hash = "phash";  // a row of hashes.h, or "exact" for equal files and pixels only
  int threshold = 4;           // bits; exact duplicates are found at any threshold
  KeepPolicy keep = KeepPolicy::kFirst;
  Scope scope = Scope::kAll;
};

// Samples that are, by links of at most the threshold, one picture. Rows ascending, two or more.
struct Group {
  std::vector<std::uint32_t> rows;
  std::uint32_t kept_row = 0;
  bool label_conflict = false;  // members carry different labels
  bool leak = false;            // members lie in two or more of train, val, test
};

struct LeakCount {
  Split a;
  Split b;
  std::uint64_t groups = 0;       // groups with members in both
  std::uint64_t samples_in_b = 0; // members in b of those groups
};

struct Result {
  Selection selection;         // name and cache_digest empty: the caller's to fill in
  std::vector<Group> groups;   // ordered by first row
  std::vector<LeakCount> leaks;  // pairs with at least one group; (train, test) before (val, test)
  std::uint64_t removed = 0;
  std::uint64_t kept = 0;
  std::uint64_t conflicts = 0;      // groups whose labels differ
  std::uint64_t low_quality = 0;    // rows set apart from perceptual matching (quality 0)
};

// Decides which samples stay. Pure; the result depends on the table and options alone, not on
// threads. Across splits the member of the later-used split is kept (test over val over train), so
// that removing duplicates never removes evaluation samples in favour of training ones; inside a
// split the policy chooses, the lowest id breaking ties. Throws UsageError for an unknown hash or
// one the table lacks, or a threshold outside 0..bits.
Result deduplicate(const Fingerprints& table, const Options& options);

KeepPolicy parse_keep_policy(std::string_view name);  // first, largest, sharpest; UsageError
Scope parse_scope(std::string_view name);             // all, within; UsageError

}  // namespace winnow::dedup
