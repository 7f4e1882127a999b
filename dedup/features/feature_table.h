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

// Element type of a stored vector.
enum class FeatureType : std::uint8_t { kF16, kI8 };
FeatureType parse_feature_type(std::string_view name);  // f16, i8; UsageError
std::string_view feature_type_name(FeatureType type) noexcept;

inline constexpr std::uint32_t kMostDimensions = 65536;

// Feature vectors of the images of a cache, computed by any net: one row an image, in ascending
// order of ids.
//
// Rows      All images of the cache's fingerprints, or some of them.
// Vectors   Finite and not all zero, because their directions are compared.
// Elements  Stored such that vector = scale * elements, with one scale a row. The bytes of a row do
//           not depend on other rows. The cosine of two rows of i8 is computed from integers.
// Scales    f16: a power of two that brings the largest element to 1 .. 2, so nothing overflows.
//           i8: brings the largest element to 127.
struct FeatureTable {
  std::string name;    // given by the user
  std::string source;  // origin of the vectors as JSON, for people to read
  // Digest of the manifest of the cache that the vectors belong to. They cannot be used for another
  // cache.
  std::string cache_digest;
  std::uint32_t dimensions = 0;
  std::vector<SampleId> ids;
  std::vector<float> scales;
  std::variant<std::vector<F16>, std::vector<std::int8_t>> elements;

  friend bool operator==(const FeatureTable&, const FeatureTable&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  FeatureType type() const noexcept { return static_cast<FeatureType>(elements.index()); }
  // Writes the vector of a row to `out`, which has `dimensions` elements.
  void read(std::size_t row, std::span<float> out) const noexcept;
  // Like read(), without the scale: the same direction, and lengths that are never too large or
  // small to compute with.
  void read_elements(std::size_t row, std::span<float> out) const noexcept;
  // The bytes of the elements of a row.
  BytesView bytes_of(std::size_t row) const noexcept;
};

// A table without rows, name or source. Throws UsageError for an impossible number of dimensions,
// with `of` as the origin of the vectors in its message.
FeatureTable empty_features(FeatureType type, std::uint64_t dimensions,
                            const std::string& of = "a table");

// Why a vector cannot be stored, as part of a sentence: "is all zero, ...". Empty: it can.
std::string why_no_feature(std::span<const float> vector);

// Appends a vector, for which why_no_feature() must be empty. `id` must be larger than all ids
// before.
void append_feature(FeatureTable& table, SampleId id, std::span<const float> vector);

// Throws FormatError naming `where` unless the table is valid, as described at FeatureTable.
void check_features(const FeatureTable& table, const std::string& where);

// The bytes of a feature file (docs/formats/features.md). Equal tables give equal bytes. Errors as
// check_features().
Bytes serialize(const FeatureTable& table);
// Writes the bytes of serialize() to a file. They are on disk when it returns.
void write_features(const std::filesystem::path& path, const FeatureTable& table);
// Decode the bytes of serialize(). Throw FormatError naming `where` or the file for anything that
// it cannot have written.
FeatureTable parse_features(BytesView bytes, const std::string& where);
FeatureTable read_features(const InputFile& file);

// The header of a feature file, without its vectors.
struct FeaturesAbout {
  std::string source;
  std::string cache_digest;
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;
  FeatureType type = FeatureType::kF16;
};
FeaturesAbout read_about_features(const InputFile& file);  // FormatError: no feature file

}  // namespace winnow::dedup
