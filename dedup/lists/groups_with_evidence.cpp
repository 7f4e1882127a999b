#include "dedup/lists/groups_with_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/json_reader.h"
#include "dedup/cluster/linked_nodes.h"
#include "dedup/decisions/decisions_internal.h"
#include "dedup/leak/leak.h"
#include "dedup/review/decided.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kGroupFile{"WNWGROUP", 1, "file of groups"};

// On disk: never renumber.
constexpr std::uint8_t kChain = 1;
constexpr std::uint8_t kLeak = 2;
constexpr std::uint8_t kConflict = 4;
constexpr std::uint8_t kAllFlags = kChain | kLeak | kConflict;

constexpr std::size_t kMapNumbers = 6;

// The file's columns without the hash.
struct Columns {
  std::uint8_t compared = 0;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint32_t> diameters;
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  std::vector<float> probability;
  std::vector<double> map;
  std::vector<Split> splits;
};

Columns columns_of(const GroupsWithEvidence& told) {
  Columns out;
  out.compared = told.compared ? 1 : 0;
  for (const Group& group : told.groups) {
    out.sizes.push_back(static_cast<std::uint32_t>(group.rows.size()));
    out.flags.push_back(static_cast<std::uint8_t>((group.shape.chain ? kChain : 0) |
                                                  (group.leak ? kLeak : 0) |
                                                  (group.label_conflict ? kConflict : 0)));
    out.diameters.push_back(group.shape.diameter);
    out.members.insert(out.members.end(), group.rows.begin(), group.rows.end());
  }
  for (const VerifiedPair& pair : told.pairs) {
    out.first.push_back(pair.row_a);
    out.second.push_back(pair.row_b);
    out.probability.push_back(pair.probability);
    const Affine& map = pair.map;
    for (const double number : {map.xx, map.xy, map.x0, map.yx, map.yy, map.y0}) {
      out.map.push_back(number);
    }
  }
  out.splits = told.splits;
  return out;
}

// Refuses what the writer cannot have made.
void check(const Columns& in, std::size_t rows, const ColumnFileReader& file) {
  if (in.compared > 1) file.fail("the flag whether pictures were compared is neither 0 nor 1");
  std::vector<bool> is_in_group(rows);
  std::size_t at = 0;
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    if (in.sizes[i] < 2 || in.sizes[i] > in.members.size() - at)
      file.fail("a group has fewer than 2 members or more than there are");
    if ((in.flags[i] & ~kAllFlags) != 0) file.fail("a group has an unknown flag");
    for (std::size_t k = at; k < at + in.sizes[i]; ++k) {
      const std::uint32_t row = in.members[k];
      if (row >= rows || is_in_group[row])
        file.fail("a member of a group is no row, or is in two groups");
      if (k > at && in.members[k - 1] >= row) file.fail("the members of a group do not ascend");
      is_in_group[row] = true;
    }
    at += in.sizes[i];
  }
  if (at != in.members.size()) file.fail("there are members that belong to no group");
  for (std::size_t i = 0; i < in.first.size(); ++i) {
    if (in.first[i] >= in.second[i] || in.second[i] >= rows)
      file.fail("a pair is not two rows in ascending order");
    if (!(in.probability[i] >= 0 && in.probability[i] <= 1)) {
      file.fail("the probability of a pair is not from 0 to 1");
    }
    const double* map = &in.map[kMapNumbers * i];
    if (map[0] * map[4] == map[1] * map[3])
      file.fail("the affine transform of a pair cannot be inverted");
    if (i > 0 &&
        std::pair(in.first[i - 1], in.second[i - 1]) >= std::pair(in.first[i], in.second[i])) {
      file.fail("the pairs do not ascend");
    }
  }
  if (!std::ranges::all_of(in.map, [](double number) { return std::isfinite(number); })) {
    file.fail("the affine transform of a pair is not finite");
  }
  if (!std::ranges::all_of(in.splits,
                           [](Split split) { return static_cast<int>(split) < kSplitCount; })) {
    file.fail("a row has an unknown split");
  }
  if (in.compared == 0 && !in.first.empty())
    file.fail("there are pairs, although pictures were not compared");
}

GroupsWithEvidence groups_of_columns(const Columns& in) {
  GroupsWithEvidence told;
  told.splits = in.splits;
  told.compared = in.compared == 1;
  auto member = in.members.begin();
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    Group group;
    group.rows.assign(member, member + in.sizes[i]);
    member += in.sizes[i];
    group.label_conflict = (in.flags[i] & kConflict) != 0;
    group.leak = (in.flags[i] & kLeak) != 0;
    group.shape = {.diameter = in.diameters[i], .chain = (in.flags[i] & kChain) != 0};
    told.groups.push_back(std::move(group));
  }
  for (std::size_t i = 0; i < in.first.size(); ++i) {
    const double* map = &in.map[kMapNumbers * i];
    told.pairs.push_back({.row_a = in.first[i],
                          .row_b = in.second[i],
                          .probability = in.probability[i],
                          .map = {map[0], map[1], map[2], map[3], map[4], map[5]}});
  }
  return told;
}

}  // namespace

GroupsWithEvidence groups_with_evidence(std::vector<Group> groups, const VerifiedLinks* verified) {
  GroupsWithEvidence told{.groups = std::move(groups), .compared = verified != nullptr};
  if (verified != nullptr) told.pairs = verified->verification.pairs;
  return told;
}

