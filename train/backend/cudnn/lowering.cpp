#include "train/backend/cudnn/lowering.h"

namespace winnow::train::cudnn {

CudnnLowering::CudnnLowering(const Graph& graph, const CompileOptions& options, Device& device,
                             Compiled& out)
    : Lowering(graph, options.compute, Outside::kCopied, out.slots, device.kernels().convert),
      device_(device),
      options_(options),
      out_(out) {}

ConvolutionDescription CudnnLowering::description(Pass pass) const {
  return {.pass = pass,
          .type = compute(),
          .result = compute(),
          .tf32 = options_.compute == DType::kTf32,
          .deterministic = options_.deterministic,
          .extents = {}};
}

CudnnLowering::Slot CudnnLowering::sums_scratch(const ImageExtents& extents) {
  return slots().scratch(kernels::channel_sums_scratch_bytes(extents.rows(), extents.c));
}

}  // namespace winnow::train::cudnn
