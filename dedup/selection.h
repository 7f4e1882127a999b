#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/file.h"
#include "common/sample.h"

namespace winnow::dedup {

// On disk: never renumber.
enum class SelectionMode : std::uint8_t { kKeep = 0, kWeight = 1, kOnePerGroup = 2 };
SelectionMode parse_selection_mode(
    std::string_view name);  // keep, weight, one_per_group; UsageError
std::string_view selection_mode_name(SelectionMode mode) noexcept;

enum class Rule : std::uint8_t {
  kKept = 0,       // alone, or chosen by the keep policy
  kDuplicate = 1,  // another member of its group stands for it, or shares with it
  kLeak = 2,       // removed because its group reaches into another split
  kConflict = 3,   // removed because its group carries labels that differ; nothing is kept instead
  kMoved = 4,      // kept, in another split than its own, because its group reaches there
  kIssue = 5,      // removed because of what it looks like (audit/issue.h); nothing is kept instead
  kReview = 6,     // removed because a review says so; nothing is kept instead
};
inline constexpr int kRuleCount = 7;
std::string_view rule_name(Rule rule) noexcept;  // "kept", "duplicate", "leak", "conflict", ...

// A decision about every row of a fingerprint table, in its order. Deletes nothing; training obeys.
struct Selection {
  std::string name;
  SelectionMode mode = SelectionMode::kKeep;
  std::string settings;      // what decided (settings.h), or nothing
  std::string cache_digest;  // of the manifest it was made for; another cache is refused
  std::vector<SampleId> ids;
  std::vector<float> weights;  // 0: removed
  // Number of the connected component across all splits, from 0 in id order; "groups" in the file.
  std::vector<std::uint32_t> components;
  std::vector<SampleId> kept;            // the one that stands for it; itself where kept
  std::vector<std::uint16_t> distances;  // bits between it and the one kept; 0 for exact
  std::vector<Rule> rules;
  std::vector<Split> splits = {};  // in which each is used; empty: in that of the table

  friend bool operator==(const Selection&, const Selection&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t row_of(SampleId id) const noexcept;  // of an id that is there
  // Of row `row`, whose split in the table is `own`.
  Split split_of(std::size_t row, Split own) const noexcept {
    return splits.empty() ? own : splits[row];
  }
};

// XXH3-128 of all that it says but for its name: one that is kept under another name has the same.
Hash128 content_hash(const Selection& selection);

// One without a name that keeps each of these, alone.
Selection keep_all(std::span<const SampleId> ids);

// Throws FormatError naming `where` unless the columns make a selection: one entry a row each, ids
// ascending, weights finite and not negative, components numbered as said above, kept ones among
// the ids.
void check_selection(const Selection& selection, const std::string& where);

// The file form (docs/formats/selection.md): of version 4 where a sample was removed by a review,
// else of version 3 where one was removed for an issue, else of version 1 where splits are those of
// the table, else of version 2. Equal selections give equal bytes. Throws as check_selection does.
Bytes serialize(const Selection& selection);
// Writes those bytes to `path`, durably.
void write_selection(const std::filesystem::path& path, const Selection& selection);
// Throws FormatError naming `where`, or the file.
Selection parse_selection(BytesView bytes, const std::string& where);
Selection read_selection(const InputFile& file);

}  // namespace winnow::dedup
