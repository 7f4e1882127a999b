#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/selection.h"

namespace winnow::dedup {

// Which member of a group stands for it, among those of one split.
enum class KeepPolicy {
  kFirst,     // lowest id
  kLargest,   // most pixels
  kSharpest,  // greatest sharpness; means little between copies of different size
  kMajority,  // labelled as most of the group are, whatever the split of those
};

// first, largest, sharpest, majority; else a UsageError
KeepPolicy parse_keep_policy(std::string_view name);
std::string_view keep_policy_name(KeepPolicy policy) noexcept;
ColumnNames columns_for(KeepPolicy policy);  // that it judges by

// The member that stands for a group: of the split used latest (test over val over train over
// none), of those by policy, of those the lowest id. `rows` ascending, at least one.
std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          KeepPolicy policy);

struct Fate {
  std::uint32_t kept_row;  // itself where kept
  Rule rule;
  friend bool operator==(const Fate&, const Fate&) = default;
};

// What becomes of each member when `kept_row` stands for the group. Members in val and test keep
// themselves whatever happens; the others go, as kLeak where the kept one is in val or test, else
// as kDuplicate.
std::vector<Fate> decide_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                               std::uint32_t kept_row);

// The labels of a row, ascending, each once.
std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row);

// Whether two members carry different sets of labels. One without labels contradicts nobody.
bool labels_differ(const Ragged<std::int32_t>& labels, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
