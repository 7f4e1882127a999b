#pragma once

#include <utility>

namespace winnow {

// Sole owner of a C handle that is no pointer, such as a file descriptor or an MPI communicator.
// Traits provide Raw, null() and close(Raw) noexcept. For pointers use std::unique_ptr with a
// stateless deleter.
template <class Traits>
class UniqueHandle {
 public:
  using Raw = typename Traits::Raw;

  UniqueHandle() noexcept = default;
  explicit UniqueHandle(Raw handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, Traits::null())) {}
  UniqueHandle& operator=(UniqueHandle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != Traits::null()) Traits::close(handle_);
  }

  Raw get() const& noexcept { return handle_; }
  Raw get() const&& = delete;  // would dangle
  explicit operator bool() const noexcept { return handle_ != Traits::null(); }

 private:
  Raw handle_ = Traits::null();
};

}  // namespace winnow
