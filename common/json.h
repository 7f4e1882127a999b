#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace winnow {

// Maximum nesting of objects and arrays in JSON that is parsed. Values are built, copied and freed
// by recursion, so a text of brackets alone would overflow the stack. No file of winnow is nested
// as deeply.
inline constexpr int kJsonLevels = 64;

// A JSON value, for writing. (JSON files are read by JsonReader, whose errors name the file.)
//
// Braces   make objects and arrays, as in `Json{{"name", name}, {"sizes", {1, 2, 3}}}`. A list of
//          pairs that begin with a text is an object, any other list an array; `Json{}` is null.
// Order    Objects keep the order in which members were added.
// Library  Only json.cpp includes it: its templates would take a third of the compile time of all
//          sources that write JSON.
// Throws   std::bad_variant_access or std::out_of_range if a value is of another kind than the
//          called function needs, which is a mistake of the caller.
class Json {
 public:
  class Part;
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  enum class Utf8 : std::uint8_t { kStrict, kReplace };  // how texts that are not UTF-8 are written

  Json() noexcept;  // null
  Json(std::nullptr_t) noexcept;
  template <std::same_as<bool> T>
  Json(T value) noexcept : Json(Boolean{value}) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value)
  noexcept : Json(Whole{static_cast<std::uint64_t>(value), std::signed_integral<T>}) {}
  template <std::floating_point T>
  Json(T value) noexcept : Json(Real{static_cast<double>(value)}) {}
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text) noexcept;
  Json(std::initializer_list<Part> parts);
  Json(Array elements) noexcept;
  // Makes the given value, or null if there is none.
  template <typename T>
  requires(!std::same_as<T, Json>) Json(const std::optional<T>& value)
      : Json(value ? Json(*value) : Json()) {}
  // Makes an object from a map with texts as keys, or an array from any other range.
  template <typename Range>
  requires requires(const Range& range) {
    range.begin() != range.end();
    typename Range::value_type;
  } &&(!std::convertible_to<Range, std::string_view>)&&(!std::same_as<Range, Json>)&&(
      !std::same_as<typename Range::value_type, Range>)Json(const Range& range)
      : Json(empty_like<typename Range::value_type>()) {
    for (const auto& value : range) {
      if constexpr (kIsMember<typename Range::value_type>) {
        (*this)[value.first] = Json(value.second);
      } else {
        push_back(Json(static_cast<typename Range::value_type>(value)));
      }
    }
  }
  static Json array(std::initializer_list<Part> parts = {});
  static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  // Parses JSON.
  // once    Refuse an object that has a name twice; otherwise the last one counts.
  // Throws  FormatError ("it is not JSON"), also if nesting exceeds `levels`.
  static Json parse(std::string_view text, int levels = kJsonLevels, bool once = false);
  // Parses JSON; nullopt if the text is none.
  static std::optional<Json> parse_if_json(std::string_view text);

  bool is_null() const noexcept;
  bool is_boolean() const noexcept;
  bool is_number() const noexcept;
  bool is_whole() const noexcept;     // whether it is a number without point or exponent
  bool is_unsigned() const noexcept;  // whether it is a whole number of 0 or more
  bool is_string() const noexcept;
  bool is_array() const noexcept;
  bool is_object() const noexcept;
  bool is_primitive() const noexcept { return !is_array() && !is_object(); }

  // The value itself. Numbers of each kind are converted to the requested one.
  bool boolean() const;
  double real() const;
  std::int64_t integer() const;
  std::uint64_t whole() const;
  const std::string& text() const;
  const Array& elements() const;
  const Object& members() const;
  Array& elements();
  Object& members();

  std::size_t size() const noexcept;  // elements of an array or object; 0 for null, else 1
  bool empty() const noexcept { return size() == 0; }

  // The object's member with this name; nullptr if there is none, or if the value is no object.
  const Json* find(std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  const Json& at(std::string_view name) const;
  const Json& operator[](std::string_view name) const { return at(name); }
  const Json& operator[](const char* name) const { return at(name); }
  // The object's member with this name, added as null if missing. A null becomes an object first.
  Json& operator[](std::string_view name);
  Json& operator[](const char* name) { return (*this)[std::string_view(name)]; }
  Json& operator[](const std::string& name) { return (*this)[std::string_view(name)]; }
  template <std::integral Index>
  const Json& operator[](Index index) const {
    return elements().at(static_cast<std::size_t>(index));
  }
  template <std::integral Index>
  Json& operator[](Index index) {
    return elements().at(static_cast<std::size_t>(index));
  }
  void erase(std::string_view name);
  void update(const Json& object);  // adds or replaces members with those of `object`

  // Appends an element to an array. A null value becomes an array first.
  Json& push_back(Json value);  // returns the new element
  const Array::value_type* begin() const { return elements().data(); }
  const Array::value_type* end() const { return elements().data() + elements().size(); }

  // JSON text, on one line without spaces, or indented by `indent`. Reals get the fewest digits
  // that read back exactly; infinities and NaN become null. `ascii`: other characters as \uXXXX.
  std::string dump(int indent = -1, bool ascii = false, Utf8 utf8 = Utf8::kStrict) const;

  friend bool operator==(const Json& a, const Json& b) noexcept;  // numbers by value

 private:
  struct Boolean {
    bool value;
  };
  struct Whole {
    std::uint64_t bits;
    bool is_signed;
  };
  struct Real {
    double value;
  };
  template <typename T>
  static constexpr bool kIsMember = requires(const T& pair) {
    requires std::is_const_v<typename T::first_type>;  // for a map
    { pair.first } -> std::convertible_to<std::string_view>;
    pair.second;
  };
  template <typename T>
  static Json empty_like() {
    return kIsMember<T> ? object() : array();
  }

  explicit Json(Boolean value) noexcept;
  explicit Json(Whole value) noexcept;
  explicit Json(Real value) noexcept;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

// Sorts the members of all objects within the value by name.
Json sorted(Json json);

// An element of a list in braces, as in Json{1, "two"}.
class Json::Part {
 public:
  Part(std::initializer_list<Part> parts) : value_(parts) {}
  template <typename T>
  requires(!std::same_as<std::remove_cvref_t<T>, Part>) && std::constructible_from<Json, T> Part(
                                                               T&& value)
      : value_(std::forward<T>(value)) {}

 private:
  friend class Json;
  // Mutable, because the elements of an initializer_list are const, but each is moved from once.
  mutable Json value_;
};

}  // namespace winnow
