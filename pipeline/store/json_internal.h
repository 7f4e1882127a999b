#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::pipeline {

using Json = nlohmann::ordered_json;

// File names are bytes, JSON is UTF-8. Each byte that is not part of valid UTF-8 becomes one
// character of U+EF80..U+EFFF (private use, byte b as U+EF00 + b); bytes that would themselves
// decode to these characters are written in the same way, so from_utf8(to_utf8(x)) == x for any x.
std::string to_utf8(std::string_view bytes);
std::string from_utf8(std::string_view text);

inline constexpr int kMaxJsonDepth = 64;

// Throws FormatError naming `where`, also for values nested deeper than kMaxJsonDepth.
Json parse_json(std::string_view text, const std::string& where);

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

}  // namespace winnow::pipeline
