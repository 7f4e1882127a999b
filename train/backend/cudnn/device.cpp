#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {
namespace {

std::string number(const char* name, std::int64_t value) {
  return std::string(" ") + name + std::to_string(value);
}

// Type names such as "f32", "tf32", "bf16", "f16"; "bf16->f32" if the result has another type.
std::string types(Element type, Element result, bool tf32) {
  const auto name = [&](Element e) -> std::string {
    return e == Element::kF32 && tf32 ? "tf32" : std::string(name_of(e));
  };
  return type == result ? name(type) : name(type) + "->" + name(result);
}

}  // namespace

void Stream::copy_to_device(void* device, const void* host, std::size_t bytes) {
  counter_->add_to_device(bytes);
  copy(device, host, bytes);
}

void Stream::copy_to_host(void* host, const void* device, std::size_t bytes) {
  counter_->add_to_host(bytes);
  copy(host, device, bytes);
}

std::string to_string(const ConvolutionDescription& d) {
  return std::string(name_of(d.pass)) + " " + types(d.type, d.result, d.tf32) + " " +
         to_string(d.extents) + (d.deterministic ? " deterministic" : "");
}

std::string to_string(const MatmulDescription& d) {
  return "matmul " + types(d.type, d.result, d.tf32) +
         (d.batch > 1 ? number("batch", d.batch) : "") + number("m", d.m) + number("n", d.n) +
         number("k", d.k) + (d.transpose_a ? " a-transposed" : "") +
         (d.transpose_b ? " b-transposed" : "");
}

}  // namespace winnow::train::cudnn
