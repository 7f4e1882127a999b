#include "tests/train/cudnn/host_kernels.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "tests/train/cudnn/host_device.h"
#include "train/backend/cudnn/kernels_internal.h"

namespace winnow::train::cudnn::kernels {
namespace {

std::vector<Index> turns(Index count, ThreadOrder order, Index seed) {
  std::vector<Index> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), Index{0});
  if (order == ThreadOrder::kDescending) std::reverse(result.begin(), result.end());
  if (order == ThreadOrder::kShuffled) {
    std::shuffle(result.begin(), result.end(),
                 std::minstd_rand(static_cast<std::minstd_rand::result_type>(seed + 1)));
  }
  return result;
}

template <ThreadOrder kOrder, int kPhase, class Kernel>
void run_phases(const Kernel& kernel, Index block, typename Kernel::Shared& shared) {
  if constexpr (kOrder == ThreadOrder::kAscending) {
    for (int thread = 0; thread < kThreads; ++thread) {
      kernel.template run<kPhase>({block, thread}, shared);
    }
  } else {
    for (const Index thread : turns(kThreads, kOrder, block * Kernel::kPhases + kPhase)) {
      kernel.template run<kPhase>({block, static_cast<int>(thread)}, shared);
    }
  }
  if constexpr (kPhase + 1 < Kernel::kPhases) run_phases<kOrder, kPhase + 1>(kernel, block, shared);
}

template <ThreadOrder kOrder>
struct HostLauncher {
  static constexpr Index kMost = kOrder == ThreadOrder::kShuffled ? 3 : kMaxBlocks;

  template <class Kernel>
  static void run(const Kernel& kernel, Index first, Index blocks) {
    using Shared = typename Kernel::Shared;
    const auto shared = std::make_unique<Shared>();
    for (const Index block : turns(blocks, kOrder, first)) {
      std::memset(static_cast<void*>(shared.get()), 0xff, sizeof(Shared));
      run_phases<kOrder, 0>(kernel, first + block, *shared);
    }
  }

  template <class Kernel>
  static void launch(const Kernel& kernel, Stream& stream) {
    const LaunchShape shape = kernel.shape();
    for (Index first = 0; first < shape.blocks; first += kMost) {
      const Index blocks = launch_blocks(shape, first, kMost);
      static_cast<HostStream&>(stream).push([=] { run(kernel, first, blocks); });
    }
  }
};

constexpr Table kAscendingTable = make_table<HostLauncher<ThreadOrder::kAscending>>("host");
constexpr Table kDescendingTable = make_table<HostLauncher<ThreadOrder::kDescending>>("host");
constexpr Table kShuffledTable = make_table<HostLauncher<ThreadOrder::kShuffled>>("host");

}  // namespace

const Table& host_kernels(ThreadOrder order) noexcept {
  switch (order) {
    case ThreadOrder::kDescending:
      return kDescendingTable;
    case ThreadOrder::kShuffled:
      return kShuffledTable;
    case ThreadOrder::kAscending:
      break;
  }
  return kAscendingTable;
}

}  // namespace winnow::train::cudnn::kernels
