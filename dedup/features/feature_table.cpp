#include "dedup/features/feature_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/json_reader.h"
#include "common/named.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kKind{"WNWFEATS", 1, "feature file"};
constexpr const char* kMakeAgain = "make it again with winnow embed";
constexpr float kMostI8 = 127;
// Limits for the largest element of a vector. Below, the scale would lose bits; above, f16 may
// round to infinity.
constexpr float kLeastMagnitude = std::numeric_limits<float>::min() * 1024;
constexpr float kMostMagnitude = 3.4e38F;

constexpr std::array<Named<FeatureType>, 2> kTypes{
    {{"f16", FeatureType::kF16}, {"i8", FeatureType::kI8}}};

float value_of(F16 element) noexcept { return to_float(element); }
float value_of(std::int8_t element) noexcept { return element; }

float largest_of(std::span<const float> vector) noexcept {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  return largest;
}

void append_row(std::span<const float> vector, float largest, std::vector<float>& scales,
                std::vector<F16>& elements) {
  const float scale = std::ldexp(1.0F, std::ilogb(largest));
  scales.push_back(scale);
  for (const float value : vector) elements.push_back(to_f16(value / scale));
}

void append_row(std::span<const float> vector, float largest, std::vector<float>& scales,
                std::vector<std::int8_t>& elements) {
  const float scale = largest / kMostI8;
  scales.push_back(scale);
  for (const float value : vector) {
    elements.push_back(static_cast<std::int8_t>(std::nearbyint(value / scale)));
  }
}

// Whether append_row() can have made this row.
bool is_row(float scale, std::span<const F16> row) noexcept {
  float largest = 0;
  for (const F16 element : row) {
    const float value = std::abs(to_float(element));
    if (!std::isfinite(value)) return false;
    largest = std::max(largest, value);
  }
  const bool is_power = std::ldexp(1.0F, std::ilogb(scale)) == scale;
  return is_power && scale >= kLeastMagnitude && largest >= 1 && largest <= 2 &&
         std::isfinite(scale * largest);
}

bool is_row(float scale, std::span<const std::int8_t> row) noexcept {
  int largest = 0;
  for (const std::int8_t element : row) largest = std::max(largest, std::abs(int{element}));
  return largest == static_cast<int>(kMostI8) && scale >= kLeastMagnitude / kMostI8 &&
         scale <= kMostMagnitude / kMostI8;
}

std::vector<ColumnView> columns_of(const FeatureTable& table) {
  std::vector<ColumnView> columns{column("name", view(table.name)),
                                  column("source", view(table.source)),
                                  column("cache_digest", view(table.cache_digest)),
                                  column("dimensions", std::span(&table.dimensions, 1)),
                                  column("ids", view(table.ids)),
                                  column("scales", view(table.scales))};
  std::visit(
      [&](const auto& elements) {
        columns.push_back(column(std::string(feature_type_name(table.type())), view(elements)));
      },
      table.elements);
  return columns;
}

FeatureTable parse(ColumnFileReader in, const std::string& where) {
  FeatureTable table;
  table.name = in.take_text("name");
  table.source = in.take_text("source");
  JsonReader(table.source, {where + ": where its vectors are from", kMakeAgain}).members();
  table.cache_digest = in.take_text("cache_digest");
  table.dimensions = in.take<std::uint32_t>("dimensions", 1).front();
  if (table.dimensions == 0 || table.dimensions > kMostDimensions) {
    in.fail("it has vectors of " + std::to_string(table.dimensions) + " dimensions");
  }
  table.ids = in.take<SampleId>("ids", in.rows());
  table.scales = in.take<float>("scales", in.rows());
  const std::uint64_t count = in.rows() * table.dimensions;
  if (in.next_name() == "i8") {
    table.elements = in.take<std::int8_t>("i8", count);
  } else {
    table.elements = in.take<F16>("f16", count);
  }
  in.finish();
  check_features(table, where);
  return table;
}

}  // namespace

FeatureType parse_feature_type(std::string_view name) {
  return parse_named(kTypes, "type of features", name);
}

std::string_view feature_type_name(FeatureType type) noexcept { return name_in(kTypes, type); }

void FeatureTable::read(std::size_t row, std::span<float> out) const noexcept {
  read_elements(row, out);
  for (float& value : out) value *= scales[row];
}

void FeatureTable::read_elements(std::size_t row, std::span<float> out) const noexcept {
  std::visit(
      [&](const auto& all) {
        const auto* const from = all.data() + row * dimensions;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = value_of(from[i]);
      },
      elements);
}

