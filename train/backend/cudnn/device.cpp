#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {
namespace {

std::string number(const char* name, std::int64_t value) {
  return std::string(" ") + name + std::to_string(value);
}

std::string_view name_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackwardData:
      return "backward-data";
    case Pass::kBackwardFilter:
      return "backward-filter";
  }
  return "?";
}

// "f32", "tf32", "bf16", and "bf16->f32" where the result is of another type.
std::string types(Element type, Element result, bool tf32) {
  const auto name = [&](Element e) -> std::string {
    return e == Element::kBf16 ? "bf16" : tf32 ? "tf32" : "f32";
  };
  return type == result ? name(type) : name(type) + "->" + name(result);
}

}  // namespace

std::size_t bytes_of(Element element) noexcept { return element == Element::kF32 ? 4 : 2; }

std::string to_string(const ConvolutionDescription& d) {
  return std::string(name_of(d.pass)) + " " + types(d.type, d.result, d.tf32) + number("n", d.n) +
         number("c", d.c) + number("h", d.h) + number("w", d.w) + number("k", d.k) +
         number("r", d.r) + number("s", d.s) + number("p", d.p) + number("q", d.q) +
         number("stride", d.stride) + number("pad", d.pad) +
         (d.deterministic ? " deterministic" : "");
}

std::string to_string(const MatmulDescription& d) {
  return "matmul " + types(d.type, d.result, d.tf32) + number("m", d.m) + number("n", d.n) +
         number("k", d.k) + (d.transpose_a ? " a-transposed" : "") +
         (d.transpose_b ? " b-transposed" : "");
}

}  // namespace winnow::train::cudnn
