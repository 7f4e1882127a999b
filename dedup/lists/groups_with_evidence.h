#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// The duplicate groups that were reported when a selection was made, with the results of comparing
// pictures. Stored beside the selection so that later reports agree with the first
// (docs/formats/groups.md).
// The selection itself only has connected components.
struct GroupsWithEvidence {
  std::vector<Group> groups;  // as Result has them
  bool compared = false;      // whether pictures were compared, not only files, pixels and codes
  // Results of comparing pictures, sorted by rows; each has rows, probability and map.
  std::vector<VerifiedPair> pairs = {};
  std::vector<Split> splits = {};  // by row: its split as reported; empty: that of the table
};

// Joins groups with the results of comparing pictures.
// verified  The results; nullptr: pictures were not compared.
GroupsWithEvidence groups_with_evidence(std::vector<Group> groups, const VerifiedLinks* verified);

// Makes the groups of a selection that has no file of groups: its connected components of two or
// more rows.
//
// table  Has the labels.
// codes  Used for the diameters of groups; nullptr: the selection compared no codes.
GroupsWithEvidence groups_by_codes(const Selection& selection, const Fingerprints& table,
                                   const CodeColumn* codes, int threshold);

// How the rows of a selection were compared with each other.
struct ComparedBy {
  std::string hash;  // name of the hash that diameters are measured by; kExact: none
  int threshold = 0;
  const VerifiedLinks* verified = nullptr;  // results of comparing pictures; nullptr: not compared
  const Decided* decided = nullptr;         // nullptr: no review
};
// Groups of a selection that are its connected components (as in splits and folds), with the
// results of comparing pictures.
GroupsWithEvidence components_with_evidence(const Selection& selection, const ColumnSource& columns,
                                            const ComparedBy& by);

// Whether groups_by_codes() would lose information: groups that are not components, or links found
// by comparing pictures. Decided by the settings of the selection; false if these are unknown.
bool says_more_than_codes(const Selection& selection);
// Whether a selection with groups was combined from other selections (combine.h). If so, nothing is
// known about comparisons of its pictures.
bool is_made_of_others(const Selection& selection);

// Restores the Result of deduplicate() from its selection and groups, as far as possible. `table`
// has its splits.
Result result_of(Selection selection, const Fingerprints& table, std::vector<Group> groups);

// Marks the groups that are chains: two members are not joined by a link of `verified`. The same as
// deduplicate() marks.
// Rows of equal files or pixels count as one, as do rows that reviewers called the same.
//
// columns  file_hashes and pixel_hashes are read.
// decided  Review decisions; nullptr: none.
void mark_chains(const VerifiedLinks& verified, const Decided* decided, const ColumnSource& columns,
                 std::vector<Group>& groups);

// Writes the file of groups of `selection`. It is on disk when the function returns. Equal groups
// give equal bytes.
// Write it before the selection. It is valid for that selection only, so an interruption is
// harmless.
void write_groups(const std::filesystem::path& path, const GroupsWithEvidence& told,
                  const Selection& selection);
// Reads a file of groups. nullopt if it belongs to another selection.
// Errors  FormatError: damaged, or no file of groups. SystemError: unreadable.
std::optional<GroupsWithEvidence> read_groups(const InputFile& file, const Selection& selection);

}  // namespace winnow::dedup
