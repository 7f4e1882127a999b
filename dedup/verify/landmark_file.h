#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dedup/verify/known_landmarks.h"

namespace winnow::dedup {

// A file with the landmarks (keypoints with codes) of all pictures of a table, because they take
// long to compute (docs/formats/index.md). They can be computed again from the pictures, so an
// invalid file is treated as missing.

// Version of landmark files. Raised by any change that alters one bit of a landmark of any picture.
inline constexpr std::uint32_t kLandmarksVersion = 1;

// Identifies the table that landmarks belong to.
struct LandmarksOf {
  std::string table;       // digest of the table: 32 hex digits
  std::uint64_t rows = 0;  // number of rows of the table; each has one picture
};

// Writes a landmark file. It is on disk when the function returns.
// landmarks  Of all rows of the table.
// Errors     SystemError.
void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkPiece& landmarks);

// Memory-maps a landmark file. nullopt if it is missing, damaged (its checksum is verified), of
// another version or of another table.
std::optional<LandmarkPiece> find_landmarks_in(const std::filesystem::path& path,
                                               const LandmarksOf& of);

}  // namespace winnow::dedup
