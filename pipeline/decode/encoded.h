#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "common/bytes.h"
#include "common/file.h"

namespace winnow::pipeline {

// The bytes of an encoded picture, in memory or in a large file. Thread-safe. Cheap to copy.
class EncodedBytes {
 public:
  explicit EncodedBytes(BytesView borrowed) : view_(borrowed) {}  // bytes must outlive this object
  explicit EncodedBytes(Bytes owned)
      : owned_(std::make_shared<const Bytes>(std::move(owned))), view_(*owned_) {}
  explicit EncodedBytes(InputFile file)
      : file_(std::make_shared<const InputFile>(std::move(file))) {}

  std::uint64_t size() const noexcept { return file_ ? file_->size() : view_.size(); }
  // Fills `out` with the bytes from `offset` on, which must exist. Throws SystemError if the file
  // cannot be read, or was truncated since it was opened.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // All bytes of the picture; nullopt if they are in a file.
  std::optional<BytesView> in_memory() const noexcept;

 private:
  std::shared_ptr<const Bytes> owned_;
  BytesView view_;
  std::shared_ptr<const InputFile> file_;
};

}  // namespace winnow::pipeline
