#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dedup/index/open_index_internal.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/landmark_file.h"

namespace winnow::dedup {
namespace {

LandmarksOf of(const Segment& segment) { return {segment.table.hash, segment.rows}; }

// For each row of the index, its number among the live rows; nullopt unless it is wanted.
std::vector<std::optional<std::uint32_t>> numbers_of(const OpenIndex& index,
                                                     std::span<const std::uint32_t> wanted) {
  std::vector<std::optional<std::uint32_t>> numbers(index.rows());
  auto next = wanted.begin();
  std::uint32_t live_row = 0;
  for (std::uint64_t row = 0; row < index.rows() && next != wanted.end(); ++row) {
    if (!index.live()[row]) continue;
    if (*next == live_row) {
      numbers[row] = live_row;
      ++next;
    }
    ++live_row;
  }
  return numbers;
}

// Landmarks of all rows of a segment, from its thumbnails.
LandmarkPiece find_landmarks_of(const OpenIndex& index, std::size_t segment,
                                const SearchOptions& search) {
  std::vector<std::uint32_t> rows(index.manifest().segments[segment].rows);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const PictureSource pictures =
      pictures_of(index.columns(segment, {"widths_px", "heights_px"}), index.thumbnails(segment));
  return piece_of({rows, pictures, search}, rows.size());
}

}  // namespace

StoredIndex::Landmarks StoredIndex::landmarks(std::span<const std::uint32_t> rows,
                                              const SearchOptions& search) const {
  Landmarks out{.known = std::make_shared<KnownLandmarks>()};
  if (rows.empty()) return out;
  pictures_of({}, thumbnails());  // throws if there are no thumbnails
  const std::vector<Segment>& segments = index_->manifest().segments;
  const std::vector<std::optional<std::uint32_t>> numbers = numbers_of(*index_, rows);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].rows == 0) continue;
    const std::filesystem::path path = index_->folder() / landmarks_name(segments[i]);
    std::optional<LandmarkPiece> piece = find_landmarks_in(path, of(segments[i]));
    if (!piece) {
      piece = find_landmarks_of(*index_, i, search);
      out.made += segments[i].rows;
      std::string why = keep_beside(*index_, segments[i],
                                    [&] { write_landmarks(path, of(segments[i]), *piece); });
      if (!why.empty()) out.not_kept = std::move(why);
    }
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(index_->first_row(i));
    out.known->add(std::move(*piece),
                   {first, first + static_cast<std::ptrdiff_t>(segments[i].rows)});
  }
  return out;
}

}  // namespace winnow::dedup