GroupsWithEvidence groups_by_codes(const Selection& selection, const Fingerprints& table,
                                   const CodeColumn* codes, int threshold) {
  std::uint32_t count = 0;
  for (const std::uint32_t group : selection.components) count = std::max(count, group + 1);
  GroupsWithEvidence told{
      .groups = describe_groups(members_of_groups({.of_row = selection.components, .count = count}),
                                table.labels, table.splits)};
  if (codes == nullptr) return told;
  for (Group& group : told.groups) group.shape = shape_of(*codes, group.rows, threshold);
  return told;
}

GroupsWithEvidence components_with_evidence(const Selection& selection, const ColumnSource& columns,
                                            const ComparedBy& by) {
  const bool has_codes = by.hash != kExact;
  const Fingerprints coded = has_codes ? columns({"codes:" + by.hash}) : Fingerprints();
  GroupsWithEvidence told =
      groups_by_codes(selection, columns({"labels"}),
                      has_codes ? coded.find_codes(by.hash) : nullptr, by.threshold);
  if (by.verified == nullptr) return told;
  mark_chains(*by.verified, by.decided, columns, told.groups);
  return groups_with_evidence(std::move(told.groups), by.verified);
}

bool is_made_of_others(const Selection& selection) {
  if (!selection.settings.empty() || selection.size() == 0) return false;
  return *std::ranges::max_element(selection.components) + 1 < selection.size();
}

bool says_more_than_codes(const Selection& selection) {
  try {
    const JsonReader settings(selection.settings, {.name = "the selection's settings"});
    if (settings.has("verified")) return true;
    const auto groups = settings.find("groups");
    const auto scope = settings.find("scope");
    return (groups && groups->text() != group_kind_name(GroupKind::kComponents)) ||
           (scope && scope->text() == scope_name(Scope::kWithin));
  } catch (const FormatError&) {
    return false;
  }
}

Result result_of(Selection selection, const Fingerprints& table, std::vector<Group> groups) {
  Result result;
  result.groups = std::move(groups);
  for (const Group& group : result.groups) {
    result.conflicts += group.label_conflict ? 1 : 0;
    result.chains += group.shape.chain ? 1 : 0;
  }
  for (std::size_t row = 0; row < selection.size(); ++row) {
    const bool stays = selection.weights[row] > 0;
    ++(stays ? result.kept : result.removed);
    const Split own = table.splits[row];
    result.moved += stays && selection.split_of(row, own) != own ? 1 : 0;
  }
  result.leaks = count_leaks(
      {.of_row = selection.components,
       .count = selection.size() == 0 ? 0 : *std::ranges::max_element(selection.components) + 1},
      table.splits);
  result.selection = std::move(selection);
  return result;
}

void mark_chains(const VerifiedLinks& verified, const Decided* decided, const ColumnSource& columns,
                 std::vector<Group>& groups) {
  std::vector<std::uint32_t> rows;
  for (const Group& group : groups) rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  std::ranges::sort(rows);
  const std::size_t count = columns({}).size();
  UnionFind same(count);
  same.unite(equal_edges(columns({"file_hashes"}).file_hashes, rows));
  same.unite(equal_edges(columns({"pixel_hashes"}).pixel_hashes, rows));
  if (decided != nullptr) same.unite(same_edges(*decided, rows));
  const LinkedNodes nodes(std::move(same).components(), verified.edges);
  for (Group& group : groups) group.shape.chain = !nodes.are_all_linked(group.rows);
}

void write_groups(const std::filesystem::path& path, const GroupsWithEvidence& told,
                  const Selection& selection) {
  const Columns out = columns_of(told);
  const Hash128 hash = content_hash(selection);
  const auto view = [](const auto& values) { return std::span(values); };
  const std::vector<ColumnView> columns{
      column("selection", std::span<const std::uint8_t>(hash.bytes)),
      column("compared", std::span(&out.compared, 1)),
      column("sizes", view(out.sizes)),
      column("flags", view(out.flags)),
      column("diameters", view(out.diameters)),
      column("members", view(out.members)),
      column("first", view(out.first)),
      column("second", view(out.second)),
      column("probability", view(out.probability)),
      column("map", view(out.map)),
      column("splits", view(out.splits))};
  write_file_durably(path, column_file(kGroupFile, selection.size(), columns));
}

std::optional<GroupsWithEvidence> read_groups(const InputFile& file, const Selection& selection) {
  ColumnFileReader in(file, kGroupFile, ColumnFileReader::Content::kUnknown);
  Hash128 hash;
  std::ranges::copy(in.take<std::uint8_t>("selection", hash.bytes.size()), hash.bytes.begin());
  if (hash != content_hash(selection)) return std::nullopt;
  Columns out;
  out.compared = in.take<std::uint8_t>("compared", 1).front();
  out.sizes = in.take<std::uint32_t>("sizes", std::nullopt);
  out.flags = in.take<std::uint8_t>("flags", out.sizes.size());
  out.diameters = in.take<std::uint32_t>("diameters", out.sizes.size());
  out.members = in.take<std::uint32_t>("members", std::nullopt);
  out.first = in.take<std::uint32_t>("first", std::nullopt);
  out.second = in.take<std::uint32_t>("second", out.first.size());
  out.probability = in.take<float>("probability", out.first.size());
  out.map = in.take<double>("map", kMapNumbers * out.first.size());
  out.splits = in.take<Split>("splits", std::nullopt);
  if (!out.splits.empty() && out.splits.size() != selection.size()) {
    in.fail("splits of other rows");
  }
  in.finish();
  check(out, selection.size(), in);
  return groups_of_columns(out);
}

}  // namespace winnow::dedup
