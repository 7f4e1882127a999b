#include <string>

#include "train/backend/cudnn/cuda_internal.h"
#include "train/backend/cudnn/kernels_internal.h"

namespace winnow::train::cudnn::kernels {
namespace {

template <int kPhase, class Kernel>
__device__ __forceinline__ void run_phases(const Kernel& kernel, const Place& place,
                                           typename Kernel::Shared& shared) {
  kernel.template run<kPhase>(place, shared);
  if constexpr (kPhase + 1 < Kernel::kPhases) {
    __syncthreads();
    run_phases<kPhase + 1>(kernel, place, shared);
  }
}

template <class Kernel>
__global__ void __launch_bounds__(kThreads)
    execute(const __grid_constant__ Kernel kernel, Index first_block) {
  __shared__ typename Kernel::Shared shared;
  run_phases<0>(kernel, {first_block + blockIdx.x, static_cast<int>(threadIdx.x)}, shared);
}

struct CudaLauncher {
  template <class Kernel>
  static void launch(const Kernel& kernel, Stream& stream) {
    const cudaStream_t native = static_cast<CudaStream&>(stream).native();
    const LaunchShape shape = kernel.shape();
    for (Index first = 0; first < shape.blocks; first += kMaxBlocks) {
      const auto blocks = static_cast<unsigned>(launch_blocks(shape, first, kMaxBlocks));
      execute<<<blocks, static_cast<unsigned>(shape.threads), 0, native>>>(kernel, first);
      check(cudaGetLastError(), std::string("start the kernel of ") + Kernel::kName);
    }
  }
};

constexpr Table kTable = make_table<CudaLauncher>("cuda");

}  // namespace

const Table& cuda_kernels() noexcept { return kTable; }

}  // namespace winnow::train::cudnn::kernels
