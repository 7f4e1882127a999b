#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "common/sample.h"
#include "common/small_float.h"

namespace winnow::dedup {

// What an element of a stored vector is.
enum class FeatureType : std::uint8_t { kF16, kI8 };
FeatureType parse_feature_type(std::string_view name);  // f16, i8; UsageError
std::string_view feature_type_name(FeatureType type) noexcept;

inline constexpr std::uint32_t kMostDimensions = 65536;

// A vector for images of a cache, by whatever net: one row an image, in ascending id order.
//
// Rows      those of the cache's fingerprints, or some of them
// Vectors   finite and not all zero: each has a direction, which is what is compared
// Elements  vector = scale * elements, a scale a row: a row's bytes depend on no other row, and
//           between two rows of i8 the cosine is one of whole numbers. The scale of f16 is a power
//           of two that brings the largest element to 1 .. 2, so none overflows; that of i8 brings
//           it to 127.
struct FeatureTable {
  std::string name;          // what the user calls it
  std::string source;        // JSON of where the vectors are from, for people
  std::string cache_digest;  // of the manifest they were made for; another cache is refused
  std::uint32_t dimensions = 0;
  std::vector<SampleId> ids;
  std::vector<float> scales;
  std::variant<std::vector<F16>, std::vector<std::int8_t>> elements;

  friend bool operator==(const FeatureTable&, const FeatureTable&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  FeatureType type() const noexcept { return static_cast<FeatureType>(elements.index()); }
  // The vector of a row; `out` has `dimensions` elements.
  void read(std::size_t row, std::span<float> out) const noexcept;
  // The same without its scale, of the same direction and never too large or small to compute with.
  void read_elements(std::size_t row, std::span<float> out) const noexcept;
  // The bytes of a row's elements.
  BytesView bytes_of(std::size_t row) const noexcept;
};

// One without rows, names or source. UsageError for a number of dimensions that cannot be; it names
// `of`, which the vectors are from.
FeatureTable empty_features(FeatureType type, std::uint64_t dimensions,
                            const std::string& of = "a table");

// Why a vector cannot be a row, for the middle of a sentence: "is all zero, ..."; empty: it can.
std::string why_no_feature(std::span<const float> vector);

// Puts a vector behind the others; it can be a row. `id` is larger than those before.
void append_feature(FeatureTable& table, SampleId id, std::span<const float> vector);

// Throws FormatError naming `where` unless the columns make a table.
void check_features(const FeatureTable& table, const std::string& where);

// The file form (docs/formats/features.md). Equal tables give equal bytes. Throws as
// check_features().
Bytes serialize(const FeatureTable& table);
// Writes those bytes to `path`, durably.
void write_features(const std::filesystem::path& path, const FeatureTable& table);
// Throws FormatError naming `where`, or the file, for anything that serialize() cannot have made.
FeatureTable parse_features(BytesView bytes, const std::string& where);
FeatureTable read_features(const InputFile& file);

// What a file says of its vectors, which are neither read nor checked.
struct FeaturesAbout {
  std::string source;
  std::string cache_digest;
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;
  FeatureType type = FeatureType::kF16;
};
FeaturesAbout read_about_features(const InputFile& file);  // FormatError for no such file

}  // namespace winnow::dedup
