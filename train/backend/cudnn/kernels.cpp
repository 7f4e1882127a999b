#include "train/backend/cudnn/kernels.h"

#include "train/backend/cudnn/kernels_norm_internal.h"
#include "train/backend/cudnn/kernels_update_internal.h"

namespace winnow::train::cudnn::kernels {

std::size_t channel_sums_scratch_bytes(std::int64_t rows, std::int64_t channels) noexcept {
  return static_cast<std::size_t>(2 * parts_of(rows, channels).parts * channels) * sizeof(double);
}

std::size_t update_scratch_bytes(std::int64_t count) noexcept {
  return static_cast<std::size_t>(2 * norm_parts(count) + 2) * sizeof(double);
}

}  // namespace winnow::train::cudnn::kernels
