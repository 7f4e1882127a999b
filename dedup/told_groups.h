#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "dedup/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// Groups of a selection as they were told when it was made: kept beside it, so that whoever shows
// them later shows the same (docs/formats/groups.md). A selection itself only has its connected
// components, and no word of the pictures.
struct ToldGroups {
  std::vector<Group> groups;  // as Result has them
  bool compared = false;      // pictures told of pairs; else files, pixels and codes alone
  // What pictures told of them, sorted by rows: rows, probability and map.
  std::vector<VerifiedPair> pairs = {};
  std::vector<Split> splits = {};  // of each row, as they were told; empty: those of the table
};

// `verified`: what pictures told; nullptr: they were not compared.
ToldGroups told_groups(std::vector<Group> groups, const VerifiedLinks* verified);

// Groups for a selection that nothing is kept beside: its connected components of two rows or more.
//
// table  has labels
// codes  tell the shapes; nullptr: the selection compared none
ToldGroups groups_by_codes(const Selection& selection, const Fingerprints& table,
                           const CodeColumn* codes, int threshold);

// How the rows of a selection were compared.
struct ComparedBy {
  std::string hash;  // whose codes tell shapes; kExact: none do
  int threshold = 0;
  const VerifiedLinks* verified = nullptr;  // nullptr: pictures were not compared
  const Decided* decided = nullptr;         // nullptr: people said nothing
};
// The groups of a selection whose groups are its connected components, as blocks of splits and of
// folds are, with what pictures told.
ToldGroups told_components(const Selection& selection, const ColumnSource& columns,
                           const ComparedBy& by);

// Whether groups_by_codes() says less than was told: groups that are no components, or links that
// pictures told. By the settings of the selection; false where these are not known.
bool says_more_than_codes(const Selection& selection);
// Whether a selection with groups was made of others (combine.h), of whose pictures nothing is
// known.
bool is_made_of_others(const Selection& selection);

// The result that has this selection and these groups, as far as they tell. `table`: its splits.
Result result_of(Selection selection, const Fingerprints& table, std::vector<Group> groups);

// Marks groups as chains that have two members which no link of `verified` joins, as deduplicate()
// does. Rows of equal files or pixels count as one, and those that people said to be the same.
//
// columns  file_hashes and pixel_hashes are read
// decided  nullptr: nothing was said
void mark_chains(const VerifiedLinks& verified, const Decided* decided, const ColumnSource& columns,
                 std::vector<Group>& groups);

// Writes the groups of `selection`, durably. Write them before the selection: a reader takes them
// for that one alone, whenever the writing of either ends. Equal groups give equal bytes.
void write_groups(const std::filesystem::path& path, const ToldGroups& told,
                  const Selection& selection);
// Nothing where they are of another selection.
// Throws  FormatError where the file is damaged, or none; SystemError where it cannot be read.
std::optional<ToldGroups> read_groups(const InputFile& file, const Selection& selection);

}  // namespace winnow::dedup
