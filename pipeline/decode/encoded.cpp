#include "pipeline/decode/encoded.h"

#include <algorithm>

#include "common/error.h"

namespace winnow::pipeline {

void EncodedBytes::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (file_) return file_->read_at(offset, out);
  if (offset > view_.size() || out.size() > view_.size() - offset) {
    throw Error("bytes after the end of a picture were requested");
  }
  std::copy_n(view_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
}

std::optional<BytesView> EncodedBytes::in_memory() const noexcept {
  if (file_) return std::nullopt;
  return view_;
}

}  // namespace winnow::pipeline
