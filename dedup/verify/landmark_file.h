#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dedup/verify/known_landmarks.h"

namespace winnow::dedup {

// A file with the landmarks of all pictures of a table, because they take long to compute
// (docs/formats/index.md). They can be recomputed from the pictures, so an invalid file is treated
// as missing.

// Raised by any change that alters one bit of a landmark of any picture.
inline constexpr std::uint32_t kLandmarksVersion = 1;

// The table whose landmarks these are.
struct LandmarksOf {
  std::string table;       // a hash that identifies it: 32 hex digits
  std::uint64_t rows = 0;  // rows of the table, one a picture
};

// landmarks  Of all rows.
// Durable. Errors: SystemError.
void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkPiece& landmarks);

// Maps the landmarks of all rows from the file. nullopt if it is missing, damaged (its checksum is
// verified), of another version or of other pictures.
std::optional<LandmarkPiece> find_landmarks_in(const std::filesystem::path& path,
                                               const LandmarksOf& of);

}  // namespace winnow::dedup
