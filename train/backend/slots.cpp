#include "train/backend/slots.h"

#include <algorithm>

namespace winnow::train {

std::size_t Slots::aligned(std::size_t bytes) const {
  return (bytes + alignment_ - 1) / alignment_ * alignment_;
}

Slots::Id Slots::add(Place place, std::size_t offset) {
  slots_.push_back({place, offset});
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

Slots::Id Slots::shared(std::size_t bytes) {
  const std::size_t offset = shared_bytes_;
  shared_bytes_ += aligned(bytes);
  return add(Place::kShared, offset);
}

Slots::Id Slots::bound() { return add(Place::kBound, 0); }

void Slots::place(std::byte* block, std::byte* shared) {
  for (Slot& slot : slots_) {
    switch (slot.place) {
      case Place::kArena:
        slot.address = block + slot.offset;
        break;
      case Place::kOwn:
        slot.address = block + arena_bytes_ + slot.offset;
        break;
      case Place::kScratch:
        slot.address = block + arena_bytes_ + own_bytes_ + slot.offset;
        break;
      case Place::kShared:
        slot.address = shared + slot.offset;
        break;
      case Place::kBound:
        break;
    }
  }
}

}  // namespace winnow::train
