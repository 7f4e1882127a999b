#include "train/backend/cudnn/cudnn.h"

#include <string>
#include <utility>

#include "train/backend/cudnn/card_weights.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/cudnn/program.h"
#include "train/backend/weights.h"

namespace winnow::train {
namespace {

class CudnnBackend final : public Backend {
 public:
  explicit CudnnBackend(std::shared_ptr<cudnn::Device> device) : device_(std::move(device)) {}

  std::string_view name() const noexcept override { return "cudnn"; }
  std::string instruction_set() const override {
    return "sm_" + std::to_string(device_->card().capability) + " (" + device_->card().name + ")";
  }
  std::string library() const override {
    const cudnn::Card& card = device_->card();
    return "cuDNN " + card.cudnn + ", cuBLAS " + card.cublas + ", CUDA " + card.runtime;
  }

  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) override {
    return std::make_unique<cudnn::CudnnProgram>(device_, graph, options);
  }
  MemoryUse memory_of(const Graph& graph, const CompileOptions& options) override {
    const auto compiled = cudnn::compile_graph(graph, options, *device_);
    return {.lane_bytes = compiled->slots.block_bytes(),
            .scratch_bytes = compiled->slots.scratch_bytes(),
            .shared_bytes = compiled->slots.shared_bytes()};
  }

  bool is_on_cpu() const noexcept override { return false; }
  std::unique_ptr<WeightStore> make_weights(std::vector<WeightTensor> tensors,
                                            const UpdateRule& rule) override {
    return cudnn::make_card_weights(device_, std::move(tensors), rule);
  }

 private:
  std::shared_ptr<cudnn::Device> device_;
};

}  // namespace

std::unique_ptr<Backend> make_cudnn_backend(const BackendOptions& options) {
  return make_cudnn_backend(cudnn::open_device(options.device));
}

std::unique_ptr<Backend> make_cudnn_backend(std::shared_ptr<cudnn::Device> device) {
  return std::make_unique<CudnnBackend>(std::move(device));
}

}  // namespace winnow::train
