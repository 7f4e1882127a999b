#include "app/review/group_list.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "app/page/html.h"
#include "app/page/strata.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"

namespace winnow::app {
namespace {

dedup::Group describe_rows(std::vector<std::uint32_t> rows, const dedup::Fingerprints& table) {
  dedup::Group group;
  group.label_conflict = dedup::labels_differ(table.labels, rows);
  group.leak = dedup::is_leak(table.splits, rows);
  group.rows = std::move(rows);
  return group;
}

// Sets GroupReason::kNear for a pair, by its distance.
void tell_pair(GroupFacts& facts, int threshold) {
  facts.distance = facts.diameter;
  const auto near = static_cast<std::uint8_t>(1U << static_cast<unsigned>(GroupReason::kNear));
  facts.reasons = static_cast<std::uint8_t>((facts.reasons & ~near) |
                                            (is_near(facts.distance, threshold) ? near : 0));
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

void show_pairs(const dedup::PairSample& sample, const dedup::Fingerprints& table,
                dedup::Result& result) {
  std::vector<std::uint32_t> by_hash(table.size());
  std::iota(by_hash.begin(), by_hash.end(), std::uint32_t{0});
  const auto hash_of = [&](std::uint32_t row) { return std::pair(table.file_hashes[row], row); };
  std::ranges::sort(by_hash, {}, hash_of);
  const auto find = [&](const Hash128& hash) -> std::optional<std::uint32_t> {
    const auto at =
        std::ranges::lower_bound(by_hash, std::pair(hash, std::uint32_t{0}), {}, hash_of);
    if (at == by_hash.end() || table.file_hashes[*at] != hash) return std::nullopt;
    return *at;
  };
  result.groups.clear();
  std::set<std::array<Hash128, 2>> seen;
  for (const auto& stratum : sample.strata) {
    for (const auto& pair : stratum.drawn) {
      const auto a = find(pair[0]);
      const auto b = find(pair[1]);
      if (!a || !b || !seen.insert(pair).second) continue;
      dedup::Group group = describe_rows({std::min(*a, *b), std::max(*a, *b)}, table);
      group.shape.diameter = static_cast<std::uint32_t>(stratum.distance);
      result.groups.push_back(std::move(group));
    }
  }
}

std::optional<GroupOrder> parse_group_order(std::string_view name) noexcept {
  if (name == "reason") return GroupOrder::kReason;
  if (name == "distance") return GroupOrder::kDistance;
  if (name == "folders") return GroupOrder::kFolders;
  if (name == "number") return GroupOrder::kNumber;
  if (name == "size") return GroupOrder::kSize;
  return std::nullopt;
}

struct GroupList::Folders {
  std::vector<std::string> names;         // sorted
  dedup::Ragged<std::uint32_t> of_group;  // places in `names`, ascending
  std::vector<std::uint32_t> shared;      // number of groups with the same folders
};

struct GroupList::Lazy {
  std::once_flag folders_read;
  Folders folders;
  std::array<std::once_flag, 5> sorted;
  std::array<std::vector<std::uint32_t>, 5> orders;
};

GroupList::GroupList(const GalleryInput& input, bool pairs)
    : input_(input), facts_(all_facts(input)), lazy_(std::make_unique<Lazy>()) {
  if (!pairs) return;
  for (GroupFacts& facts : facts_) tell_pair(facts, input.threshold);
}

GroupList::~GroupList() = default;

GalleryGroup GroupList::describe(std::uint32_t number) const {
  return describe_group(input_, facts_[number], kMostMembers);
}

dedup::Ragged<Hash128> GroupList::images() const {
  dedup::Ragged<Hash128> images;
  std::vector<Hash128> of_group;
  for (std::uint32_t number = 0; number < size(); ++number) {
    of_group.clear();
    for (const std::uint32_t row : shown_rows(input_, number, kMostMembers)) {
      of_group.push_back(input_.table.file_hashes[row]);
    }
    std::ranges::sort(of_group);
    of_group.erase(std::unique(of_group.begin(), of_group.end()), of_group.end());
    images.push_back(of_group);
  }
  return images;
}

const std::vector<std::string>& GroupList::folders() const { return read_folders().names; }

const GroupList::Folders& GroupList::read_folders() const {
  std::call_once(lazy_->folders_read, [this] {
    Folders& folders = lazy_->folders;
    std::map<std::string, std::uint32_t> places;  // in order of appearance at first
    std::vector<std::vector<std::uint32_t>> of_group(size());
    for (std::uint32_t number = 0; number < size(); ++number) {
      for (const std::uint32_t row : rows_of_group(input_, number)) {
        const auto [at, is_new] = places.emplace(folder_of(input_.name_of(input_.table.ids[row])),
                                                 static_cast<std::uint32_t>(places.size()));
        of_group[number].push_back(at->second);
      }
    }
    std::vector<std::uint32_t> sorted_place(places.size());
    for (const auto& [name, place] : places) {
      sorted_place[place] = static_cast<std::uint32_t>(folders.names.size());
      folders.names.push_back(name);
    }
    std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
    for (auto& places_of_group : of_group) {
      for (std::uint32_t& place : places_of_group) place = sorted_place[place];
      std::ranges::sort(places_of_group);
      places_of_group.erase(std::unique(places_of_group.begin(), places_of_group.end()),
                            places_of_group.end());
      folders.of_group.push_back(places_of_group);
      ++sets[places_of_group];
    }
    for (const auto& set : of_group) folders.shared.push_back(sets[set]);
  });
  return lazy_->folders;
}

const std::vector<std::uint32_t>& GroupList::in_order(GroupOrder order) const {
  const auto place = static_cast<std::size_t>(order);
  std::call_once(lazy_->sorted.at(place), [&] {
    std::vector<std::uint32_t>& numbers = lazy_->orders.at(place);
    numbers.resize(size());
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    const auto sort_by = [&](const auto& key) { std::ranges::stable_sort(numbers, {}, key); };
    const auto near_last = [&](std::uint32_t i) { return ~facts_[i].distance; };
    if (order == GroupOrder::kReason) {
      sort_by([&](std::uint32_t i) { return std::pair(first_reason(facts_[i]), near_last(i)); });
    } else if (order == GroupOrder::kDistance) {
      sort_by(near_last);
    } else if (order == GroupOrder::kSize) {
      sort_by([&](std::uint32_t i) { return ~facts_[i].size; });
    } else if (order == GroupOrder::kFolders) {
      const Folders& folders = read_folders();
      std::ranges::stable_sort(numbers, [&](std::uint32_t a, std::uint32_t b) {
        if (folders.shared[a] != folders.shared[b]) return folders.shared[a] > folders.shared[b];
        return std::ranges::lexicographical_compare(folders.of_group[a], folders.of_group[b]);
      });
    }
  });
  return lazy_->orders.at(place);
}

std::vector<std::int32_t> GroupList::labels_called(const std::string& name) const {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < input_.classes.size(); ++i) {
    if (input_.classes[i] == name) labels.push_back(static_cast<std::int32_t>(i));
  }
  return labels;
}

bool GroupList::has_label(std::uint32_t number, const std::vector<std::int32_t>& labels) const {
  for (const std::uint32_t row : rows_of_group(input_, number)) {
    for (const std::int32_t label : input_.table.labels[row]) {
      if (std::ranges::find(labels, label) != labels.end()) return true;
    }
  }
  return false;
}

bool GroupList::has_text(std::uint32_t number, const std::string& lower) const {
  const auto holds = [&](const std::string& bytes) {
    return lower_case(shown(bytes)).find(lower) != std::string::npos;
  };
  return std::ranges::any_of(rows_of_group(input_, number), [&](std::uint32_t row) {
    const SampleId id = input_.table.ids[row];
    return std::to_string(id) == lower || holds(input_.name_of(id)) ||
           std::ranges::any_of(input_.table.labels[row], [&](std::int32_t label) {
             return holds(name_of_label(input_, label));
           });
  });
}

std::vector<std::uint32_t> GroupList::find(const GroupFilter& filter, GroupOrder order) const {
  const std::string text = lower_case(filter.text.value_or(""));
  const std::vector<std::int32_t> labels =
      filter.label ? labels_called(*filter.label) : std::vector<std::int32_t>();
  std::optional<std::uint32_t> folder;
  if (filter.folder) {
    const std::vector<std::string>& names = folders();
    const auto at = std::ranges::lower_bound(names, *filter.folder);
    if (at == names.end() || *at != *filter.folder) return {};
    folder = static_cast<std::uint32_t>(at - names.begin());
  }
  std::vector<std::uint32_t> found;
  for (const std::uint32_t number : in_order(order)) {
    const GroupFacts& facts = facts_[number];
    if (facts.distance < filter.least || facts.distance > filter.most) continue;
    if (filter.split && !facts.has(*filter.split)) continue;
    if (filter.reason && !facts.has(*filter.reason)) continue;
    if (filter.issue && !facts.issues.has(*filter.issue)) continue;
    if (filter.label && !has_label(number, labels)) continue;
    if (folder && !std::ranges::binary_search(read_folders().of_group[number], *folder)) continue;
    if (!text.empty() && !has_text(number, text)) continue;
    found.push_back(number);
  }
  if (filter.issue && order == GroupOrder::kReason) {
    std::ranges::stable_sort(found, {}, [&](std::uint32_t number) {
      return std::ranges::find(scores_of_group(input_, number), *filter.issue,
                               &dedup::IssuePicture::Score::issue)
          ->score;
    });
  }
  return found;
}

}  // namespace winnow::app
