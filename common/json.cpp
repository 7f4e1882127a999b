#include "common/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/error.h"

namespace winnow {
namespace {

using Library = nlohmann::json;

// Builds the values of a text in time bounded by its length. The library's own builder searches an
// object for each name that is added.
class Builder final : public nlohmann::json_sax<Library> {
 public:
  Builder(int levels, bool once) : levels_(static_cast<std::size_t>(levels)), once_(once) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Library::binary_t&) override { return refuse("it is not JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(std::string& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override { return name_once(open_.back()->members()) && end_array(); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) override {
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
  // Open containers do not move: only the last of them grows.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& to = *open_.back();
    if (to.is_array()) return to.elements().emplace_back(std::move(value));
    return to.members().emplace_back(std::move(name_), std::move(value)).second;
  }
  bool name_once(Json::Object& members) {
    std::map<std::string_view, std::size_t> last;
    bool twice = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto [at, is_new] = last.insert_or_assign(members[i].first, i);
      if (!is_new && once_) return refuse("it has " + Json(members[i].first).dump() + " twice");
      twice = twice || !is_new;
    }
    if (!twice) return true;
    Json::Object kept;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (last.at(members[i].first) == i) kept.push_back(members[i]);
    }
    members = std::move(kept);
    return true;
  }

  const std::size_t levels_;
  const bool once_;
  Json root_;
  std::vector<Json*> open_;
  std::string name_;
  std::string why_;
};

// Writes a value as the library does, without copying it into the library's type.
class Writer {
 public:
  Writer(int indent, bool ascii, Json::Utf8 utf8) : indent_(indent), ascii_(ascii), utf8_(utf8) {}

  void write(const Json& value) {
    if (value.is_array()) {
      write_all('[', ']', value.elements(), [this](const Json& one) { write(one); });
    } else if (value.is_object()) {
      write_all('{', '}', value.members(), [this](const auto& member) {
        write_text(member.first);
        out_ += indent_ < 0 ? ":" : ": ";
        write(member.second);
      });
    } else if (value.is_string()) {
      write_text(value.text());
    } else if (value.is_null()) {
      out_ += "null";
    } else if (value.is_boolean()) {
      out_ += value.boolean() ? "true" : "false";
    } else if (value.is_whole()) {
      out_ += value.is_unsigned() ? std::to_string(value.whole()) : std::to_string(value.integer());
    } else {
      out_ += Library(value.real()).dump();
    }
  }
  std::string take() && { return std::move(out_); }

 private:
  void write_all(char open, char close, const auto& all, const auto& write_one) {
    out_ += open;
    ++level_;
    bool first = true;
    for (const auto& one : all) {
      if (!first) out_ += ',';
      first = false;
      new_line();
      write_one(one);
    }
    --level_;
    if (!first) new_line();
    out_ += close;
  }
  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_ * level_), ' ');
  }
  void write_text(const std::string& text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (plain) {
      (out_ += '"').append(text) += '"';
      return;
    }
    out_ += Library(text).dump(-1, ' ', ascii_,
                               utf8_ == Json::Utf8::kReplace ? Library::error_handler_t::replace
                                                             : Library::error_handler_t::strict);
  }

  const int indent_;
  const bool ascii_;
  const Json::Utf8 utf8_;
  int level_ = 0;
  std::string out_;
};

}  // namespace

Json::Json() noexcept : value_(nullptr) {}
Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(Boolean value) noexcept : value_(value.value) {}
Json::Json(Real value) noexcept : value_(value.value) {}
Json::Json(Whole value) noexcept : value_(value.bits) {
  if (value.is_signed) value_ = static_cast<std::int64_t>(value.bits);
}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(Array elements) noexcept : value_(std::move(elements)) {}

Json::Json(std::initializer_list<Part> parts) : value_(nullptr) {
  const bool is_object = std::ranges::all_of(parts, [](const Part& part) {
    return part.value_.is_array() && part.value_.size() == 2 && part.value_[0].is_string();
  });
  if (!is_object) {
    *this = array(parts);
    return;
  }
  *this = object();
  for (const Part& part : parts) {
    Array& pair = part.value_.elements();
    if (!contains(pair[0].text())) (*this)[pair[0].text()] = std::move(pair[1]);
  }
}

