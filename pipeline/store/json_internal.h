#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/utf8.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/settings.h"
#include "pipeline/store/statistics.h"

namespace winnow::pipeline {

using Json = nlohmann::ordered_json;

// Throws FormatError naming `where`, also for values nested deeper than kJsonLevels.
Json parse_json(std::string_view text, const std::string& where);

// Adds what decode_settings() reads: max_pixels, and of the others what is not as by default.
void write_to(Json& settings, const DecodeSettings& decode);

// Adds what resize_settings() reads, where anything is resized; the quality only where anything is
// `encoded`.
void write_to(Json& settings, const ResizeSettings& resize, bool encoded);

// Adds what variant_settings() reads, where there are variants.
void write_to(Json& settings, const VariantSettings& variants);

// Strict reading of one object: a missing field or another type is a FormatError naming the field.
// Numbers are whole, not negative, and fit 64 bits. Fields nobody asks for are left alone.
class JsonObject {
 public:
  JsonObject(Json value, std::string where);

  bool has(const char* field) const;
  std::uint64_t number(const char* field) const;
  std::uint64_t number_to(const char* field, std::uint64_t most) const;
  std::string text(const char* field) const;
  std::vector<std::string> texts(const char* field) const;
  std::vector<std::uint64_t> numbers(const char* field) const;
  std::vector<std::uint64_t> numbers(const char* field, std::size_t count) const;
  JsonObject object(const char* field) const;
  std::vector<JsonObject> objects(const char* field) const;
  const Json& any(const char* field) const;  // must be there
  const Json& raw() const noexcept { return value_; }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  const Json& array(const char* field) const;
  std::uint64_t as_number(const Json& value, const char* field) const;
  std::string as_text(const Json& value, const char* field) const;

  Json value_;
  std::string where_;
};

// The field `statistics` of a manifest. Parsing throws FormatError for what to_json cannot have
// written of a cache with so many classes.
Json to_json(const Statistics& statistics);
Statistics parse_statistics(const JsonObject& in, std::size_t classes);

}  // namespace winnow::pipeline
