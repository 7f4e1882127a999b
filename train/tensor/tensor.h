#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

// Extents of a tensor, in logical order: activations (N, C, H, W) or (N, D), convolution weights
// (K, C, R, S), linear weights (K, D). In memory, activations are always NHWC, and parameters are
// in logical order (OIHW).
using Shape = std::vector<std::int64_t>;

// Type in which a program computes.
// kTf32  Stored as f32; products use 10 bits of their factors' mantissas. CUDA only.
// kF16   Needs loss scaling (train/step/loss_scale.h). CUDA only.
enum class DType : std::uint8_t { kF32, kBF16, kTf32, kF16 };

// Number of elements; throws Error if it exceeds 63 bits.
std::int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "(64, 16, 32, 32)"

// Name of the type: "f32", "bf16", "tf32", "f16".
std::string_view dtype_name(DType dtype) noexcept;
DType parse_dtype(std::string_view name);  // UsageError
std::size_t bytes_of(DType dtype) noexcept;

}  // namespace winnow::train
