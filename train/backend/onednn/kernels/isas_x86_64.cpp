#include "train/backend/onednn/kernels/isas_internal.h"

namespace winnow::train::kernels {
namespace {

constexpr const Table* kTables[] = {&x86_64_v4_bf16::kTable, &x86_64_v4::kTable, &x86_64_v3::kTable,
                                    &generic::kTable};

}  // namespace

std::string_view architecture() noexcept { return "x86_64"; }

std::span<const Table* const> tables() noexcept { return kTables; }

bool runs_here(const Table& table) noexcept {
  if (&table == &x86_64_v4_bf16::kTable) {
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16");
  }
  if (&table == &x86_64_v4::kTable) return __builtin_cpu_supports("x86-64-v4");
  if (&table == &x86_64_v3::kTable) return __builtin_cpu_supports("x86-64-v3");
  return true;
}

}  // namespace winnow::train::kernels
