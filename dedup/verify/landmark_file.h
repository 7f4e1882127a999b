#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dedup/verify/known_landmarks.h"

namespace winnow::dedup {

// Landmarks of all pictures of a table, kept since they take long to find (docs/formats/index.md).
// What is kept can be made again from the pictures, so a file that is not as it should be is as
// none.

// Raised by any change that alters one bit of a landmark of any picture.
inline constexpr std::uint32_t kLandmarksVersion = 1;

// What landmarks were found in.
struct LandmarksOf {
  std::string table;       // a hash that tells it from others: 32 hex digits
  std::uint64_t rows = 0;  // of the table, each a picture
};

// `landmarks`: of all rows. Durable; throws SystemError.
void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkPiece& landmarks);

// The landmarks of all rows, in the file, which is mapped. Nothing where there is none, or one that
// is damaged, of another version or of other pictures: the whole is compared with its checksum.
std::optional<LandmarkPiece> find_landmarks_in(const std::filesystem::path& path,
                                               const LandmarksOf& of);

}  // namespace winnow::dedup
