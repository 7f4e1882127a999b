#include "common/json_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

std::string in_quotes(const std::string& name) {
  const std::string escaped = Json(name).dump();
  return "'" + escaped.substr(1, escaped.size() - 2) + "'";
}

// Builds the values of a text, in time that its length bounds: nlohmann's own looks through an
// object for each name that is added.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(int levels) : levels_(static_cast<std::size_t>(levels)) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return refuse("it is not JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(std::string& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    const Json& object = *open_.back();
    std::vector<std::string_view> names;
    for (const auto& member : object.get_ref<const Json::object_t&>())
      names.push_back(member.first);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) return refuse("it has " + Json(*twice).dump() + " twice");
    return end_array();
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return refuse("it is not JSON");
  }

  Json take() && { return std::move(root_); }
  const std::string& why() const noexcept { return why_; }  // it is none

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == levels_) return refuse("its JSON is nested too deep");
    open_.push_back(&place(std::move(value)));
    return true;
  }
  // Containers that are open do not move: only the last of them grows.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& to = *open_.back();
    if (to.is_array()) return to.get_ref<Json::array_t&>().emplace_back(std::move(value));
    return to.get_ref<Json::object_t&>().emplace_back(std::move(name_), std::move(value)).second;
  }

  const std::size_t levels_;
  Json root_;
  std::vector<Json*> open_;
  std::string name_;
  std::string why_;
};

// The way from `from` to `to`, "'shards' 2, 'file'"; nothing where it is not there.
std::optional<std::string> way(const Json& from, const Json& to) {
  if (&from == &to) return "";
  std::size_t number = 0;
  for (const auto& [name, value] : from.items()) {
    const std::string step = from.is_array() ? std::to_string(number++) : in_quotes(name);
    const auto rest = value.is_primitive() && &value != &to ? std::nullopt : way(value, to);
    if (!rest) continue;
    const bool is_element = !rest->empty() && rest->front() != '\'';
    return step + (rest->empty() ? "" : is_element ? " " : ", ") + *rest;
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
  Builder builder(source.levels);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) throw_damaged(source, builder.why());
  document_ =
      std::make_shared<const Document>(Document{std::move(source), std::move(builder).take()});
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
  const auto at = value_->find(name);
  if (at == value_->end()) return std::nullopt;
  return JsonReader(document_, *at);
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
  for (const auto& [name, value] : value_->items()) {
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
  return value_->get<std::string>();
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) fail("is neither true nor false");
  return value_->get<bool>();
}

double JsonReader::real() const {
  if (!value_->is_number()) fail("is not a number");
  return value_->get<double>();  // a number that is not finite is no JSON
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
  if (!value_->is_number_unsigned()) fail("is not a whole number from 0 up");
  const auto value = value_->get<std::uint64_t>();
  if (value > most) fail("is " + std::to_string(value) + ", over " + std::to_string(most));
  return value;
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_number_unsigned()
                        ? std::cmp_less_equal(value_->get<std::uint64_t>(), most)
                        : value_->is_number_integer() && value_->get<std::int64_t>() <= most;
  if (!fits || value_->get<std::int64_t>() < least) {
    const std::string is = value_->is_primitive() ? "is " + dump() + ", " : "is ";
    fail(is + "not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value_->get<std::int64_t>();
}

std::string JsonReader::dump() const { return value_->dump(); }

}  // namespace winnow
