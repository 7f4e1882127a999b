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

// Stored on disk: never renumber.
enum class SelectionMode : std::uint8_t { kKeep = 0, kWeight = 1, kOnePerGroup = 2 };
SelectionMode parse_selection_mode(
    std::string_view name);  // keep, weight, one_per_group; UsageError
std::string_view selection_mode_name(SelectionMode mode) noexcept;

enum class Rule : std::uint8_t {
  kKept = 0,       // alone, or chosen by the keep policy
  kDuplicate = 1,  // another member of its group represents it or shares its weight
  kLeak = 2,       // removed because its group reaches into another split
  kConflict = 3,   // removed because the labels of its group differ; nothing is kept instead
  kMoved = 4,      // kept in another split than its own, because its group reaches there
  kIssue = 5,      // removed for its looks (audit/issue.h); nothing is kept instead
  kReview = 6,     // removed by a review; nothing is kept instead
};
inline constexpr int kRuleCount = 7;
std::string_view rule_name(Rule rule) noexcept;  // "kept", "duplicate", "leak", "conflict", ...

// A decision about every row of a fingerprint table, in its order. Deletes nothing; training
// follows it.
struct Selection {
  std::string name;
  SelectionMode mode = SelectionMode::kKeep;
  std::string settings;      // how it was decided (settings.h); may be empty
  std::string cache_digest;  // digest of the manifest it was made for; any other cache is refused
  std::vector<SampleId> ids;
  std::vector<float> weights;  // 0: removed
  // Number of the connected component across all splits, from 0 in id order. "groups" in the file.
  std::vector<std::uint32_t> components;
  std::vector<SampleId> kept;            // the sample that represents it; itself if kept
  std::vector<std::uint16_t> distances;  // bits between it and the kept one; 0 for exact duplicates
  std::vector<Rule> rules;
  std::vector<Split> splits = {};  // the split in which each is used; empty: as in the table

  friend bool operator==(const Selection&, const Selection&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t row_of(SampleId id) const noexcept;  // the id must exist
  // The split in which a row is used. `own` is its split in the table.
  Split split_of(std::size_t row, Split own) const noexcept {
    return splits.empty() ? own : splits[row];
  }
};

// XXH3-128 of everything but the name: a renamed selection has the same hash.
Hash128 content_hash(const Selection& selection);

// A nameless selection that keeps all these ids, each in a component of its own.
Selection keep_all(std::span<const SampleId> ids);

// Throws FormatError naming `where` unless the columns make a selection: one entry a row each, ids
// ascend, weights are finite and not negative, components are numbered as above, kept ids exist.
void check_selection(const Selection& selection, const std::string& where);

// The file form (docs/formats/selection.md). Equal selections give equal bytes. Throws as
// check_selection().
// Version  4 if a review removed a sample, else 3 if an issue did, else 1 if splits are those of
//          the table, else 2.
Bytes serialize(const Selection& selection);
// Writes those bytes to `path`, durably.
void write_selection(const std::filesystem::path& path, const Selection& selection);
// Throws FormatError naming `where`, or the file.
Selection parse_selection(BytesView bytes, const std::string& where);
Selection read_selection(const InputFile& file);

}  // namespace winnow::dedup
