#pragma once

#include <any>
#include <concepts>
#include <type_traits>
#include <utility>

namespace winnow::train {

// The attributes of a node: one struct of the type that its operation defines (train/ops), or
// empty. Converts implicitly from such a struct.
class Attributes {
 public:
  Attributes() = default;
  // The first constraint excludes Attributes itself. It must be checked first: whether Attributes
  // is copyable must not depend on this constructor.
  template <class T>
  requires(!std::same_as<T, Attributes> && std::is_class_v<T> && std::copyable<T>)
      Attributes(T attributes)
      : held_(std::move(attributes)) {}

  bool empty() const noexcept { return !held_.has_value(); }
  // Returns the attributes as a T; nullptr if they have another type.
  template <class T>
  const T* find() const noexcept {
    return std::any_cast<T>(&held_);
  }

 private:
  std::any held_;
};

}  // namespace winnow::train
