#include <algorithm>
#include <cstdint>

#include "common/error.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace {

// Bytes of the well-formed UTF-8 character at the start of `text` (Unicode 15, table 3-7), or 0.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto within = [&at](std::size_t i, unsigned low, unsigned high) {
    return at(i) >= low && at(i) <= high;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// U+EF80..U+EFFF is EE BE 80 .. EE BF BF.
bool is_escape(std::string_view character) noexcept {
  return character.size() == 3 && character[0] == '\xEE' &&
         (character[1] == '\xBE' || character[1] == '\xBF');
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t count = character_bytes(bytes);
    if (count != 0 && !is_escape(bytes.substr(0, count))) {
      text += bytes.substr(0, count);
      bytes.remove_prefix(count);
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[0]);  // >= 0x80
    text += '\xEE';
    text += static_cast<char>(0xBC + (byte >> 6));
    text += static_cast<char>(0x80 | (byte & 0x3F));
    bytes.remove_prefix(1);
  }
  return text;
}

std::string from_utf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    const std::size_t count = std::max<std::size_t>(1, character_bytes(text));
    const std::string_view character = text.substr(0, count);
    if (is_escape(character)) {
      bytes += static_cast<char>(((static_cast<unsigned char>(character[1]) - 0xBC) << 6) |
                                 (static_cast<unsigned char>(character[2]) & 0x3F));
    } else {
      bytes += character;
    }
    text.remove_prefix(count);
  }
  return bytes;
}

Json parse_json(std::string_view text, const std::string& where) {
  // Copying and printing a value recurse: a file of brackets alone would end in a stack overflow.
  const auto limit_depth = [&where](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMaxJsonDepth)
      throw FormatError(where + " is damaged: its JSON is nested too deep");
    return true;
  };
  Json value = Json::parse(text, limit_depth, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw FormatError(where + " is damaged: it is not JSON");
  return value;
}

JsonObject::JsonObject(Json value, std::string where)
    : value_(std::move(value)), where_(std::move(where)) {
  if (!value_.is_object()) fail("is not an object");
}

void JsonObject::fail(const std::string& what) const {
  throw FormatError(where_ + " is damaged or not of this version: " + what);
}

bool JsonObject::has(const char* field) const { return value_.contains(field); }

const Json& JsonObject::any(const char* field) const {
  const auto at = value_.find(field);
  if (at == value_.end()) fail(std::string("it lacks '") + field + "'");
  return *at;
}

std::uint64_t JsonObject::as_number(const Json& value, const char* field) const {
  if (!value.is_number_unsigned()) fail(std::string("'") + field + "' is not a whole number");
  return value.get<std::uint64_t>();
}

std::string JsonObject::as_text(const Json& value, const char* field) const {
  if (!value.is_string()) fail(std::string("'") + field + "' is not text");
  return value.get<std::string>();
}

const Json& JsonObject::array(const char* field) const {
  const Json& value = any(field);
  if (!value.is_array()) fail(std::string("'") + field + "' is not a list");
  return value;
}

std::uint64_t JsonObject::number(const char* field) const { return as_number(any(field), field); }

std::uint64_t JsonObject::number_to(const char* field, std::uint64_t most) const {
  const std::uint64_t value = number(field);
  if (value > most) fail(std::string("'") + field + "' is over " + std::to_string(most));
  return value;
}

std::string JsonObject::text(const char* field) const { return as_text(any(field), field); }

std::vector<std::string> JsonObject::texts(const char* field) const {
  std::vector<std::string> out;
  for (const Json& value : array(field)) out.push_back(as_text(value, field));
  return out;
}

std::vector<std::uint64_t> JsonObject::numbers(const char* field, std::size_t count) const {
  std::vector<std::uint64_t> out;
  for (const Json& value : array(field)) out.push_back(as_number(value, field));
  if (out.size() != count) {
    fail(std::string("'") + field + "' does not have " + std::to_string(count) + " numbers");
  }
  return out;
}

JsonObject JsonObject::object(const char* field) const {
  return JsonObject(any(field), where_ + ", '" + field + "'");
}

std::vector<JsonObject> JsonObject::objects(const char* field) const {
  std::vector<JsonObject> out;
  for (const Json& value : array(field)) {
    out.emplace_back(value, where_ + ", '" + field + "' " + std::to_string(out.size()));
  }
  return out;
}

}  // namespace winnow::pipeline
