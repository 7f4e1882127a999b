#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "common/bytes.h"
#include "common/file.h"

namespace winnow::pipeline {

// The bytes of an encoded picture, in memory or in a file that is too large for it. Safe from many
// threads. Cheap to copy.
class EncodedBytes {
 public:
  explicit EncodedBytes(BytesView borrowed) : view_(borrowed) {}  // which must outlive it
  explicit EncodedBytes(Bytes owned)
      : owned_(std::make_shared<const Bytes>(std::move(owned))), view_(*owned_) {}
  explicit EncodedBytes(InputFile file)
      : file_(std::make_shared<const InputFile>(std::move(file))) {}

  std::uint64_t size() const noexcept { return file_ ? file_->size() : view_.size(); }
  // Fills `out` with the bytes from `offset` on, which there must be. Throws SystemError: the file
  // is not to be read, or was cut since it was opened.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // All of them; nothing where they are in a file.
  std::optional<BytesView> in_memory() const noexcept;

 private:
  std::shared_ptr<const Bytes> owned_;
  BytesView view_;
  std::shared_ptr<const InputFile> file_;
};

}  // namespace winnow::pipeline
