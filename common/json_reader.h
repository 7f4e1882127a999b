#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json.h"

namespace winnow {

// The source of a JSON text, for errors such as "NAME is damaged: 'shards' 2 lacks 'file'; REMEDY".
struct JsonSource {
  std::string name;
  std::string remedy = {};   // advice; may be empty
  int levels = kJsonLevels;  // maximum nesting of objects and arrays
};

// Reads JSON that may be damaged or forged, strictly. A reader stands for one value in a text, at
// first for the whole.
//
// Errors   FormatError naming the source if a value is not of the requested kind. Members that
//          nobody asks for are ignored.
// Copies   Cheap: they share the values of the text and keep them alive.
// Threads  Any number.
class JsonReader {
 public:
  // Parses a text. Throws FormatError if it is no JSON, is nested deeper than `source.levels`, or
  // has an object with a name twice.
  JsonReader(std::string_view text, JsonSource source);

  // For an object.
  bool has(std::string_view name) const;
  JsonReader at(std::string_view name) const;  // must be there
  std::optional<JsonReader> find(std::string_view name) const;
  // Members of the object, in the order of the text.
  std::vector<std::pair<std::string, JsonReader>> members() const;

  // For a list.
  std::vector<JsonReader> items() const;
  std::vector<JsonReader> items(std::size_t count) const;  // must have this many
  std::vector<std::string> texts() const;
  std::vector<std::uint64_t> numbers() const;
  std::vector<std::uint64_t> numbers(std::size_t count) const;

  bool is_null() const noexcept;
  bool is_text() const noexcept;
  std::string text() const;  // UTF-8
  bool boolean() const;
  double real() const;                           // any number, finite
  double real(double least, double most) const;  // in [least, most]
  double real_from_0() const;
  // The value as a whole number from 0 to `most`.
  template <std::integral Int = std::uint64_t>
  Int number(Int most = std::numeric_limits<Int>::max()) const {
    return static_cast<Int>(whole(static_cast<std::uint64_t>(most)));
  }
  // The value as a whole number from `least` to `most`.
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  template <std::signed_integral Int>
  Int integer(Int least, Int most) const {
    return static_cast<Int>(integer(std::int64_t{least}, std::int64_t{most}));
  }

  std::string dump() const;  // as JSON, without spaces
  // The value, for use in other JSON. Valid while a reader of the text lives.
  const Json& json() const noexcept { return *value_; }

  // Throws FormatError for a fault that the caller found in the value: "is not the name of a
  // shard".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<const Document> document, const Json& value);
  std::uint64_t whole(std::uint64_t most) const;

  std::shared_ptr<const Document> document_;
  const Json* value_;
};

}  // namespace winnow
