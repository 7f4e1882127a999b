#include "tests/train/cudnn/host_kernels.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
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

std::span<const Index> ascending() {
  static const std::vector<Index> threads = turns(kThreads, ThreadOrder::kAscending, 0);
  return threads;
}

template <int kPhase, class Kernel>
void run_phases(const Kernel& kernel, Index block, ThreadOrder order,
                typename Kernel::Shared& shared) {
  std::vector<Index> others;
  std::span<const Index> threads = ascending();
  if (order != ThreadOrder::kAscending) {
    threads = others = turns(kThreads, order, block * Kernel::kPhases + kPhase);
  }
  for (const Index thread : threads) {
    kernel.template run<kPhase>({block, static_cast<int>(thread)}, shared);
  }
  if constexpr (kPhase + 1 < Kernel::kPhases) run_phases<kPhase + 1>(kernel, block, order, shared);
}

struct HostLauncher {
  template <class Kernel>
  static void run(const Kernel& kernel, Index first, Index blocks, ThreadOrder order) {
    using Shared = typename Kernel::Shared;
    const auto shared = std::make_unique<Shared>();
    for (const Index block : turns(blocks, order, first)) {
      std::memset(static_cast<void*>(shared.get()), 0xff, sizeof(Shared));
      run_phases<0>(kernel, first + block, order, *shared);
    }
  }

  template <class Kernel>
  static void launch(const Kernel& kernel, Stream& stream) {
    auto& host = static_cast<HostStream&>(stream);
    const ThreadOrder order = host.order();
    const Index most = order == ThreadOrder::kShuffled ? 3 : kMaxBlocks;
    const LaunchShape shape = kernel.shape();
    for (Index first = 0; first < shape.blocks; first += most) {
      const Index blocks = launch_blocks(shape, first, most);
      host.push([=] { run(kernel, first, blocks, order); });
    }
  }
};

constexpr Table kTable = make_table<HostLauncher>("host");

}  // namespace

const Table& host_kernels() noexcept { return kTable; }

}  // namespace winnow::train::cudnn::kernels