Json Json::array(std::initializer_list<Part> parts) {
  Array elements;
  elements.reserve(parts.size());
  for (const Part& part : parts) elements.push_back(std::move(part.value_));
  return elements;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json::~Json() = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}

Json Json::parse(std::string_view text, int levels, bool once) {
  Builder builder(levels, once);
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) throw FormatError(builder.why());
  return std::move(builder).take();
}

std::optional<Json> Json::parse_if_json(std::string_view text) {
  try {
    return parse(text);
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

bool Json::is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const noexcept { return std::holds_alternative<bool>(value_); }
bool Json::is_string() const noexcept { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const noexcept { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const noexcept { return std::holds_alternative<Object>(value_); }
bool Json::is_unsigned() const noexcept { return std::holds_alternative<std::uint64_t>(value_); }
bool Json::is_whole() const noexcept {
  return is_unsigned() || std::holds_alternative<std::int64_t>(value_);
}
bool Json::is_number() const noexcept {
  return is_whole() || std::holds_alternative<double>(value_);
}

bool Json::boolean() const { return std::get<bool>(value_); }
double Json::real() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return std::get<double>(value_);
}
std::int64_t Json::integer() const {
  if (const auto* value = std::get_if<double>(&value_)) return static_cast<std::int64_t>(*value);
  if (is_unsigned()) return static_cast<std::int64_t>(std::get<std::uint64_t>(value_));
  return std::get<std::int64_t>(value_);
}
std::uint64_t Json::whole() const { return static_cast<std::uint64_t>(integer()); }
const std::string& Json::text() const { return std::get<std::string>(value_); }
const Json::Array& Json::elements() const { return std::get<Array>(value_); }
const Json::Object& Json::members() const { return std::get<Object>(value_); }
Json::Array& Json::elements() { return std::get<Array>(value_); }
Json::Object& Json::members() { return std::get<Object>(value_); }

std::size_t Json::size() const noexcept {
  if (is_array()) return elements().size();
  if (is_object()) return members().size();
  return is_null() ? 0 : 1;
}

const Json* Json::find(std::string_view name) const noexcept {
  if (!is_object()) return nullptr;
  for (const auto& [own, value] : members()) {
    if (own == name) return &value;
  }
  return nullptr;
}

const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) return *found;
  throw std::out_of_range("JSON without '" + std::string(name) + "'");
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  for (auto& [own, value] : members()) {
    if (own == name) return value;
  }
  return members().emplace_back(std::string(name), Json()).second;
}

void Json::erase(std::string_view name) {
  std::erase_if(members(), [&](const auto& member) { return member.first == name; });
}

void Json::update(const Json& object) {
  for (const auto& [name, value] : object.members()) (*this)[name] = value;
}

Json& Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  return elements().emplace_back(std::move(value));
}

Json sorted(Json json) {
  if (json.is_array()) {
    for (Json& one : json.elements()) one = sorted(std::move(one));
  } else if (json.is_object()) {
    for (auto& [name, value] : json.members()) value = sorted(std::move(value));
    std::ranges::sort(json.members(), {}, [](const auto& member) { return member.first; });
  }
  return json;
}

std::string Json::dump(int indent, bool ascii, Utf8 utf8) const {
  Writer writer(indent, ascii, utf8);
  writer.write(*this);
  return std::move(writer).take();
}

bool operator==(const Json& a, const Json& b) noexcept {
  if (!a.is_number() || !b.is_number()) return a.value_ == b.value_;
  if (a.is_whole() && b.is_whole()) {
    const bool alike =
        (a.is_unsigned() || a.integer() >= 0) == (b.is_unsigned() || b.integer() >= 0);
    return alike && a.integer() == b.integer();
  }
  return a.real() == b.real();
}

}  // namespace winnow
