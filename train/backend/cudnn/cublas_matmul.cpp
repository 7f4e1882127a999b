#include <string_view>
#include <type_traits>
#include <utility>

#include "common/error.h"
#include "train/backend/cudnn/cublas_matmul_internal.h"
#include "train/backend/cudnn/cuda_internal.h"
#include "train/backend/cudnn/device_errors.h"
#include "train/backend/cudnn/matmul_layout.h"

namespace winnow::train::cudnn {
namespace {

constexpr std::size_t kMaxWorkspaceBytes = std::size_t{32} << 20;
constexpr std::uint32_t kOperandAlignment = 16;  // in bytes

void check(cublasStatus_t status, std::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(call_failed(what, std::string("cuBLAS says ") + cublasLtGetStatusString(status)));
}

template <auto kDestroy>
struct Destroy {
  template <class T>
  void operator()(T* handle) const noexcept {
    kDestroy(handle);
  }
};
template <class Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<kDestroy>>;
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

cudaDataType_t type_of(Element element) {
  if (element == Element::kF16) return CUDA_R_16F;
  return element == Element::kF32 ? CUDA_R_32F : CUDA_R_16BF;
}

Operation make_operation(const MatmulDescription& d, const ColumnMajorProduct& p) {
  const auto compute =
      d.type == Element::kF32 && d.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t raw = nullptr;
  check(cublasLtMatmulDescCreate(&raw, compute, CUDA_R_32F), "describe a matrix product");
  Operation operation(raw);
  const auto transpose = [&](cublasLtMatmulDescAttributes_t which, bool is_transposed) {
    const cublasOperation_t value = is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(raw, which, &value, sizeof(value)),
          "describe a matrix product");
  };
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_first);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_second);
  return operation;
}

// The layout of `batch` contiguous matrices.
Layout make_layout(const ColumnMajor& matrix, Element type, std::int64_t batch) {
  cublasLtMatrixLayout_t raw = nullptr;
  check(cublasLtMatrixLayoutCreate(&raw, type_of(type), static_cast<std::uint64_t>(matrix.rows),
                                   static_cast<std::uint64_t>(matrix.columns), matrix.leading),
        "describe a matrix");
  Layout layout(raw);
  const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
    check(cublasLtMatrixLayoutSetAttribute(raw, which, &value, sizeof(value)), "describe a matrix");
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{matrix.leading * matrix.columns});
  return layout;
}

// Partial sums, if any, are kept in f32 and added in a fixed order.
Preference make_preference() {
  cublasLtMatmulPreference_t raw = nullptr;
  check(cublasLtMatmulPreferenceCreate(&raw), "describe a matrix product");
  Preference preference(raw);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    check(cublasLtMatmulPreferenceSetAttribute(raw, which, &value, sizeof(value)),
          "describe a matrix product");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMaxWorkspaceBytes});
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, kOperandAlignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, kOperandAlignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, kOperandAlignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, kOperandAlignment);
  return preference;
}

int algorithm_id(const cublasLtMatmulAlgo_t& algorithm) {
  int id = -1;
  std::size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id),
                                             &written),
        "ask cuBLAS about an algorithm");
  return id;
}

bool is_on_tensor_cores(const cublasLtMatmulAlgo_t& algorithm) {
  cublasLtNumericalImplFlags_t flags = 0;
  std::size_t written = 0;
  check(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
                                          &flags, sizeof(flags), &written),
        "ask cuBLAS how an algorithm computes");
  return (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
}

struct Parts {
  Operation operation;
  Layout first, second, result;
};

class CublasMatmul final : public Product {
 public:
  CublasMatmul(std::shared_ptr<cublasLtContext> handle, Parts parts,
               const cublasLtMatmulHeuristicResult_t& found)
      : handle_(std::move(handle)), parts_(std::move(parts)), found_(found) {}

  std::size_t workspace_bytes() const noexcept override { return found_.workspaceSize; }
  std::string plan() const override {
    return "cublaslt algorithm " + std::to_string(algorithm_id(found_.algo));
  }
  bool uses_tensor_cores() const override { return is_on_tensor_cores(found_.algo); }
  void run(Stream& stream, const void* a, const void* b, void* result,
           void* workspace) const override {
    const float one = 1;
    const float zero = 0;
    check(cublasLtMatmul(handle_.get(), parts_.operation.get(), &one, b, parts_.first.get(), a,
                         parts_.second.get(), &zero, result, parts_.result.get(), result,
                         parts_.result.get(), &found_.algo, workspace, found_.workspaceSize,
                         static_cast<CudaStream&>(stream).native()),
          "run a matrix product");
  }

 private:
  std::shared_ptr<cublasLtContext> handle_;
  Parts parts_;
  cublasLtMatmulHeuristicResult_t found_;
};

}  // namespace

std::string cublas_version() {
  const std::size_t version = cublasLtGetVersion();  // 130002: 13.0.2
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

void DestroyCublasLt::operator()(cublasLtContext* handle) const noexcept {
  cublasLtDestroy(handle);
}

Matmuls::Matmuls() {
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle), "start cuBLAS");
  handle_ = std::shared_ptr<cublasLtContext>(handle, DestroyCublasLt{});
}

std::unique_ptr<Product> Matmuls::make(const MatmulDescription& d) const {
  const ColumnMajorProduct p = as_column_major(d);
  Parts parts{.operation = make_operation(d, p),
              .first = make_layout(p.first, d.type, d.batch),
              .second = make_layout(p.second, d.type, d.batch),
              .result = make_layout(p.result, d.result, d.batch)};
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_.get(), parts.operation.get(), parts.first.get(), parts.second.get(),
      parts.result.get(), parts.result.get(), make_preference().get(), 1, &found, &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    return nullptr;
  check(status, "choose an algorithm for a matrix product");
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS) return nullptr;
  return std::make_unique<CublasMatmul>(handle_, std::move(parts), found);
}

}  // namespace winnow::train::cudnn
