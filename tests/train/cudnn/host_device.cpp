#include "tests/train/cudnn/host_device.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "tests/train/cudnn/host_kernels.h"
#include "train/backend/cudnn/kernels.h"
#include "train/tensor/f16.h"

namespace winnow::train::cudnn {
namespace {

constexpr int kPoison = 0xff;  // NaN in f32, bf16 and f16
constexpr std::size_t kAlignment = 256;

class HostEvent final : public Event {
 public:
  void wait() const override {
    if (stream != nullptr) stream->run_until(position);
  }
  HostStream* stream = nullptr;
  std::size_t position = 0;
};

double element_at(const void* data, Element type, std::int64_t i) {
  if (type == Element::kF32) return static_cast<const float*>(data)[i];
  const auto bits = static_cast<const std::uint16_t*>(data)[i];
  if (type == Element::kF16) return f32_of_f16(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// A factor in f32 as a tensor core reads it: rounded to 11 significant bits.
double as_tf32(double value) {
  if (std::isnan(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0xfffU + ((bits >> 13) & 1U)) & 0xffffe000U);
}

void set_element(void* data, Element type, std::int64_t i, double value) {
  const auto f32 = static_cast<float>(value);
  if (type == Element::kF32) {
    static_cast<float*>(data)[i] = f32;
    return;
  }
  if (type == Element::kF16) {
    static_cast<std::uint16_t*>(data)[i] = f16_of(f32);
    return;
  }
  auto bits = std::bit_cast<std::uint32_t>(f32);
  bits += 0x7fffU + ((bits >> 16) & 1U);
  static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(bits >> 16);
}

// Reads and writes as a library's kernel would. The workspace is poisoned before and after.
class HostProduct final : public Product {
 public:
  using Compute = std::function<void(const void* a, const void* b, void* result)>;
  HostProduct(std::string plan, bool tensor_cores, std::size_t workspace_bytes, Compute compute)
      : plan_(std::move(plan)),
        tensor_cores_(tensor_cores),
        workspace_bytes_(workspace_bytes),
        compute_(std::move(compute)) {}
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }
  std::string plan() const override { return plan_; }
  bool uses_tensor_cores() const override { return tensor_cores_; }
  void run(Stream& stream, const void* a, const void* b, void* result,
           void* workspace) const override {
    static_cast<HostStream&>(stream).push([=, this] {
      std::memset(workspace, kPoison, workspace_bytes_);
      compute_(a, b, result);
      std::memset(workspace, kPoison, workspace_bytes_);
    });
  }

 private:
  std::string plan_;
  bool tensor_cores_;
  std::size_t workspace_bytes_;
  Compute compute_;
};

// A factor as a product with such operands takes it.
double factor_at(const void* data, Element type, bool tf32, std::int64_t i) {
  const double value = element_at(data, type, i);
  return type == Element::kF32 && tf32 ? as_tf32(value) : value;
}

std::vector<double> factors(const void* data, Element type, bool tf32, std::int64_t count) {
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    all[static_cast<std::size_t>(i)] = factor_at(data, type, tf32, i);
  }
  return all;
}

// The index that output p reads at element r of its window.
std::int64_t read_at(const ConvAxis& axis, std::int64_t p, std::int64_t r) {
  return p * axis.stride + r * axis.dilation - axis.before;
}

// One convolution in float64. Its result is any of its three tensors, depending on the pass.
void convolve(const ConvolutionDescription& d, const void* a, const void* b, void* result) {
  const ConvExtents& e = d.extents;
  const std::int64_t x_count = e.x.n * e.x.h * e.x.w * e.x.c;
  const std::int64_t channels = e.filter_channels();
  const std::int64_t w_count = e.y.c * e.r * e.s * channels;
  const std::int64_t y_count = e.x.n * e.y.h * e.y.w * e.y.c;
  const auto operand = [&](Pass computed_in, std::int64_t count, const void* data) {
    return d.pass == computed_in ? std::vector<double>(static_cast<std::size_t>(count), 0.0)
                                 : factors(data, d.type, d.tf32, count);
  };
  std::vector<double> x = operand(Pass::kBackwardData, x_count, a);
  std::vector<double> w =
      operand(Pass::kBackwardFilter, w_count, b);  // the second operand of both other passes
  std::vector<double> y = operand(Pass::kForward, y_count, d.pass == Pass::kBackwardData ? a : b);
  for (std::int64_t n = 0; n < e.x.n; ++n) {
    for (std::int64_t p = 0; p < e.y.h; ++p) {
      for (std::int64_t q = 0; q < e.y.w; ++q) {
        for (std::int64_t r = 0; r < e.r; ++r) {
          for (std::int64_t s = 0; s < e.s; ++s) {
            const std::int64_t row = read_at(e.axes.rows, p, r);
            const std::int64_t column = read_at(e.axes.columns, q, s);
            if (row < 0 || row >= e.x.h || column < 0 || column >= e.x.w) continue;
            double* const image =
                &x[static_cast<std::size_t>(((n * e.x.h + row) * e.x.w + column) * e.x.c)];
            double* const ys = &y[static_cast<std::size_t>(((n * e.y.h + p) * e.y.w + q) * e.y.c)];
            for (std::int64_t k = 0; k < e.y.c; ++k) {
              double* const xs = image + k / (e.y.c / e.groups) * channels;
              double* const ws = &w[static_cast<std::size_t>(((k * e.r + r) * e.s + s) * channels)];
              for (std::int64_t c = 0; c < channels; ++c) {
                switch (d.pass) {
                  case Pass::kForward:
                    ys[k] += xs[c] * ws[c];
                    break;
                  case Pass::kBackwardData:
                    xs[c] += ys[k] * ws[c];
                    break;
                  case Pass::kBackwardFilter:
                    ws[c] += xs[c] * ys[k];
                    break;
                }
              }
            }
          }
        }
      }
    }
  }
  const std::vector<double>& sums = d.pass == Pass::kForward        ? y
                                    : d.pass == Pass::kBackwardData ? x
                                                                    : w;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    set_element(result, d.result, static_cast<std::int64_t>(i), sums[i]);
  }
}

void multiply(const MatmulDescription& d, const void* a, const void* b, void* result) {
  for (std::int64_t row = 0; row < d.batch * d.m; ++row) {
    const std::int64_t i = row % d.m;
    const std::int64_t first_a = row / d.m * d.m * d.k;
    const std::int64_t first_b = row / d.m * d.k * d.n;
    for (std::int64_t j = 0; j < d.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < d.k; ++l) {
        const std::int64_t at_a = first_a + (d.transpose_a ? l * d.m + i : i * d.k + l);
        const std::int64_t at_b = first_b + (d.transpose_b ? j * d.k + l : l * d.n + j);
        sum += factor_at(a, d.type, d.tf32, at_a) * factor_at(b, d.type, d.tf32, at_b);
      }
      set_element(result, d.result, row * d.n + j, sum);
    }
  }
}

