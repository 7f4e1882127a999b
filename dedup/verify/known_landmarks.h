#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Landmarks of some pictures, picture by picture. Codes and places are borrowed from `memory`.
struct LandmarkPiece {
  std::shared_ptr<const void> memory;
  std::span<const std::uint64_t> codes;  // as in LandmarkTable::codes()
  std::span<const PackedPlace> places;
  std::vector<std::uint64_t> offsets;  // picture i has the landmarks offsets[i] .. offsets[i+1]

  std::size_t pictures() const noexcept { return offsets.size() - 1; }
};
// A table's landmarks as a piece of `pictures` pictures, numbered from 0. Its owners must ascend.
LandmarkPiece piece_of(LandmarkTable landmarks, std::uint64_t pictures);

// Landmarks of many pictures, left in mapped files or tables. A search walks over all of them, and
// copies those of pictures with hits.
//
// Numbers  From 0 across all pieces, pictures left out included. Fewer than 2^32.
// Threads  Any number may read.
class KnownLandmarks {
 public:
  struct Picture {
    std::uint32_t row = 0;
    std::uint32_t first = 0;  // number of its first landmark
    std::span<const std::uint64_t> codes;
    std::span<const PackedPlace> places;

    void append_to(LandmarkTable& landmarks) const;
  };

  KnownLandmarks() = default;  // without pictures
  explicit KnownLandmarks(LandmarkTable landmarks);

  // Adds the landmarks of more pictures.
  // rows    Their row numbers; nullopt: the picture is left out. Ascending, and above those before.
  // Errors  UsageError: too many landmarks for their numbers.
  void add(LandmarkPiece piece, std::vector<std::optional<std::uint32_t>> rows);

  // Landmarks of pictures that are not left out.
  std::size_t size() const noexcept { return size_; }
  std::uint32_t end() const noexcept { return end_; }  // behind the last number
  LandmarkTable table() const;                         // a copy of all of them
  Picture picture_of(std::uint32_t landmark) const;    // the picture must not be left out

  // Visits the pictures that are not left out, by ascending rows.
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
