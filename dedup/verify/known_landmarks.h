#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Landmarks of some pictures, those of one next to those of the one before. Codes and places are
// borrowed from `memory`.
struct LandmarkPiece {
  std::shared_ptr<const void> memory;
  std::span<const std::uint64_t> codes;  // in the form of LandmarkTable::codes()
  std::span<const PackedPlace> places;
  std::vector<std::uint64_t> offsets;  // picture i has the landmarks offsets[i] .. offsets[i+1]

  std::size_t pictures() const noexcept { return offsets.size() - 1; }
};
// The landmarks of a table as those of the pictures from 0 on, so many. It owns them in ascending
// order.
LandmarkPiece piece_of(LandmarkTable landmarks, std::uint64_t pictures);

// Landmarks of many pictures where they lie: in files that are mapped, or in tables. Who looks for
// near ones walks over all, and copies those of the pictures that have some.
//
// Numbers  from 0 on through all pieces, also of pictures that are left out. Fewer than 2^32
// Threads  any number may read
class KnownLandmarks {
 public:
  struct Picture {
    std::uint32_t row = 0;
    std::uint32_t first = 0;  // number of its first landmark
    std::span<const std::uint64_t> codes;
    std::span<const PackedPlace> places;

    void append_to(LandmarkTable& landmarks) const;
  };

  KnownLandmarks() = default;  // of none
  explicit KnownLandmarks(LandmarkTable landmarks);

  // Those of more pictures. `rows`: what each of them is called; nothing: it is left out. They
  // ascend, and are above those before. Throws UsageError: too many landmarks for their numbers.
  void add(LandmarkPiece piece, std::vector<std::optional<std::uint32_t>> rows);

  std::size_t size() const noexcept { return size_; }  // of pictures that are not left out
  std::uint32_t end() const noexcept { return end_; }  // behind the last number
  LandmarkTable table() const;                         // a copy of all
  Picture picture_of(std::uint32_t landmark) const;    // that is not left out

  // Visits the pictures that are not left out, by rows.
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
