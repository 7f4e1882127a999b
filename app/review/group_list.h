#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/page/gallery.h"
#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"

namespace winnow::app {

// Replaces the groups of `result` by the sampled pairs, in the order of the sample, each pair once.
// `table` must have file_hashes. Pairs with a file that `table` lacks are left out.
void show_pairs(const dedup::PairSample& sample, const dedup::Fingerprints& table,
                dedup::Result& result);

enum class GroupOrder {
  // By reason, most urgent first, then by distance, largest first. Single pictures: by their first
  // issue, or by the one filtered for, worst score first.
  kReason,
  kDistance,  // by distance, largest first
  kFolders,   // by folders: first groups whose folders share most groups
  kNumber,
  kSize,  // by number of members, largest first
};
std::optional<GroupOrder> parse_group_order(std::string_view name) noexcept;

struct GroupFilter {
  std::optional<Split> split = {};         // a member of the group is in this split
  std::optional<std::string> label = {};   // a member of the group has this class name
  std::optional<std::string> folder = {};  // a member of the group is in this folder
  std::optional<GroupReason> reason = {};
  std::optional<dedup::Issue> issue = {};  // a single picture has this issue
  // Text to find in a member's displayed name, label or id. Case-insensitive for A to Z.
  std::optional<std::string> text = {};
  std::uint32_t least = 0;  // least distance of the group, in bits
  // Greatest distance of the group, in bits.
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

// Sorts, filters and describes any number of groups. Reads the names of groups that it describes;
// of all groups only when folders are first needed. Thread-safe.
class GroupList {
 public:
  static constexpr std::size_t kMostMembers = 200;  // most members that are shown of a group

  // All that `input` refers to must outlive the list. `pairs`: the groups were made by
  // show_pairs().
  GroupList(const GalleryInput& input, bool pairs);
  ~GroupList();

  std::size_t size() const noexcept { return facts_.size(); }
  const std::vector<GroupFacts>& facts() const noexcept { return facts_; }
  GalleryGroup describe(std::uint32_t number) const;
  // The file hashes of the shown members of each group: ascending, each once.
  dedup::Ragged<Hash128> images() const;
  // The folders of all members of all groups, sorted.
  const std::vector<std::string>& folders() const;

  // The numbers of all groups that pass the filter, in order.
  std::vector<std::uint32_t> find(const GroupFilter& filter, GroupOrder order) const;

 private:
  struct Folders;
  const Folders& read_folders() const;
  const std::vector<std::uint32_t>& in_order(GroupOrder order) const;
  std::vector<std::int32_t> labels_called(const std::string& name) const;
  bool has_label(std::uint32_t number, const std::vector<std::int32_t>& labels) const;
  bool has_text(std::uint32_t number, const std::string& lower) const;

  GalleryInput input_;
  std::vector<GroupFacts> facts_;
  struct Lazy;
  std::unique_ptr<Lazy> lazy_;
};

}  // namespace winnow::app
