#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>

#include "common/small_float.h"

namespace winnow::comm {

enum class ElementType : std::uint8_t { kF32, kF64, kBF16, kF16, kI32, kI64 };

// Name and size of an element type.
struct ElementTypeInfo {
  std::string_view name;  // "f32"
  std::string_view many;  // in messages: "1000 floats"
  std::size_t bytes;      // size of an element
};
const ElementTypeInfo& info(ElementType type) noexcept;
std::span<const ElementTypeInfo> element_types();  // all element types, in the order of ElementType
// The type of this name, such as "f32". Throws UsageError, which lists the known names.
ElementType find_element_type(std::string_view name);

constexpr ElementType element_type(float) { return ElementType::kF32; }
constexpr ElementType element_type(double) { return ElementType::kF64; }
constexpr ElementType element_type(BF16) { return ElementType::kBF16; }
constexpr ElementType element_type(F16) { return ElementType::kF16; }
constexpr ElementType element_type(std::int32_t) { return ElementType::kI32; }
constexpr ElementType element_type(std::int64_t) { return ElementType::kI64; }

// A buffer of elements of one ElementType, borrowed from a span or vector.
struct Elements {
  template <std::ranges::contiguous_range Range>
  Elements(Range&& range)  // NOLINT: implicit, for calls
      : bytes(std::as_writable_bytes(std::span(range))),
        type(element_type(std::ranges::range_value_t<Range>{})) {}

  Elements(std::span<std::byte> of_type, ElementType its_type) : bytes(of_type), type(its_type) {}

  std::size_t size() const noexcept { return bytes.size() / info(type).bytes; }

  std::span<std::byte> bytes;
  ElementType type;
};

// Calls `work` with the elements as a std::span of their C++ type, and returns its result.
template <class Work>
decltype(auto) visit(const Elements& elements, const Work& work) {
  const auto as = [&]<class T>(T) {
    return work(std::span<T>(reinterpret_cast<T*>(elements.bytes.data()), elements.size()));
  };
  switch (elements.type) {
    case ElementType::kF64:
      return as(double{});
    case ElementType::kBF16:
      return as(BF16{});
    case ElementType::kF16:
      return as(F16{});
    case ElementType::kI32:
      return as(std::int32_t{});
    case ElementType::kI64:
      return as(std::int64_t{});
    case ElementType::kF32:
      break;
  }
  return as(float{});
}

// The kind of a collective that is given by transfers. It is an error if ranks pass different ones.
enum class Task : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kHandOver };

enum class Reduction : std::uint8_t { kSum, kMax };  // kMax: for integers

// The form that f32 numbers have in messages: f32, or 16 bits to halve the traffic. With 16 bits,
// terms and partial sums are rounded to nearest even at each hop and added in f32; a result of
// several ranks has values that the 16-bit type can represent. Values too large for f16 become
// infinite.
enum class Wire : std::uint8_t { kF32, kBF16, kF16 };

}  // namespace winnow::comm
