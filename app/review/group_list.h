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

// Replaces the groups by the drawn pairs, each once, in the order of the sample. `table` has
// file_hashes; a pair with a file that the table lacks is left out.
void show_pairs(const dedup::PairSample& sample, const dedup::Fingerprints& table,
                dedup::Result& result);

enum class GroupOrder {
  // Most urgent first, then furthest apart first. Pictures: by their first issue, or by the one
  // asked for, worst first.
  kReason,
  kDistance,  // furthest apart first
  kFolders,   // groups whose folders share most groups first
  kNumber,
  kSize,  // largest first
};
std::optional<GroupOrder> parse_group_order(std::string_view name) noexcept;

struct GroupFilter {
  std::optional<Split> split = {};         // some member is in this split
  std::optional<std::string> label = {};   // some member has this class name
  std::optional<std::string> folder = {};  // some member is in this folder
  std::optional<GroupReason> reason = {};
  std::optional<dedup::Issue> issue = {};  // issue of a picture
  // Part of a member's displayed name or label, or its id; case-insensitive for A to Z.
  std::optional<std::string> text = {};
  std::uint32_t least = 0;  // least distance
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

// Sorts, filters and describes any number of groups. Asks for names of what it describes, and for
// all names once folders are needed. Thread-safe.
class GroupList {
 public:
  static constexpr std::size_t kMostMembers = 200;  // shown per group

  // The referents of `input` must outlive it. `pairs`: show_pairs() made its groups.
  GroupList(const GalleryInput& input, bool pairs);
  ~GroupList();

  std::size_t size() const noexcept { return facts_.size(); }
  const std::vector<GroupFacts>& facts() const noexcept { return facts_; }
  GalleryGroup describe(std::uint32_t number) const;
  // File hashes of the shown members of each group: ascending, each once.
  dedup::Ragged<Hash128> images() const;
  // All folders of members, sorted.
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
