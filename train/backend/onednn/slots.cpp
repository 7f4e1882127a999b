#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "train/backend/onednn/compiled_internal.h"
#include "train/graph/arena_layout.h"

namespace winnow::train::onednn {

Slots::Slots() : train::Slots(ArenaLayout::kAlignment) {}

void Slots::attach(Id slot, const dnnl::memory& memory) {
  followers_.resize(std::max(followers_.size(), slot + 1));
  followers_[slot].push_back(memory);
}

void Slots::allocate(std::shared_ptr<std::byte> shared) {
  block_ = make_block(block_bytes());
  shared_ = std::move(shared);
  place(block_.get(), shared_.get());
  for (Id slot = 0; slot < size(); ++slot) lead(slot);
}

void Slots::bind(Id slot, void* address) {
  train::Slots::bind(slot, address);
  lead(slot);
}

void Slots::lead(Id slot) {
  if (slot >= followers_.size()) return;
  for (dnnl::memory& memory : followers_[slot]) memory.set_data_handle(at(slot));
}

std::shared_ptr<std::byte> make_block(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t size =
      std::max((bytes + kHugePage - 1) / kHugePage, std::size_t{1}) * kHugePage;
  auto* block = static_cast<std::byte*>(std::aligned_alloc(kHugePage, size));
  if (block == nullptr) throw std::bad_alloc();
  madvise(block, size, MADV_HUGEPAGE);  // only advice: ignoring it does no harm
  return {block, [](std::byte* memory) { std::free(memory); }};
}

}  // namespace winnow::train::onednn
