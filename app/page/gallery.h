#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/checksum.h"
#include "common/sample.h"
#include "dedup/decisions/issues.h"
#include "dedup/lists/report.h"

// Groups of duplicates, and single pictures, as data for a page: which are worth a look, and what
// is said about each. Pure functions; nothing here reads pictures.
namespace winnow::app {

// Why a group is worth a look, most urgent first.
enum class GroupReason : std::uint8_t {
  kLeak,      // it has members in several of train, val and test
  kConflict,  // its labels differ
  kChain,     // some of its members are further apart than the threshold
  kNear,      // its distance is at the threshold, or at most an eighth of it (or 1 bit) below
};
inline constexpr int kGroupReasonCount = 4;
std::string_view reason_name(GroupReason reason) noexcept;  // "leak", "conflict", "chain", "near"
// Whether a distance counts as kNear. Distances above the threshold, and 0, do not.
bool is_near(std::uint32_t distance, int threshold) noexcept;

// Input for the description of groups. All of it must outlive its users.
struct GalleryInput {
  const dedup::Result& result;
  const dedup::Fingerprints& table;  // with labels, widths_px, heights_px and file_hashes
  int threshold = 0;                 // bits; 0: equal files and pixels only
  // names by label; a label without one is shown as its number
  std::span<const std::string> classes;
  dedup::NameOf name_of;
  // Numbered after the groups of the result: pictures that are shown for their issues.
  std::span<const dedup::IssuePicture> pictures = {};
  // Remark after the labels of a row, such as "probably cat"; empty: no remarks.
  std::function<std::string(std::uint32_t row)> remark_of = {};
  bool compared = false;           // pictures were compared, not codes alone
  dedup::ComparedPairs told = {};  // results of comparing the pictures
};
// Groups of the result, then single pictures. Rows of a group ascend.
std::size_t group_count(const GalleryInput& input) noexcept;
std::span<const std::uint32_t> rows_of_group(const GalleryInput& input, std::size_t number);
// The issues of a picture; empty for a group of duplicates.
std::span<const dedup::IssuePicture::Score> scores_of_group(const GalleryInput& input,
                                                            std::size_t number);

// Facts about a group without any names, 36 bytes each. Pages, the lists of review and its filters
// use them.
struct GroupFacts {
  std::uint32_t number = 0;    // place in Result::groups, or after them among the pictures
  std::uint32_t size = 0;      // number of members
  std::uint32_t distance = 0;  // the greatest distance of its members; the diameter if all stay
  std::uint32_t diameter = 0;  // bits between the two members furthest apart
  std::int32_t label = -1;     // first label of the member that stands for it; -1: none
  std::uint32_t removed = 0;   // number of removed members
  // The smallest probability that the pictures give to a member and the one that is kept for it; if
  // no member goes for another, to two members. 0: pictures were not compared.
  float probability = 0;
  std::uint8_t reasons = 0;     // bit i: GroupReason i
  std::uint8_t splits = 0;      // bit i: Split i has a member
  bool is_picture = false;      // a single picture, no group of duplicates
  dedup::IssueSet issues = {};  // issues of a picture

  bool has(GroupReason reason) const noexcept {
    return (reasons >> static_cast<unsigned>(reason) & 1U) != 0;
  }
  bool has(Split split) const noexcept {
    return (splits >> static_cast<unsigned>(split) & 1U) != 0;
  }
};
GroupFacts facts_of(const GalleryInput& input, std::size_t number);
std::vector<GroupFacts> all_facts(const GalleryInput& input);  // in the order of their numbers

// A member of a group, as it is shown.
struct GalleryMember {
  SampleId id = 0;
  std::string name;  // any bytes
  Split split = Split::kNone;
  Split used_in = Split::kNone;     // its split in the selection
  std::vector<std::string> labels;  // names of classes; any bytes
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t distance = 0;  // bits to the one that is kept for it
  dedup::Rule fate = dedup::Rule::kKept;
  float weight = 1;      // 0: removed
  Hash128 hash;          // hash of the file's bytes
  std::string remark{};  // after the labels; any bytes
  // If pictures were compared: the probability that it and the one that is kept for it show one
  // picture, and the edit that turns that one into it, "crop to 62 × 70 %".
  float probability = 0;
  std::string edit{};
  std::string picture{};  // an address, UTF-8, which the caller sets; empty: no picture
};

struct GalleryGroup {
  GroupFacts facts;
  std::vector<std::string> folders;    // folders of the members shown: sorted, each once, at most 8
  std::vector<GalleryMember> members;  // the members shown
  std::vector<dedup::IssuePicture::Score> scores = {};  // scores of a picture
};

// Rows of the members of a group to show, at most `most`.
//
// Order  members that stay, beginning with one that stands for others; then those that go, the
//        furthest first.
// Share  members that stay get half of the places if there are more of both.
std::vector<std::uint32_t> shown_rows(const GalleryInput& input, std::size_t number,
                                      std::size_t most);

// Asks only for names of the members shown.
GalleryGroup describe_group(const GalleryInput& input, const GroupFacts& facts,
                            std::size_t most_members = 12);

// The name of a class; the number of a label without a name.
std::string name_of_label(const GalleryInput& input, std::int32_t label);

// The part of a name before its last '/'; empty if it has none.
std::string folder_of(std::string_view name);

// One JSON object on one line, ASCII except for names (to_utf8).
//
// Fields   as in describe_group(); `id` and `hash` are strings
// size     number of all members, of which only some may be included
// used_in  only if it is another split
// Picture  the names of its issues are its reasons, with `scores` by name
std::string to_json(const GalleryGroup& group);

}  // namespace winnow::app
