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

// One vector for each image of a cache, computed by any net. Rows are in ascending id order.
//
// Rows      Those of the cache's fingerprints, or some of them.
// Vectors   Finite and not all zero: their directions are compared.
// Elements  vector = scale * elements, with a scale a row. A row's bytes do not depend on other
//           rows, and the cosine of two rows of i8 is computed from integers.
// Scales    f16: a power of two that brings the largest element to 1 .. 2, so nothing overflows.
//           i8: brings the largest element to 127.
struct FeatureTable {
  std::string name;    // given by the user
  std::string source;  // where the vectors come from: JSON, for people
  // Digest of the manifest they were made for; any other cache is refused.
  std::string cache_digest;
  std::uint32_t dimensions = 0;
  std::vector<SampleId> ids;
  std::vector<float> scales;
  std::variant<std::vector<F16>, std::vector<std::int8_t>> elements;

  friend bool operator==(const FeatureTable&, const FeatureTable&) = default;

  std::size_t size() const noexcept { return ids.size(); }
  FeatureType type() const noexcept { return static_cast<FeatureType>(elements.index()); }
  // The vector of a row; `out` has `dimensions` elements.
  void read(std::size_t row, std::span<float> out) const noexcept;
  // The same without the scale: same direction, never too large or small to compute with.
  void read_elements(std::size_t row, std::span<float> out) const noexcept;
  // The bytes of a row's elements.
  BytesView bytes_of(std::size_t row) const noexcept;
};

// A table without rows, name or source. UsageError for an impossible number of dimensions; `of`
// names the origin of the vectors in the message.
FeatureTable empty_features(FeatureType type, std::uint64_t dimensions,
                            const std::string& of = "a table");

// Why a vector cannot be a row, to be used within a sentence: "is all zero, ...". Empty: it can.
std::string why_no_feature(std::span<const float> vector);

// Appends a vector, which must be valid (why_no_feature()). `id` must be larger than those before.
void append_feature(FeatureTable& table, SampleId id, std::span<const float> vector);

// Throws FormatError naming `where` unless the columns make a table.
void check_features(const FeatureTable& table, const std::string& where);

// The file form (docs/formats/features.md). Equal tables give equal bytes. Throws as
// check_features().
Bytes serialize(const FeatureTable& table);
// Writes those bytes to `path`, durably.
void write_features(const std::filesystem::path& path, const FeatureTable& table);
// Throws FormatError naming `where` or the file for anything that serialize() cannot have made.
FeatureTable parse_features(BytesView bytes, const std::string& where);
FeatureTable read_features(const InputFile& file);

// The header of a feature file; its vectors are neither read nor checked.
struct FeaturesAbout {
  std::string source;
  std::string cache_digest;
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;
  FeatureType type = FeatureType::kF16;
};
FeaturesAbout read_about_features(const InputFile& file);  // FormatError for no such file

}  // namespace winnow::dedup
