#pragma once

#include <utility>
#include <variant>

namespace winnow {

// A value, or the reason why there is none. Only for failures that are ordinary data, such as an
// undecodable image; other failures are exceptions. To be replaced by std::expected of C++23.
// operator* may only be called if there is a value. T and E must be different types.
template <class T, class E>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : v_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Expected(E error) : v_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  explicit operator bool() const noexcept { return v_.index() == 0; }
  T& operator*() & { return std::get<0>(v_); }
  const T& operator*() const& { return std::get<0>(v_); }
  T&& operator*() && { return std::get<0>(std::move(v_)); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const E& error() const { return std::get<1>(v_); }

 private:
  std::variant<T, E> v_;
};

}  // namespace winnow