Memory aligned_memory(std::size_t bytes, std::function<void()> given_back) {
  const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* block = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  std::memset(block, kPoison, size);
  return Memory(block, [given_back = std::move(given_back), size](std::byte* p) {
    std::memset(p, kPoison, size);
    std::free(p);
    given_back();
  });
}

}  // namespace

void HostStream::copy(void* to, const void* from, std::size_t bytes) {
  push([=] { std::memcpy(to, from, bytes); });
}

void HostStream::record(Event& event) {
  auto& mine = static_cast<HostEvent&>(event);
  mine.stream = this;
  mine.position = given();
}

// Waits for the event as recorded now. A later record() has no effect.
void HostStream::wait(const Event& event) {
  const auto& other = static_cast<const HostEvent&>(event);
  if (other.stream == nullptr) return;
  push([stream = other.stream, position = other.position] { stream->run_until(position); });
}

void HostStream::run_until(std::size_t count) {
  while (done_ < count) {
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    ++done_;
    if (health_->done++ >= health_->works_until) throw Error("the card failed");
    work();
  }
}

HostDevice::HostDevice(const HostDeviceOptions& options)
    : options_(options),
      card_{.name = "host memory",
            .capability = 90,
            .multiprocessors = 1,
            .memory_bytes = static_cast<std::int64_t>(options.memory_bytes),
            .driver = "13.0",
            .runtime = "13.0",
            .cudnn = "none",
            .cublas = "none"},
      use_(std::make_shared<HostDeviceUse>()),
      health_(std::make_shared<HostHealth>()) {}

HostDevice::~HostDevice() = default;

Memory HostDevice::allocate(std::size_t bytes) {
  if (use_->bytes + bytes > options_.memory_bytes) {
    throw Error("out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                std::to_string(options_.memory_bytes - use_->bytes) + " left");
  }
  use_->bytes += bytes;
  use_->most_bytes = std::max(use_->most_bytes, use_->bytes);
  ++use_->allocations;
  return aligned_memory(bytes, [use = use_, bytes] { use->bytes -= bytes; });
}

Memory HostDevice::allocate_host(std::size_t bytes) {
  ++use_->allocations;
  return aligned_memory(bytes, [] {});
}

std::unique_ptr<Stream> HostDevice::make_stream() {
  return std::make_unique<HostStream>(health_, traffic_);
}
std::unique_ptr<Event> HostDevice::make_event() { return std::make_unique<HostEvent>(); }

const kernels::Table& HostDevice::kernels() const noexcept { return kernels::host_kernels(); }

std::unique_ptr<Product> HostDevice::make_convolution(const ConvolutionDescription& d,
                                                      const std::string* plan) {
  constexpr std::size_t kWorkspace = 1000;
  const bool mixed = d.type != d.result;
  if (!options_.has_libraries || (mixed && !options_.has_mixed_convolutions)) return nullptr;
  const std::vector<std::string>& engines = options_.engines;
  if (plan != nullptr && !std::ranges::count(engines, *plan)) return nullptr;
  ConvolutionDescription done = d;
  done.tf32 = d.tf32 && options_.rounds_to_tf32;
  return std::make_unique<HostProduct>(
      plan != nullptr ? *plan : engines.front(), d.type != Element::kF32 || d.tf32, kWorkspace,
      [done](const void* a, const void* b, void* result) { convolve(done, a, b, result); });
}

std::unique_ptr<Product> HostDevice::make_matmul(const MatmulDescription& d) {
  if (!options_.has_libraries) return nullptr;
  MatmulDescription done = d;
  done.tf32 = d.tf32 && options_.rounds_to_tf32;
  return std::make_unique<HostProduct>(
      "loops", d.type != Element::kF32 || d.tf32, 0,
      [done](const void* a, const void* b, void* result) { multiply(done, a, b, result); });
}

}  // namespace winnow::train::cudnn
