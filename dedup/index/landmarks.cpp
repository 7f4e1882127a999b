#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "dedup/index/open_index_internal.h"
#include "dedup/verify/landmark_file.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {
namespace fs = std::filesystem;
namespace {

LandmarksOf of(const Segment& segment) { return {segment.table.hash, segment.rows}; }

// The numbers among the live rows of some of them, by row of the index.
class Numbering {
 public:
  Numbering(const OpenIndex& index, std::span<const std::uint32_t> wanted)
      : numbers_(index.rows(), kNone) {
    auto next = wanted.begin();
    std::uint32_t live_row = 0;
    for (std::uint64_t row = 0; row < index.rows() && next != wanted.end(); ++row) {
      if (!index.live()[row]) continue;
      if (*next == live_row) {
        numbers_[row] = live_row;
        ++next;
      }
      ++live_row;
    }
  }
  std::optional<std::uint32_t> number(std::uint64_t row) const {
    if (numbers_[row] == kNone) return std::nullopt;
    return numbers_[row];
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers_;
};

// Landmarks of all rows of a segment, from its thumbnails.
LandmarkTable find_landmarks_of(const OpenIndex& index, std::size_t segment,
                                const SearchOptions& search) {
  std::vector<std::uint32_t> rows(index.manifest().segments[segment].rows);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const PictureSource pictures =
      pictures_of(index.columns(segment, {"widths_px", "heights_px"}), index.thumbnails(segment));
  return {rows, pictures, search};
}

}  // namespace

StoredIndex::Landmarks StoredIndex::landmarks(std::span<const std::uint32_t> rows,
                                              const SearchOptions& search) const {
  Landmarks out{.table = std::make_shared<LandmarkTable>()};
  if (rows.empty()) return out;
  pictures_of({}, thumbnails());  // throws where there are none
  const std::vector<Segment>& segments = index_->manifest().segments;
  std::vector<std::optional<LandmarkFile>> kept;
  std::size_t count = 0;
  for (const Segment& segment : segments) {
    kept.push_back(LandmarkFile::find(index_->folder() / landmarks_name(segment), of(segment)));
    count += kept.back() ? kept.back()->size() : 0;
  }
  constexpr std::size_t kAsked = 1 << 16;  // that a query appends, without moving them all
  out.table->reserve(count + kAsked);
  const Numbering numbering(*index_, rows);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].rows == 0) continue;
    const auto owner_of = [&](std::uint32_t row) {
      return numbering.number(index_->first_row(i) + row);
    };
    if (kept[i]) {
      kept[i]->append_to(*out.table, owner_of);
      continue;
    }
    const LandmarkTable made = find_landmarks_of(*index_, i, search);
    out.made += segments[i].rows;
    std::string why = keep_beside(*index_, segments[i], [&] {
      write_landmarks(index_->folder() / landmarks_name(segments[i]), of(segments[i]), made);
    });
    if (!why.empty()) out.not_kept = std::move(why);
    out.table->append(made, owner_of);
  }
  return out;
}

}  // namespace winnow::dedup
