#include "common/error.h"
#include "common/json_text.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {

Json parse_json(std::string_view text, const std::string& where) {
  if (nests_deeper_than(text, kJsonLevels)) {
    throw FormatError(where + " is damaged: its JSON is nested too deep");
  }
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
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

std::vector<std::uint64_t> JsonObject::numbers(const char* field) const {
  std::vector<std::uint64_t> out;
  for (const Json& value : array(field)) out.push_back(as_number(value, field));
  return out;
}

std::vector<std::uint64_t> JsonObject::numbers(const char* field, std::size_t count) const {
  std::vector<std::uint64_t> out = numbers(field);
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
