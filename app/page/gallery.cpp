#include "app/page/gallery.h"

#include <algorithm>
#include <utility>

#include "common/json.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostFolders = 8;

std::uint8_t bit(unsigned place) noexcept { return static_cast<std::uint8_t>(1U << place); }

std::uint8_t reasons_of(const dedup::Group& group, std::uint32_t distance, int threshold) noexcept {
  std::uint8_t reasons = 0;
  const auto add = [&reasons](GroupReason reason, bool holds) {
    if (holds) reasons |= bit(static_cast<unsigned>(reason));
  };
  add(GroupReason::kLeak, group.leak);
  add(GroupReason::kConflict, group.label_conflict);
  add(GroupReason::kChain, group.shape.chain);
  add(GroupReason::kNear, is_near(distance, threshold));
  return reasons;
}

bool stands_for_itself(const dedup::Selection& selection, std::uint32_t row) {
  return selection.kept[row] == selection.ids[row];
}

// The row that stands for most others of a group; the first row if none does.
std::uint32_t representative(const GalleryInput& input, std::size_t number) {
  const dedup::Selection& selection = input.result.selection;
  const std::span<const std::uint32_t> rows = rows_of_group(input, number);
  const bool is_picture = number >= input.result.groups.size();
  for (const std::uint32_t row : rows) {
    if (!is_picture && !stands_for_itself(selection, row)) {
      return static_cast<std::uint32_t>(selection.row_of(selection.kept[row]));
    }
  }
  return rows.front();
}

// The comparison of a row with the one that is kept for it; nullptr: none.
const dedup::VerifiedPair* pair_with_kept(const GalleryInput& input, std::uint32_t row) {
  const dedup::Selection& selection = input.result.selection;
  if (stands_for_itself(selection, row)) return nullptr;
  const auto kept = static_cast<std::uint32_t>(selection.row_of(selection.kept[row]));
  return dedup::find_pair(input.told, row, kept);
}

// See GroupFacts::probability.
float least_probability(const GalleryInput& input, std::span<const std::uint32_t> rows) {
  float least = 0;
  const auto take = [&](const dedup::VerifiedPair& pair) {
    least = least == 0 ? pair.probability : std::min(least, pair.probability);
  };
  for (const std::uint32_t row : rows) {
    if (const dedup::VerifiedPair* pair = pair_with_kept(input, row)) take(*pair);
  }
  const auto stays = [&](std::uint32_t row) {
    return stands_for_itself(input.result.selection, row);
  };
  if (!std::ranges::all_of(rows, stays)) return least;
  for (const std::uint32_t row : rows) {
    auto pair = std::ranges::lower_bound(input.told, row, {}, &dedup::VerifiedPair::row_a);
    for (; pair != input.told.end() && pair->row_a == row; ++pair) {
      if (std::ranges::binary_search(rows, pair->row_b)) take(*pair);
    }
  }
  return least;
}

GalleryMember describe_member(const GalleryInput& input, std::uint32_t row) {
  const dedup::Selection& selection = input.result.selection;
  const dedup::Fingerprints& table = input.table;
  GalleryMember member;
  member.id = table.ids[row];
  member.name = input.name_of(member.id);
  member.split = table.splits[row];
  member.used_in = selection.split_of(row, member.split);
  for (const std::int32_t label : table.labels[row]) {
    member.labels.push_back(name_of_label(input, label));
  }
  member.width_px = table.widths_px[row];
  member.height_px = table.heights_px[row];
  member.distance = selection.distances[row];
  member.fate = selection.rules[row];
  member.weight = selection.weights[row];
  member.hash = table.file_hashes[row];
  if (input.remark_of) member.remark = input.remark_of(row);
  if (const dedup::VerifiedPair* pair = pair_with_kept(input, row)) {
    const auto kept = static_cast<std::uint32_t>(selection.row_of(selection.kept[row]));
    member.probability = pair->probability;
    member.edit = dedup::transformation_words(*pair, table, kept, row);
  }
  return member;
}

Json member_json(const GalleryMember& member) {
  Json labels = Json::array();
  for (const std::string& label : member.labels) labels.push_back(to_utf8(label));
  Json json{{"id", std::to_string(member.id)},   {"name", to_utf8(member.name)},
            {"split", split_name(member.split)}, {"labels", std::move(labels)},
            {"width", member.width_px},          {"height", member.height_px},
            {"distance", member.distance},       {"fate", dedup::rule_name(member.fate)},
            {"weight", member.weight},           {"hash", to_hex(member.hash)},
            {"picture", member.picture}};
  if (!member.remark.empty()) json["remark"] = to_utf8(member.remark);
  if (!member.edit.empty()) {
    json["probability"] = dedup::rounded_score(member.probability);
    json["edit"] = member.edit;
  }
  if (member.used_in != member.split) json["used_in"] = split_name(member.used_in);
  return json;
}

}  // namespace

std::string_view reason_name(GroupReason reason) noexcept {
  switch (reason) {
    case GroupReason::kLeak:
      return "leak";
    case GroupReason::kConflict:
      return "conflict";
    case GroupReason::kChain:
      return "chain";
    case GroupReason::kNear:
      break;
  }
  return "near";
}

bool is_near(std::uint32_t distance, int threshold) noexcept {
  const auto most = static_cast<std::uint32_t>(std::max(threshold, 0));
  return distance > 0 && distance <= most && distance + std::max(1U, most / 8) >= most;
}

std::size_t group_count(const GalleryInput& input) noexcept {
  return input.result.groups.size() + input.pictures.size();
}

std::span<const std::uint32_t> rows_of_group(const GalleryInput& input, std::size_t number) {
  const std::vector<dedup::Group>& groups = input.result.groups;
  return number < groups.size() ? groups[number].rows : input.pictures[number - groups.size()].rows;
}

