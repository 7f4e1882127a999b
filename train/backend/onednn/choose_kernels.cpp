#include "train/backend/onednn/kernels.h"

namespace winnow::train::kernels {

bool runs_here(const Table& table) noexcept {
  if (&table == &x86_64_v4_bf16()) {
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16");
  }
  if (&table == &x86_64_v4()) return __builtin_cpu_supports("x86-64-v4");
  if (&table == &x86_64_v3()) return __builtin_cpu_supports("x86-64-v3");
  return true;
}

const Table& best() noexcept {
  if (runs_here(x86_64_v4_bf16())) return x86_64_v4_bf16();
  if (runs_here(x86_64_v4())) return x86_64_v4();
  if (runs_here(x86_64_v3())) return x86_64_v3();
  return generic();
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
