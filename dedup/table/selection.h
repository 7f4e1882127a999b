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

// Values of `mode` in selection files: never renumber.
enum class SelectionMode : std::uint8_t { kKeep = 0, kWeight = 1, kOnePerGroup = 2 };
SelectionMode parse_selection_mode(
    std::string_view name);  // keep, weight, one_per_group; UsageError
std::string_view selection_mode_name(SelectionMode mode) noexcept;

enum class Rule : std::uint8_t {
  kKept = 0,       // alone in its group, or chosen by the keep policy
  kDuplicate = 1,  // another member of its group represents it or shares its weight
  kLeak = 2,       // removed because its group has members in another split
  kConflict = 3,   // removed because labels in its group differ; no other member is kept instead
  kMoved = 4,      // kept, but used in another split than its own, because its group is there
  kIssue = 5,      // removed for an issue such as "dark" (audit/issue.h)
  kReview = 6,     // removed by a review decision; no other sample is kept instead
};
inline constexpr int kRuleCount = 7;
std::string_view rule_name(Rule rule) noexcept;  // "kept", "duplicate", "leak", "conflict", ...

// A selection: a decision about every row of a fingerprint table, in its order. Training follows
// it; nothing is deleted.
struct Selection {
  std::string name;
  SelectionMode mode = SelectionMode::kKeep;
  std::string settings;      // how the selection was made, as JSON (settings.h); may be empty
  std::string cache_digest;  // digest of the manifest of the selection's cache; no other fits
  std::vector<SampleId> ids;
  std::vector<float> weights;  // 0: removed
  // By row: number of its connected component, which spans all splits. Numbered from 0 in id order.
  // Called "groups" in the file.
  std::vector<std::uint32_t> components;
  std::vector<SampleId> kept;            // by row: the sample that represents it; itself if kept
  std::vector<std::uint16_t> distances;  // by row: bits between its code and that of kept[row]
  std::vector<Rule> rules;
  std::vector<Split> splits = {};  // by row: the split it is used in; empty: splits of the table

  friend bool operator==(const Selection&, const Selection&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t row_of(SampleId id) const noexcept;  // the id must exist
  // The split in which a row is used. `own`: the row's split in the table.
  Split split_of(std::size_t row, Split own) const noexcept {
    return splits.empty() ? own : splits[row];
  }
};

// XXH3-128 of everything in a selection except its name: a renamed selection has the same hash.
Hash128 content_hash(const Selection& selection);

// A selection without name that keeps all these samples, each as a component of its own.
Selection keep_all(std::span<const SampleId> ids);

// Throws FormatError naming `where` unless the selection is valid: one entry a row in each column,
// ids ascend, weights are finite and not negative, components are numbered as in Selection, kept
// ids exist.
void check_selection(const Selection& selection, const std::string& where);

// The bytes of a selection's file (docs/formats/selection.md). Equal selections give equal bytes.
// Errors as check_selection().
// Version  4 if a review removed a sample, else 3 if an issue did, else 1 if splits are those of
//          the table, else 2.
Bytes serialize(const Selection& selection);
// Writes the bytes of serialize() to a file. They are on disk when it returns.
void write_selection(const std::filesystem::path& path, const Selection& selection);
// Decode the bytes of serialize(). Throw FormatError naming `where`, or the file.
Selection parse_selection(BytesView bytes, const std::string& where);
Selection read_selection(const InputFile& file);

}  // namespace winnow::dedup
