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

// Duplicate groups and single pictures as data for an HTML page: which are worth a look, and what
// is shown for each. Pure functions; pictures are not read here.
namespace winnow::app {

// Why a duplicate group is worth a look, most urgent reason first.
enum class GroupReason : std::uint8_t {
  kLeak,      // members of the group are in several of train, val and test
  kConflict,  // members of the group have different labels
  kChain,     // two members of the group are further apart than the threshold
  // The distance of the group is at the threshold or just below: by at most 1/8 of it, or 1 bit.
  kNear,
};
inline constexpr int kGroupReasonCount = 4;
std::string_view reason_name(GroupReason reason) noexcept;  // "leak", "conflict", "chain", "near"
// Whether a Hamming distance in bits counts as kNear. Distances above the threshold, and 0, do not.
bool is_near(std::uint32_t distance, int threshold) noexcept;

// Input for the description of groups. All referenced objects must outlive the objects that use it.
struct GalleryInput {
  const dedup::Result& result;
  // The images' fingerprints, with columns labels, widths_px, heights_px, file_hashes.
  const dedup::Fingerprints& table;
  // Threshold of duplicates: Hamming distance in bits; 0: only equal files and equal pixels.
  int threshold = 0;
  // Names of classes by label. A label without a name is shown as its number.
  std::span<const std::string> classes;
  dedup::NameOf name_of;
  // Single pictures to show for their issues. They are numbered after the groups of `result`.
  std::span<const dedup::IssuePicture> pictures = {};
  // A remark to show after the labels of a row, such as "probably cat". Empty: no remarks.
  std::function<std::string(std::uint32_t row)> remark_of = {};
  // True if duplicates were decided by comparing pictures, not by codes alone.
  bool compared = false;
  dedup::ComparedPairs told = {};  // results of comparing the pictures, if `compared`
};
// Number of groups and single pictures together, and the rows of one of them, ascending. Single
// pictures are numbered after the groups.
std::size_t group_count(const GalleryInput& input) noexcept;
std::span<const std::uint32_t> rows_of_group(const GalleryInput& input, std::size_t number);
// The issue scores of a single picture. Empty for a duplicate group.
std::span<const dedup::IssuePicture::Score> scores_of_group(const GalleryInput& input,
                                                            std::size_t number);

// Facts about one group or single picture, without names. 36 bytes, so that all of them fit into
// memory. Used by pages, and by the lists and filters of `winnow review`.
struct GroupFacts {
  // Number of the group, an index into Result::groups; single pictures are numbered after the
  // groups.
  std::uint32_t number = 0;
  std::uint32_t size = 0;  // number of members
  // Greatest distance in bits between a removed member and the one kept for it; `diameter` if none
  // is removed.
  std::uint32_t distance = 0;
  std::uint32_t diameter = 0;  // distance in bits between the two members furthest apart
  std::int32_t label = -1;     // first label of the member that stands for the group; -1: no label
  std::uint32_t removed = 0;   // number of removed members of the group
  // The smallest probability, from comparing pictures, that a removed member and the one kept for
  // it show one picture. If no member is removed: the smallest over pairs of members. 0: pictures
  // were not compared.
  float probability = 0;
  std::uint8_t reasons = 0;     // bit set: bit i stands for GroupReason i
  std::uint8_t splits = 0;      // bit set: bit i is set if a member is in Split i
  bool is_picture = false;      // true for a single picture, false for a duplicate group
  dedup::IssueSet issues = {};  // issues of a single picture

  bool has(GroupReason reason) const noexcept {
    return (reasons >> static_cast<unsigned>(reason) & 1U) != 0;
  }
  bool has(Split split) const noexcept {
    return (splits >> static_cast<unsigned>(split) & 1U) != 0;
  }
};
// Computes the facts of one group, or of all groups by ascending number.
GroupFacts facts_of(const GalleryInput& input, std::size_t number);
std::vector<GroupFacts> all_facts(const GalleryInput& input);

// One member of a group, as a page shows it.
struct GalleryMember {
  SampleId id = 0;
  std::string name;                 // name of the image; any bytes
  Split split = Split::kNone;       // split of the image in its source
  Split used_in = Split::kNone;     // split of the image in the selection
  std::vector<std::string> labels;  // names of the classes of the image; any bytes
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t distance = 0;  // Hamming distance in bits to the member that is kept for this one
  dedup::Rule fate = dedup::Rule::kKept;
  float weight = 1;      // weight in the selection; 0: removed
  Hash128 hash;          // hash of the bytes of the image file
  std::string remark{};  // remark to show after the labels; any bytes
  // Only if pictures were compared: the probability that this member and the one kept for it show
  // one picture, and the edit that turns the kept one into this one, such as "crop to 62 × 70 %".
  float probability = 0;
  std::string edit{};
  std::string picture{};  // address of the picture in UTF-8, set by the caller; empty: no picture
};

struct GalleryGroup {
  GroupFacts facts;
  std::vector<std::string> folders;    // folders of the shown members: sorted, each once, at most 8
  std::vector<GalleryMember> members;  // shown members of the group, not all of a large group
  std::vector<dedup::IssuePicture::Score> scores = {};  // issue scores of a single picture
};

// Chooses which members of a group are shown: rows, at most `most`.
//
// Order  kept members, first one that removed members are duplicates of; then removed members,
//        furthest first
// Share  if there are too many of both, half of the places are for kept members
std::vector<std::uint32_t> shown_rows(const GalleryInput& input, std::size_t number,
                                      std::size_t most);

// Describes a group for a page. Reads only the names of the members shown.
GalleryGroup describe_group(const GalleryInput& input, const GroupFacts& facts,
                            std::size_t most_members = 12);

// The name of the class of a label; the number of the label if it has no name.
std::string name_of_label(const GalleryInput& input, std::int32_t label);

// The folder of a file's name: the part before its last '/'. Empty if it has no '/'.
std::string folder_of(std::string_view name);

// Formats a group as one JSON object on one line, ASCII except for names (to_utf8).
//
// Fields   as in describe_group(); `id` and `hash` are strings
// size     number of all members, even if only some are included
// used_in  only if the selection moves the image to another split
// reasons  of a single picture: names of its issues, with `scores` by name
std::string to_json(const GalleryGroup& group);

}  // namespace winnow::app
