#include "train/backend/onednn/kernels/isas_internal.h"

// For architectures without instruction sets in kernel_isas.cmake.
namespace winnow::train::kernels {
namespace {

constexpr const Table* kTables[] = {&generic::kTable};

}  // namespace

std::string_view architecture() noexcept { return "generic"; }

std::span<const Table* const> tables() noexcept { return kTables; }

bool runs_here(const Table&) noexcept { return true; }

}  // namespace winnow::train::kernels