BytesView FeatureTable::bytes_of(std::size_t row) const noexcept {
  return std::visit(
      [&](const auto& all) {
        return std::as_bytes(std::span(all).subspan(row * dimensions, dimensions));
      },
      elements);
}

FeatureTable empty_features(FeatureType type, std::uint64_t dimensions, const std::string& of) {
  if (dimensions == 0 || dimensions > kMostDimensions) {
    throw UsageError("the vectors of " + of + " have " + std::to_string(dimensions) +
                     " dimensions, but the limit for features is 1 to " +
                     std::to_string(kMostDimensions));
  }
  FeatureTable table;
  table.dimensions = static_cast<std::uint32_t>(dimensions);
  if (type == FeatureType::kI8) table.elements = std::vector<std::int8_t>();
  return table;
}

std::string why_no_feature(std::span<const float> vector) {
  if (!std::ranges::all_of(vector, [](float value) { return std::isfinite(value); })) {
    return "contains NaN or infinity";
  }
  const float largest = largest_of(vector);
  if (largest == 0) return "is all zeros and has no direction to compare";
  if (largest < kLeastMagnitude) return "is almost all zeros and has no direction to compare";
  if (largest > kMostMagnitude) return "contains a number beyond 3.4e38, which is too large";
  return {};
}

void append_feature(FeatureTable& table, SampleId id, std::span<const float> vector) {
  table.ids.push_back(id);
  std::visit(
      [&](auto& elements) { append_row(vector, largest_of(vector), table.scales, elements); },
      table.elements);
}

void check_features(const FeatureTable& table, const std::string& where) {
  const auto require = [&](bool good, const char* why) {
    if (!good) {
      throw FormatError(where + " is not a feature file: " + why + "; " + kMakeAgain);
    }
  };
  const std::size_t rows = table.size();
  require(table.dimensions > 0 && table.dimensions <= kMostDimensions, "its vectors are empty");
  require(rows < std::numeric_limits<std::uint32_t>::max(), "it has too many rows");
  require(std::ranges::adjacent_find(table.ids, std::greater_equal<>()) == table.ids.end(),
          "its ids do not ascend");
  require(table.scales.size() == rows &&
              std::ranges::all_of(table.scales,
                                  [](float scale) { return std::isnormal(scale) && scale > 0; }),
          "a scale is no number above 0");
  const bool good = std::visit(
      [&](const auto& elements) {
        const std::span all(elements);
        if (all.size() != rows * table.dimensions) return false;
        for (std::size_t row = 0; row < rows; ++row) {
          const auto of_row = all.subspan(row * table.dimensions, table.dimensions);
          if (!is_row(table.scales[row], of_row)) return false;
        }
        return true;
      },
      table.elements);
  require(good, "a vector is missing, not finite, all zero or not scaled as it should be");
}

Bytes serialize(const FeatureTable& table) {
  check_features(table, "what is to be written");
  return column_file(kKind, table.size(), columns_of(table));
}

void write_features(const std::filesystem::path& path, const FeatureTable& table) {
  check_features(table, "what is to be written");
  const std::vector<ColumnView> columns = columns_of(table);
  std::vector<ColumnShape> shapes;
  for (const ColumnView& column : columns) shapes.push_back(column.shape);
  ColumnFileWriter out(path, kKind, table.size(), std::move(shapes));
  for (std::size_t i = 0; i < columns.size(); ++i) out.append(i, columns[i].data);
  out.finish();
}

FeatureTable parse_features(BytesView bytes, const std::string& where) {
  return parse(ColumnFileReader(bytes, kKind, where), where);
}

FeaturesAbout read_about_features(const InputFile& file) {
  ColumnFileReader in(file, kKind, ColumnFileReader::Content::kVouchedFor);
  FeaturesAbout about;
  in.skip<char>("name", std::nullopt);
  about.source = in.take_text("source");
  about.cache_digest = in.take_text("cache_digest");
  about.dimensions = in.take<std::uint32_t>("dimensions", 1).front();
  about.rows = in.rows();
  in.skip<SampleId>("ids", about.rows);
  in.skip<float>("scales", about.rows);
  if (in.next_name() == "i8") about.type = FeatureType::kI8;
  return about;
}

FeatureTable read_features(const InputFile& file) {
  return parse(ColumnFileReader(file, kKind, ColumnFileReader::Content::kUnknown),
               file.path().string());
}

}  // namespace winnow::dedup
