#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "train/backend/onednn/compiled_internal.h"
#include "train/graph/arena_layout.h"

namespace winnow::train::onednn {

Slots::Slots(std::size_t arena_bytes) : train::Slots(arena_bytes, ArenaLayout::kAlignment) {}

void Slots::attach(Id slot, const dnnl::memory& memory) {
  followers_.resize(std::max(followers_.size(), slot + 1));
  followers_[slot].push_back(memory);
}

void Slots::allocate() {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t bytes = (block_bytes() + kHugePage - 1) / kHugePage * kHugePage;
  block_.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, std::max(bytes, kHugePage))));
  if (!block_) throw std::bad_alloc();
  madvise(block_.get(), bytes, MADV_HUGEPAGE);  // advice: nothing is lost where it is not taken
  place(block_.get());
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

}  // namespace winnow::train::onednn
