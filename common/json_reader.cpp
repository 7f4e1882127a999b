#include "common/json_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/error.h"

namespace winnow {
namespace {

std::string in_quotes(const std::string& name) {
  const std::string escaped = Json(name).dump();
  return "'" + escaped.substr(1, escaped.size() - 2) + "'";
}

// The path from `from` to `to`, "'shards' 2, 'file'"; nullopt if there is none.
std::optional<std::string> way(const Json& from, const Json& to) {
  if (&from == &to) return "";
  std::size_t number = 0;
  const auto by = [&](const std::string& step, const Json& value) -> std::optional<std::string> {
    const auto rest = value.is_primitive() && &value != &to ? std::nullopt : way(value, to);
    if (!rest) return std::nullopt;
    const bool is_element = !rest->empty() && rest->front() != '\'';
    return step + (rest->empty() ? "" : is_element ? " " : ", ") + *rest;
  };
  if (from.is_array()) {
    for (const Json& value : from) {
      if (auto found = by(std::to_string(number++), value)) return found;
    }
  } else if (from.is_object()) {
    for (const auto& [name, value] : from.members()) {
      if (auto found = by(in_quotes(name), value)) return found;
    }
  }
  return std::nullopt;
}

[[noreturn]] void throw_damaged(const JsonSource& source, const std::string& why) {
  throw FormatError(source.name + " is damaged: " + why +
                    (source.remedy.empty() ? "" : "; " + source.remedy));
}

}  // namespace

struct JsonReader::Document {
  JsonSource source;
  Json root;
};

JsonReader::JsonReader(std::string_view text, JsonSource source) {
  Json root;
  try {
    root = Json::parse(text, source.levels, /*once=*/true);
  } catch (const FormatError& error) {
    throw_damaged(source, error.what());
  }
  document_ = std::make_shared<const Document>(Document{std::move(source), std::move(root)});
  value_ = &document_->root;
}

JsonReader::JsonReader(std::shared_ptr<const Document> document, const Json& value)
    : document_(std::move(document)), value_(&value) {}

void JsonReader::fail(const std::string& what) const {
  const std::string at = way(document_->root, *value_).value_or("");
  throw_damaged(document_->source, (at.empty() ? "it" : at) + " " + what);
}

std::optional<JsonReader> JsonReader::find(std::string_view name) const {
  if (!value_->is_object()) fail("is not an object");
  const Json* found = value_->find(name);
  if (found == nullptr) return std::nullopt;
  return JsonReader(document_, *found);
}

bool JsonReader::has(std::string_view name) const { return find(name).has_value(); }

JsonReader JsonReader::at(std::string_view name) const {
  auto found = find(name);
  if (!found) fail("lacks '" + std::string(name) + "'");
  return *std::move(found);
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!value_->is_object()) fail("is not an object");
  std::vector<std::pair<std::string, JsonReader>> out;
  for (const auto& [name, value] : value_->members()) {
    out.emplace_back(name, JsonReader(document_, value));
  }
  return out;
}

std::vector<JsonReader> JsonReader::items() const {
  if (!value_->is_array()) fail("is not a list");
  std::vector<JsonReader> out;
  out.reserve(value_->size());
  for (const Json& value : *value_) out.push_back(JsonReader(document_, value));
  return out;
}

std::vector<JsonReader> JsonReader::items(std::size_t count) const {
  std::vector<JsonReader> out = items();
  if (out.size() != count) fail("is not a list of " + std::to_string(count));
  return out;
}

std::vector<std::string> JsonReader::texts() const {
  std::vector<std::string> out;
  for (const JsonReader& item : items()) out.push_back(item.text());
  return out;
}

std::vector<std::uint64_t> JsonReader::numbers() const {
  std::vector<std::uint64_t> out;
  for (const JsonReader& item : items()) out.push_back(item.number());
  return out;
}

std::vector<std::uint64_t> JsonReader::numbers(std::size_t count) const {
  items(count);
  return numbers();
}

bool JsonReader::is_null() const noexcept { return value_->is_null(); }
bool JsonReader::is_text() const noexcept { return value_->is_string(); }

std::string JsonReader::text() const {
  if (!value_->is_string()) fail("is not text");
  return value_->text();
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) fail("is neither true nor false");
  return value_->boolean();
}

double JsonReader::real() const {
  if (!value_->is_number()) fail("is not a number");
  return value_->real();  // infinities and NaN are no JSON
}

double JsonReader::real(double least, double most) const {
  const double value = real();
  if (value < least || value > most) {
    fail("is " + dump() + ", not a number from " + Json(least).dump() + " to " + Json(most).dump());
  }
  return value;
}

double JsonReader::real_from_0() const {
  const double value = real();
  if (value < 0) fail("is below 0");
  return value;
}

std::uint64_t JsonReader::whole(std::uint64_t most) const {
  if (!value_->is_unsigned()) fail("is not a whole number from 0 up");
  const auto value = value_->whole();
  if (value > most) fail("is " + std::to_string(value) + ", over " + std::to_string(most));
  return value;
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_unsigned() ? std::cmp_less_equal(value_->whole(), most)
                                          : value_->is_whole() && value_->integer() <= most;
  if (!fits || value_->integer() < least) {
    const std::string is = value_->is_primitive() ? "is " + dump() + ", " : "is ";
    fail(is + "not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value_->integer();
}

std::string JsonReader::dump() const { return value_->dump(); }

}  // namespace winnow
