#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

std::string cublas_version();  // "13.0.2"

struct DestroyCublasLt {
  void operator()(cublasLtContext* handle) const noexcept;
};

// Makes matrix products of one GPU by cuBLASLt. The GPU's CUDA context must be current in the
// constructor and in make().
class Matmuls {
 public:
  Matmuls();
  std::unique_ptr<Product> make(const MatmulDescription& description) const;

 private:
  std::shared_ptr<cublasLtContext> handle_;
};

}  // namespace winnow::train::cudnn
