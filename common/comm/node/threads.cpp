#include "common/comm/node/threads.h"

#include <cstring>
#include <new>

#include "common/comm/node/ring_group_internal.h"

namespace winnow::comm {

std::vector<std::unique_ptr<NodeGroup>> make_thread_group(int ranks) {
  constexpr std::align_val_t kLine{alignof(Counter)};
  const RingShape shape = RingShape::of(ranks);
  const std::shared_ptr<std::byte> memory(
      static_cast<std::byte*>(::operator new(shape.bytes(), kLine)),
      [](std::byte* p) { ::operator delete(p, kLine); });
  std::memset(memory.get(), 0, shape.bytes());
  std::vector<std::unique_ptr<NodeGroup>> group;
  for (int rank = 0; rank < ranks; ++rank) {
    group.push_back(std::make_unique<RingGroup>(rank, shape, memory));
  }
  return group;
}

}  // namespace winnow::comm
