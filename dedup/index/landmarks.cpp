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

// Landmarks of all rows of a segment, from its thumbnails.
LandmarkTable find_landmarks_of(const OpenIndex& index, std::size_t segment,
                                const SearchOptions& search) {
  std::vector<std::uint32_t> rows(index.manifest().segments[segment].rows);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const PictureSource pictures =
      pictures_of(index.columns(segment, {"widths_px", "heights_px"}), index.thumbnails(segment));
  return {rows, pictures, search};
}

// Keeps them beside the table. Returns why not, if not. Alone, as a change of the index is: two who
// write one file at a time spoil it, and of a table that a change removes nothing is to be kept.
std::string keep(const OpenIndex& index, const Segment& segment, const LandmarksOf& of,
                 const LandmarkTable& landmarks) {
  try {
    const Fd lock = lock_directory(index.folder());
    if (!fs::exists(index.folder() / segment.table.name)) return "the index has changed";
    write_landmarks(index.folder() / landmarks_name(segment), of, landmarks);
    return {};
  } catch (const UsageError& error) {
    return error.what();
  } catch (const SystemError& error) {
    return error.what();
  }
}

}  // namespace

StoredIndex::Landmarks StoredIndex::landmarks(std::span<const std::uint32_t> rows,
                                              const SearchOptions& search) const {
  Landmarks out{.table = std::make_shared<LandmarkTable>()};
  if (rows.empty()) return out;
  auto wanted = rows.begin();
  std::uint32_t live_row = 0;
  for (std::size_t i = 0; i < segments(); ++i) {
    const Segment& segment = index_->manifest().segments[i];
    if (segment.rows == 0) continue;
    // By row of the segment: its number among the live ones, if that is wanted.
    std::vector<std::optional<std::uint32_t>> owners(segment.rows);
    for (std::uint64_t row = 0; row < segment.rows; ++row) {
      if (!index_->live()[index_->first_row(i) + row]) continue;
      if (wanted != rows.end() && *wanted == live_row) {
        owners[row] = live_row;
        ++wanted;
      }
      ++live_row;
    }
    const auto owner_of = [&](std::uint32_t row) { return owners[row]; };
    const LandmarksOf of{segment.table.hash, segment.rows};
    const fs::path path = index_->folder() / landmarks_name(segment);
    if (const auto kept = LandmarkFile::find(path, of)) {
      kept->append_to(*out.table, owner_of);
      continue;
    }
    const LandmarkTable made = find_landmarks_of(*index_, i, search);
    out.made += segment.rows;
    if (std::string why = keep(*index_, segment, of, made); !why.empty()) out.not_kept = why;
    out.table->append(made, owner_of);
  }
  return out;
}

}  // namespace winnow::dedup
