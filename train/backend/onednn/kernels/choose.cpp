#include "train/backend/onednn/kernels.h"

namespace winnow::train::kernels {

const Table& best() noexcept {
  for (const Table* table : tables()) {
    if (runs_here(*table)) return *table;
  }
  return *tables().back();
}

namespace {
constexpr std::int64_t padded(std::int64_t channels) {
  return (channels + kLanes - 1) / kLanes * kLanes;
}
}  // namespace

std::int64_t batch_norm_coefficients(std::int64_t channels) noexcept {
  return 3 * padded(channels);
}

std::int64_t batch_norm_scratch_bytes(std::int64_t channels) noexcept {
  constexpr std::int64_t kBytes = 3 * kParts * sizeof(double) + 6 * sizeof(float);
  return padded(channels) * kBytes;
}

}  // namespace winnow::train::kernels
