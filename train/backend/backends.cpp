#include <array>
#include <string>

#include "common/row_called.h"
#include "train/backend/backend.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/onednn/onednn.h"
#include "train/backend/reference/reference.h"

namespace winnow::train {
namespace {

constexpr std::array<BackendRow, 3> kBackends = {{
    {"onednn", "oneDNN and own kernels on CPUs, f32 and bf16",
     [](const BackendOptions&) { return make_onednn_backend(); }},
    {"cudnn", "cuDNN, cuBLASLt and own kernels on NVIDIA cards, f32, tf32, bf16 and f16",
     make_cudnn_backend},
    {"reference", "naive loops in float64, the oracle of the others",
     [](const BackendOptions&) { return make_reference_backend(); }},
}};

}  // namespace

std::span<const BackendRow> backends() { return kBackends; }

std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options) {
  return row_called("unknown backend", name, backends()).make(options);
}

}  // namespace winnow::train
