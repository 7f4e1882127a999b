#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Stored landmarks (keypoints with codes) of some pictures, one picture after the other. Codes and
// places are borrowed from `memory`.
struct LandmarkPiece {
  std::shared_ptr<const void> memory;
  std::span<const std::uint64_t> codes;  // as in LandmarkTable::codes()
  std::span<const PackedPlace> places;
  // Landmarks of picture i begin at offsets[i], end before offsets[i + 1].
  std::vector<std::uint64_t> offsets;

  std::size_t pictures() const noexcept { return offsets.size() - 1; }
};
// Converts a table of landmarks to a LandmarkPiece of `pictures` pictures, numbered from 0. The
// owners() of the landmarks are these numbers, ascending.
LandmarkPiece piece_of(LandmarkTable landmarks, std::uint64_t pictures);

// Landmarks of many pictures that were computed earlier, left in mapped files or tables. A search
// reads all of them in place, and only copies those of pictures with hits.
//
// Numbers  Landmarks are numbered from 0 across all pieces, including those of pictures left out.
//          Fewer than 2^32.
// Threads  Any number may read.
class KnownLandmarks {
 public:
  struct Picture {
    std::uint32_t row = 0;
    std::uint32_t first = 0;  // number of the picture's first landmark
    std::span<const std::uint64_t> codes;
    std::span<const PackedPlace> places;

    void append_to(LandmarkTable& landmarks) const;
  };

  KnownLandmarks() = default;  // without pictures
  explicit KnownLandmarks(LandmarkTable landmarks);

  // Adds the landmarks of more pictures.
  // rows    For each picture of the piece its row number; nullopt: the picture is left out.
  //         Ascending, and above all rows before.
  // Errors  UsageError: too many landmarks for 32-bit numbers.
  void add(LandmarkPiece piece, std::vector<std::optional<std::uint32_t>> rows);

  // The number of landmarks, without those of pictures left out.
  std::size_t size() const noexcept { return size_; }
  std::uint32_t end() const noexcept { return end_; }  // behind the last number
  LandmarkTable table() const;  // copies all landmarks, without those of pictures left out
  // The picture that has the landmark; it must not be left out.
  Picture picture_of(std::uint32_t landmark) const;

  // Calls `visit` for each picture that is not left out, by ascending rows.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.rows.size(); ++i) {
        if (part.rows[i]) visit(picture(part, i));
      }
    }
  }

 private:
  struct Part {
    LandmarkPiece piece;
    std::vector<std::optional<std::uint32_t>> rows;
    std::uint32_t first = 0;  // number of its first landmark
  };
  static Picture picture(const Part& part, std::size_t i);

  std::vector<Part> parts_;
  std::uint32_t end_ = 0;
  std::size_t size_ = 0;
};

}  // namespace winnow::dedup
