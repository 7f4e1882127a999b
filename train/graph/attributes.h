#pragma once

#include <any>
#include <concepts>
#include <type_traits>
#include <utility>

namespace winnow::train {

// The attributes of a node: one struct of its operation's own type (train/ops), or nothing.
// Converts from such a struct, so that a struct can be given where attributes are wanted.
class Attributes {
 public:
  Attributes() = default;
  // The type itself comes first: whether it can be copied must not depend on this constructor.
  template <class T>
  requires(!std::same_as<T, Attributes> && std::is_class_v<T> && std::copyable<T>)
      Attributes(T attributes)
      : held_(std::move(attributes)) {}

  bool empty() const noexcept { return !held_.has_value(); }
  // Null when they are of another type.
  template <class T>
  const T* find() const noexcept {
    return std::any_cast<T>(&held_);
  }

 private:
  std::any held_;
};

}  // namespace winnow::train
