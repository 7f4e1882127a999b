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

// Groups of a selection as they were reported when it was made, stored beside it so that later
// reports agree (docs/formats/groups.md).
// A selection itself only has connected components, and no results of comparing pictures.
struct GroupsWithEvidence {
  std::vector<Group> groups;  // as Result has them
  bool compared = false;      // pictures were compared; else only files, pixels and codes
  // Results of comparing pictures, sorted by rows: rows, probability and map.
  std::vector<VerifiedPair> pairs = {};
  std::vector<Split> splits = {};  // split of each row, as reported; empty: those of the table
};

// verified  Results of comparing pictures; nullptr: not compared.
GroupsWithEvidence groups_with_evidence(std::vector<Group> groups, const VerifiedLinks* verified);

// Groups of a selection without a file of groups: its connected components of two or more rows.
//
// table  Has the labels.
// codes  Give the shapes; nullptr: the selection compared none.
GroupsWithEvidence groups_by_codes(const Selection& selection, const Fingerprints& table,
                                   const CodeColumn* codes, int threshold);

// How the rows of a selection were compared.
struct ComparedBy {
  std::string hash;  // its codes give the shapes; kExact: no shapes
  int threshold = 0;
  const VerifiedLinks* verified = nullptr;  // nullptr: pictures were not compared
  const Decided* decided = nullptr;         // nullptr: no review
};
// Groups of a selection whose groups are its connected components (such as blocks of splits and of
// folds), with the results of comparing pictures.
GroupsWithEvidence components_with_evidence(const Selection& selection, const ColumnSource& columns,
                                            const ComparedBy& by);

// Whether groups_by_codes() would lose information: groups that are not components, or links found
// by comparing pictures. Judged by the settings of the selection; false if these are unknown.
bool says_more_than_codes(const Selection& selection);
// Whether a selection with groups was combined from others (combine.h), so that nothing is known
// about their pictures.
bool is_made_of_others(const Selection& selection);

// The Result that has this selection and these groups, as far as it can be restored. `table` has
// its splits.
Result result_of(Selection selection, const Fingerprints& table, std::vector<Group> groups);

// Marks groups as chains that have two members not joined by a link of `verified`, as deduplicate()
// does.
// Rows of equal files or pixels count as one, as do rows that reviewers called the same.
//
// columns  file_hashes and pixel_hashes are read.
// decided  nullptr: no review.
void mark_chains(const VerifiedLinks& verified, const Decided* decided, const ColumnSource& columns,
                 std::vector<Group>& groups);

// Writes the groups of `selection`, durably. Equal groups give equal bytes.
// Write them before the selection: a reader accepts them for that selection only, so an
// interruption is harmless.
void write_groups(const std::filesystem::path& path, const GroupsWithEvidence& told,
                  const Selection& selection);
// Reads the groups; nullopt if they belong to another selection.
// Errors  FormatError: damaged, or not such a file. SystemError: unreadable.
std::optional<GroupsWithEvidence> read_groups(const InputFile& file, const Selection& selection);

}  // namespace winnow::dedup