std::span<const dedup::IssuePicture::Score> scores_of_group(const GalleryInput& input,
                                                            std::size_t number) {
  const std::size_t groups = input.result.groups.size();
  if (number < groups) return {};
  return input.pictures[number - groups].scores;
}

GroupFacts facts_of(const GalleryInput& input, std::size_t number) {
  const std::span<const std::uint32_t> rows = rows_of_group(input, number);
  const dedup::Selection& selection = input.result.selection;
  GroupFacts facts;
  facts.number = static_cast<std::uint32_t>(number);
  facts.size = static_cast<std::uint32_t>(rows.size());
  facts.is_picture = number >= input.result.groups.size();
  for (const auto& score : scores_of_group(input, number)) facts.issues.add(score.issue);
  bool all_stay_for_themselves = true;
  for (const std::uint32_t row : rows) {
    facts.distance = std::max<std::uint32_t>(facts.distance, selection.distances[row]);
    facts.removed += selection.weights[row] > 0 ? 0 : 1;
    facts.splits |= bit(static_cast<unsigned>(input.table.splits[row]));
    all_stay_for_themselves = all_stay_for_themselves && stands_for_itself(selection, row);
  }
  if (facts.is_picture) {
    facts.distance = 0;
  } else {
    const dedup::Group& group = input.result.groups[number];
    facts.diameter = group.shape.diameter;
    if (all_stay_for_themselves) facts.distance = facts.diameter;
    facts.reasons = reasons_of(group, facts.distance, input.threshold);
    facts.probability = least_probability(input, rows);
  }
  const auto labels = input.table.labels[representative(input, number)];
  if (!labels.empty()) facts.label = labels.front();
  return facts;
}

std::vector<GroupFacts> all_facts(const GalleryInput& input) {
  std::vector<GroupFacts> facts;
  facts.reserve(group_count(input));
  for (std::size_t i = 0; i < group_count(input); ++i) facts.push_back(facts_of(input, i));
  return facts;
}

std::vector<std::uint32_t> shown_rows(const GalleryInput& input, std::size_t number,
                                      std::size_t most) {
  const dedup::Selection& selection = input.result.selection;
  std::vector<std::uint32_t> stay;
  std::vector<std::uint32_t> go;
  for (const std::uint32_t row : rows_of_group(input, number)) {
    const bool stays = selection.weights[row] > 0 && stands_for_itself(selection, row);
    (stays ? stay : go).push_back(row);
  }
  const std::uint32_t first = representative(input, number);
  std::stable_partition(stay.begin(), stay.end(), [&](std::uint32_t row) { return row == first; });
  std::ranges::stable_sort(go, std::ranges::greater{},
                           [&](std::uint32_t row) { return selection.distances[row]; });
  if (stay.size() + go.size() > most) {
    const std::size_t half = (most + 1) / 2;
    const std::size_t staying =
        std::min(stay.size(), std::max(half, most - std::min(most, go.size())));
    stay.resize(staying);
    go.resize(std::min(go.size(), most - staying));
  }
  stay.insert(stay.end(), go.begin(), go.end());
  return stay;
}

std::string name_of_label(const GalleryInput& input, std::int32_t label) {
  const auto place = static_cast<std::size_t>(label);
  return label >= 0 && place < input.classes.size() ? input.classes[place] : std::to_string(label);
}

std::string folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return std::string(name.substr(0, slash == std::string_view::npos ? 0 : slash));
}

GalleryGroup describe_group(const GalleryInput& input, const GroupFacts& facts,
                            std::size_t most_members) {
  GalleryGroup group{.facts = facts, .folders = {}, .members = {}};
  const auto scores = scores_of_group(input, facts.number);
  group.scores.assign(scores.begin(), scores.end());
  for (const std::uint32_t row : shown_rows(input, facts.number, most_members)) {
    group.members.push_back(describe_member(input, row));
    group.folders.push_back(folder_of(group.members.back().name));
  }
  std::ranges::sort(group.folders);
  group.folders.erase(std::unique(group.folders.begin(), group.folders.end()), group.folders.end());
  if (group.folders.size() > kMostFolders) group.folders.resize(kMostFolders);
  return group;
}

std::string to_json(const GalleryGroup& group) {
  Json reasons = Json::array();
  for (int i = 0; i < kGroupReasonCount; ++i) {
    const auto reason = static_cast<GroupReason>(i);
    if (group.facts.has(reason)) reasons.push_back(reason_name(reason));
  }
  Json scores = Json::object();
  for (const auto& [issue, score] : group.scores) {
    reasons.push_back(dedup::row_of(issue).name);
    scores[std::string(dedup::row_of(issue).name)] = dedup::rounded_score(score);
  }
  Json splits = Json::array();
  for (int i = 0; i < kSplitCount; ++i) {
    const auto split = static_cast<Split>(i);
    if (group.facts.has(split)) splits.push_back(split_name(split));
  }
  Json folders = Json::array();
  for (const std::string& folder : group.folders) folders.push_back(to_utf8(folder));
  Json members = Json::array();
  for (const GalleryMember& member : group.members) members.push_back(member_json(member));
  Json json{{"number", group.facts.number},     {"reasons", std::move(reasons)},
            {"distance", group.facts.distance}, {"diameter", group.facts.diameter},
            {"splits", std::move(splits)},      {"folders", std::move(folders)},
            {"size", group.facts.size},         {"members", std::move(members)}};
  if (group.facts.probability > 0) {
    json["probability"] = dedup::rounded_score(group.facts.probability);
  }
  if (group.facts.is_picture) json["scores"] = std::move(scores);
  return json.dump();
}

}  // namespace winnow::app
