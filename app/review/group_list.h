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

// In place of groups the pairs that were drawn, each once, in the order of the sample. `table` has
// file_hashes; a pair with a file that the table lacks is left out.
void show_pairs(const dedup::PairSample& sample, const dedup::Fingerprints& table,
                dedup::Result& result);

enum class GroupOrder {
  // The most urgent first, the furthest apart first of those. Pictures by their first issue, or the
  // one that is asked for, the worst first.
  kReason,
  kDistance,  // the furthest apart first
  kFolders,   // those whose folders share most groups first
  kNumber,
  kSize,  // the largest first
};
std::optional<GroupOrder> parse_group_order(std::string_view name) noexcept;

struct GroupFilter {
  std::optional<Split> split = {};         // that has a member
  std::optional<std::string> label = {};   // a class name that a member has
  std::optional<std::string> folder = {};  // that a member lies in
  std::optional<GroupReason> reason = {};
  std::optional<dedup::Issue> issue = {};  // that a picture has
  // In a member's name or one of its labels, as they are shown, or its id; A to Z are as a to z.
  std::optional<std::string> text = {};
  std::uint32_t least = 0;  // of the distance
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

// Any number of groups, sorted, filtered and described as asked for. Names are asked for of what is
// described, and of all once folders are asked for. Safe from many threads.
class GroupList {
 public:
  static constexpr std::size_t kMostMembers = 200;  // that are shown of a group

  // What `input` refers to must outlive it. `pairs`: show_pairs() made its groups.
  GroupList(const GalleryInput& input, bool pairs);
  ~GroupList();

  std::size_t size() const noexcept { return facts_.size(); }
  const std::vector<GroupFacts>& facts() const noexcept { return facts_; }
  GalleryGroup describe(std::uint32_t number) const;
  // File hashes of the members shown of each group: ascending, each once.
  dedup::Ragged<Hash128> images() const;
  // All that members lie in, sorted.
  const std::vector<std::string>& folders() const;

  // The numbers of all groups that pass, in order.
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
