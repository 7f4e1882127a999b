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

// The source of a text, for errors: "NAME is damaged: 'shards' 2 lacks 'file'; REMEDY".
struct JsonSource {
  std::string name;
  std::string remedy = {};   // advice; may be empty
  int levels = kJsonLevels;  // maximum nesting of objects and lists
};

// Strict reading of JSON that may be damaged or forged. A reader stands for a value of a text, at
// first the whole.
//
// Errors   FormatError of the source if a value is not what it is asked to be; members that nobody
//          asks for are ignored
// Copies   are cheap; they share the text's values and keep them alive
// Threads  any number
class JsonReader {
 public:
  // Throws FormatError: no JSON, nesting beyond `source.levels`, objects with a name twice.
  JsonReader(std::string_view text, JsonSource source);

  // For an object.
  bool has(std::string_view name) const;
  JsonReader at(std::string_view name) const;  // must be there
  std::optional<JsonReader> find(std::string_view name) const;
  std::vector<std::pair<std::string, JsonReader>> members() const;  // in the order of the text

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
  // A whole number from 0 to `most`.
  template <std::integral Int = std::uint64_t>
  Int number(Int most = std::numeric_limits<Int>::max()) const {
    return static_cast<Int>(whole(static_cast<std::uint64_t>(most)));
  }
  // A whole number in [least, most].
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  template <std::signed_integral Int>
  Int integer(Int least, Int most) const {
    return static_cast<Int>(integer(std::int64_t{least}, std::int64_t{most}));
  }

  std::string dump() const;  // as JSON, without spaces
  // To put it into other JSON. Valid as long as a reader of the text.
  const Json& json() const noexcept { return *value_; }

  // Throws FormatError for any other fault: "is not the name of a shard".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<const Document> document, const Json& value);
  std::uint64_t whole(std::uint64_t most) const;

  std::shared_ptr<const Document> document_;
  const Json* value_;
};

}  // namespace winnow
