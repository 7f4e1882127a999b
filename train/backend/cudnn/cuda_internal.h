#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn::kernels {
const Table& cuda_kernels() noexcept;
}

// Streams and events of device.h on the CUDA runtime, for everything that launches work on a GPU.
namespace winnow::train::cudnn {

// Throws Error unless `status` is success. The message is "cannot `what`: " and CUDA's text.
void check(cudaError_t status, std::string_view what);

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(int device);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  cudaEvent_t native() const noexcept { return event_; }
  void wait() const override;

 private:
  cudaEvent_t event_ = nullptr;
};

// A CUDA stream that does not synchronise with the default stream.
class CudaStream final : public Stream {
 public:
  CudaStream(int device, std::shared_ptr<TrafficCounter> counter);
  ~CudaStream() override;  // work that was already given to the stream still completes
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  // Returns the CUDA stream. Also makes its GPU the current one of this thread, which every launch
  // on the stream needs.
  cudaStream_t native() const;

  void record(Event& event) override;
  void wait(const Event& event) override;
  void synchronize() override;

 private:
  void copy(void* to, const void* from, std::size_t bytes) override;

  int device_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace winnow::train::cudnn
