#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace winnow::python {

// Makes NumPy arrays from C++ arrays. Nothing is copied unless stated.

// A read-only 1-D view of `values`, which must live as long as `owner`, and must not be reallocated
// meanwhile.
template <class T>
nanobind::object column_view(const std::vector<T>& values, nanobind::handle owner) {
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>(
      values.data(), {values.size()}, owner));
}

// A read-only 1-D view of enumeration values, as their underlying integers. `values` as for
// column_view().
template <class T>
requires std::is_enum_v<T> nanobind::object enum_view(const std::vector<T>& values,
                                                      nanobind::handle owner) {
  using Integer = std::underlying_type_t<T>;
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, const Integer, nanobind::ndim<1>>(
      reinterpret_cast<const Integer*>(values.data()), {values.size()}, owner));
}

// The class that a member belongs to.
template <class Owner, class T>
Owner owner_of(T Owner::*);  // only for its type

// A Python property: a view of the member `Column` of the C++ object in `self`.
template <auto Column>
nanobind::object column_property(nanobind::handle self) {
  using Owner = decltype(owner_of(Column));
  return column_view(nanobind::inst_ptr<Owner>(self)->*Column, self);
}

// A writable view of `values` with any shape of at most values.size() elements.
template <class T, std::size_t N>
nanobind::object array_view(std::vector<T>& values, const std::array<std::size_t, N>& shape,
                            nanobind::handle owner) {
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T>(values.data(), N, shape.data(), owner));
}

// A NumPy array that takes over the memory of `values`.
template <class T, std::size_t N>
nanobind::object array_of(std::vector<T> values, const std::array<std::size_t, N>& shape) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(
      kept, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return array_view(*kept, shape, owner);
}
template <class T>
nanobind::object array_of(std::vector<T> values) {
  const std::array<std::size_t, 1> shape{values.size()};
  return array_of(std::move(values), shape);
}

}  // namespace winnow::python
