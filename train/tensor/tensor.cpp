#include "train/tensor/tensor.h"

#include "common/error.h"

namespace winnow::train {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool fits = true;
  for (const std::int64_t extent : shape) fits &= !__builtin_mul_overflow(count, extent, &count);
  if (!fits)
    throw Error("a shape of " + to_string(shape) + " has more elements than can be counted");
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + ")";
}

std::string_view dtype_name(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kTf32:
      return "tf32";
    case DType::kF16:
      return "f16";
  }
  return "?";
}

DType parse_dtype(std::string_view name) {
  if (name == "f32") return DType::kF32;
  if (name == "bf16") return DType::kBF16;
  if (name == "tf32") return DType::kTf32;
  if (name == "f16") return DType::kF16;
  throw UsageError("unknown dtype '" + std::string(name) + "'; known: f32, bf16, f16, tf32");
}

std::size_t bytes_of(DType dtype) noexcept {
  return dtype == DType::kBF16 || dtype == DType::kF16 ? 2 : 4;
}

}  // namespace winnow::train
