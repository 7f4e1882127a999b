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

// Groups of duplicates, and pictures by themselves, as data that a page can show: which are worth a
// look, and what is said of each. Pure functions; nothing here reads pictures.
namespace winnow::app {

// Why a group is worth a look, the most urgent first.
enum class GroupReason : std::uint8_t {
  kLeak,      // it reaches into another of train, val and test
  kConflict,  // its labels differ
  kChain,     // some of its members are further apart than the threshold
  kNear,      // its distance is at the threshold, or at most an eighth of it (or 1 bit) below
};
inline constexpr int kGroupReasonCount = 4;
std::string_view reason_name(GroupReason reason) noexcept;  // "leak", "conflict", "chain", "near"
// Whether a distance is that of kNear. None above the threshold is, nor one of 0.
bool is_near(std::uint32_t distance, int threshold) noexcept;

// What groups are described from. All of it must outlive what it is given to.
struct GalleryInput {
  const dedup::Result& result;
  const dedup::Fingerprints& table;      // with labels, widths_px, heights_px and file_hashes
  int threshold = 0;                     // bits; 0: equal files and pixels only
  std::span<const std::string> classes;  // names by label; a label beyond is shown as its number
  dedup::NameOf name_of;
  // Behind the groups of the result: groups of one file each, shown for their issues.
  std::span<const dedup::IssuePicture> pictures = {};
  // What is said behind the labels of a row, "probably cat"; empty: nothing, of any.
  std::function<std::string(std::uint32_t row)> remark_of = {};
  bool compared = false;       // pictures were, not codes alone
  dedup::ToldPairs told = {};  // what they told
};
// Those of the result and the pictures. The rows of one ascend.
std::size_t group_count(const GalleryInput& input) noexcept;
std::span<const std::uint32_t> rows_of_group(const GalleryInput& input, std::size_t number);
// The issues of a picture; none of a group of duplicates.
std::span<const dedup::IssuePicture::Score> scores_of_group(const GalleryInput& input,
                                                            std::size_t number);

// What is known of every group without asking for a name: 36 bytes each. Pages, lists that review
// serves and its filters all have it from here.
struct GroupFacts {
  std::uint32_t number = 0;    // its place in Result::groups, or behind them in the pictures
  std::uint32_t size = 0;      // members
  std::uint32_t distance = 0;  // the greatest of its members'; the diameter where all stay
  std::uint32_t diameter = 0;  // bits between the two members furthest apart
  std::int32_t label = -1;     // the first of the member that stands for it; -1: none
  std::uint32_t removed = 0;   // members
  // The least that pictures told of a member and the one that is kept for it; where no member goes
  // for another, of two members. 0: they told of none.
  float probability = 0;
  std::uint8_t reasons = 0;     // bit i: GroupReason i
  std::uint8_t splits = 0;      // bit i: Split i has a member
  bool is_picture = false;      // by itself, and no group of duplicates
  dedup::IssueSet issues = {};  // of a picture

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
  Split used_in = Split::kNone;     // where the selection puts it
  std::vector<std::string> labels;  // names of classes; any bytes
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t distance = 0;  // bits to the one that is kept for it
  dedup::Rule fate = dedup::Rule::kKept;
  float weight = 1;      // 0: removed
  Hash128 hash;          // of the file's bytes
  std::string remark{};  // behind the labels; any bytes
  // Where pictures told of it and the one that is kept for it: how probable it is that they show
  // one picture, and what was done to that one to get this, "crop to 62 × 70 %".
  float probability = 0;
  std::string edit{};
  std::string picture{};  // an address, UTF-8; the caller's to fill in, empty: there is none
};

struct GalleryGroup {
  GroupFacts facts;
  std::vector<std::string> folders;    // of the members shown: sorted, each once, at most 8
  std::vector<GalleryMember> members;  // those shown
  std::vector<dedup::IssuePicture::Score> scores = {};  // of a picture
};

// The members of a group that are shown, as rows: those that stay first, one that stands for others
// before the rest of them, then those that go, the furthest first. At most `most`, of which those
// that stay have half where there are more of either.
std::vector<std::uint32_t> shown_rows(const GalleryInput& input, std::size_t number,
                                      std::size_t most);

// Names are asked for of the members shown alone.
GalleryGroup describe_group(const GalleryInput& input, const GroupFacts& facts,
                            std::size_t most_members = 12);

// The name of a class; the number of a label that has none.
std::string name_of_label(const GalleryInput& input, std::int32_t label);

// The part of a name before its last '/'; empty where it has none.
std::string folder_of(std::string_view name);

// One JSON object in one line, ASCII but for names; `id` and `hash` are strings. Beside what
// describe_group() tells it has `size`, as not all members need be there. `used_in` only where that
// is another split. A picture has the names of its issues for reasons, and `scores` by these. Names
// as to_utf8 has them.
std::string to_json(const GalleryGroup& group);

}  // namespace winnow::app
