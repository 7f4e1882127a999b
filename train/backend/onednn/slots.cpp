#include <sys/mman.h>

#include <new>

#include "train/backend/onednn/compiled_internal.h"
#include "train/graph/rewrites.h"

namespace winnow::train::onednn {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = MemoryPlan::kAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Slots::Slots(std::size_t arena_bytes) : arena_bytes_(aligned(arena_bytes)) {}

Slots::Id Slots::add(Place place, std::size_t offset) {
  slots_.push_back({place, offset, nullptr, {}});
  return slots_.size() - 1;
}

Slots::Id Slots::arena(std::size_t offset) { return add(Place::kArena, offset); }

Slots::Id Slots::own(std::size_t bytes) {
  const std::size_t offset = own_bytes_;
  own_bytes_ += aligned(bytes);
  return add(Place::kOwn, offset);
}

Slots::Id Slots::scratch(std::size_t bytes) {
  const std::size_t offset = scratch_now_;
  scratch_now_ += aligned(bytes);
  scratch_bytes_ = std::max(scratch_bytes_, scratch_now_);
  return add(Place::kScratch, offset);
}

Slots::Id Slots::bound() { return add(Place::kBound, 0); }

void Slots::attach(Id slot, const dnnl::memory& memory) {
  slots_[slot].followers.push_back(memory);
}

void Slots::allocate() {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t bytes = (block_bytes() + kHugePage - 1) / kHugePage * kHugePage;
  block_.reset(std::aligned_alloc(kHugePage, std::max(bytes, kHugePage)));
  if (!block_) throw std::bad_alloc();
  madvise(block_.get(), bytes, MADV_HUGEPAGE);  // advice: nothing is lost where it is not taken
  auto* base = static_cast<std::byte*>(block_.get());
  for (Id id = 0; id < slots_.size(); ++id) {
    const Slot& slot = slots_[id];
    switch (slot.place) {
      case Place::kArena:
        bind(id, base + slot.offset);
        break;
      case Place::kOwn:
        bind(id, base + arena_bytes_ + slot.offset);
        break;
      case Place::kScratch:
        bind(id, base + arena_bytes_ + own_bytes_ + slot.offset);
        break;
      case Place::kBound:
        break;
    }
  }
}

void Slots::bind(Id slot, void* address) {
  slots_[slot].address = address;
  for (dnnl::memory& memory : slots_[slot].followers) memory.set_data_handle(address);
}

}  // namespace winnow::train::onednn
