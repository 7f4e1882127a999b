#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/file.h"
#include "dedup/verify/landmark_table.h"

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

// `landmarks`: of the rows from 0 on. Durable; throws SystemError.
void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkTable& landmarks);

class LandmarkFile {
 public:
  // Nothing where there is no file, or one that is damaged, of another version or of other
  // pictures. The whole is compared with its checksum.
  static std::optional<LandmarkFile> find(const std::filesystem::path& path, const LandmarksOf& of);

  std::uint64_t size() const noexcept { return offsets_.back(); }  // landmarks
  // Appends those of the rows to which `owner_of` gives a number there.
  void append_to(LandmarkTable& landmarks, const LandmarkTable::OwnerOf& owner_of) const;

 private:
  LandmarkFile() = default;
  std::shared_ptr<const InputFile> file_;
  std::vector<std::uint64_t> offsets_;  // of the landmarks of each row, and the end
  std::uint64_t codes_at_ = 0;
  std::uint64_t places_at_ = 0;
};

}  // namespace winnow::dedup
