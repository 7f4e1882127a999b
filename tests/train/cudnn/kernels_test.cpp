#include "train/backend/cudnn/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "tests/train/conformance.h"
#include "tests/train/cudnn/host_device.h"
#include "tests/train/cudnn/host_kernels.h"
#include "train/backend/cudnn/kernels_internal.h"
#include "train/backend/reference/interpret.h"
#include "train/ops/barlow_twins.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/pooling.h"
#include "train/ops/sigmoid_cross_entropy.h"
#include "train/optim/optimizer.h"

namespace winnow::train::cudnn::kernels::kernels_test {

constexpr ThreadOrder kOrders[] = {ThreadOrder::kAscending, ThreadOrder::kDescending,
                                   ThreadOrder::kShuffled};
constexpr std::int64_t kChannels[] = {1, 3, 17, 64, 131, 2048};
constexpr double kNone = 0;
constexpr double kF32 = 2e-6;   // a few roundings to 24 bits
constexpr double kBf16 = 3e-3;  // one rounding to 8 bits
constexpr double kF16 = 1e-3;   // one rounding to 11 bits, or to fewer below 2^-14

double limit(Element type) {
  return type == Element::kF32 ? kF32 : type == Element::kBf16 ? kBf16 : kF16;
}
// All element types.
constexpr Element kElements[] = {Element::kF32, Element::kBf16, Element::kF16};
std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

// Numbers in memory as a kernel sees them, surrounded by NaNs. They begin `shift` elements behind
// an address that is aligned to 256 bytes.
class Tensor {
 public:
  static constexpr std::size_t kAround = 256;

  Tensor(std::size_t width, std::int64_t count, std::size_t shift = 0)
      : width_(width),
        count_(position(count)),
        begin_(kAround + shift * width),
        bytes_(2 * kAround + (count_ + shift) * width),
        lines_(bytes_ / sizeof(Line) + 1),
        memory_(lines_.front().at) {
    std::memset(memory_, 0xff, bytes_);
    keep();
  }
  Tensor(Element type, std::int64_t count, std::size_t shift = 0)
      : Tensor(bytes_of(type), count, shift) {
    type_ = type;
  }
  Tensor(Element type, const Numbers& numbers, std::size_t shift = 0)
      : Tensor(type, static_cast<std::int64_t>(numbers.size()), shift) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (type == Element::kF32) {
        as<float>()[i] = static_cast<float>(numbers[i]);
      } else if (type == Element::kBf16) {
        as<Bf16>()[i] = element<Bf16>(static_cast<float>(numbers[i]));
      } else {
        as<F16>()[i] = element<F16>(static_cast<float>(numbers[i]));
      }
    }
    keep();
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(memory_ + begin_);
  }
  operator void*() { return memory_ + begin_; }            // NOLINT
  operator float*() { return as<float>(); }                // NOLINT
  operator std::uint8_t*() { return as<std::uint8_t>(); }  // NOLINT

  void keep() { kept_.assign(memory_, memory_ + bytes_); }
  void restore() { std::memcpy(memory_, kept_.data(), kept_.size()); }
  std::vector<std::byte> bytes() const { return {memory_, memory_ + bytes_}; }

  // Whether the surrounding NaNs are intact.
  bool is_sound() const {
    const std::size_t end = begin_ + count_ * width_;
    for (std::size_t i = 0; i < bytes_; ++i) {
      if ((i < begin_ || i >= end) && memory_[i] != std::byte{0xff}) return false;
    }
    return true;
  }
  // Whether every element was written.
  bool is_written() const {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::byte* at = memory_ + begin_ + i * width_;
      if (std::all_of(at, at + width_, [](std::byte b) { return b == std::byte{0xff}; })) {
        return false;
      }
    }
    return true;
  }

  Numbers numbers() {
    Numbers numbers(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      numbers[i] = width_ == 1               ? as<std::uint8_t>()[i]
                   : type_ == Element::kF32  ? as_float(as<float>()[i])
                   : type_ == Element::kBf16 ? as_float(as<Bf16>()[i])
                                             : as_float(as<F16>()[i]);
    }
    return numbers;
  }

 private:
  struct alignas(256) Line {
    std::byte at[256];
  };

  std::size_t width_;
  Element type_ = Element::kF32;  // for elements of more than one byte
  std::size_t count_;
  std::size_t begin_;
  std::size_t bytes_;  // including the surrounding NaNs
  std::vector<Line> lines_;
  std::byte* memory_;
  std::vector<std::byte> kept_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : rng_(seed, 0, 0, RandomUse::kTest) {}
  // Multiples of 1/64 in [-1, 1]: exact in bf16.
  Numbers numbers(std::int64_t count) {
    Numbers result(position(count));
    for (double& v : result) v = static_cast<int>(rng_.below(129)) / 64.0 - 1;
    return result;
  }
  Numbers positive(std::int64_t count) {
    Numbers result = numbers(count);
    for (double& v : result) v = 0.5 + v * v;
    return result;
  }

 private:
  CounterRng rng_;
};

// Runs launch(table, stream) in every order of threads, each time on fresh `outputs`. All orders
// must give the same bits, write every element and nothing else.
template <class Launch>
void in_any_order(const std::vector<Tensor*>& outputs, Launch launch) {
  std::vector<std::vector<std::byte>> first;
  for (const ThreadOrder order : kOrders) {
    for (Tensor* output : outputs) output->restore();
    HostStream stream(order);
    launch(host_kernels(), stream);
    for (Tensor* output : outputs) {
      ASSERT_TRUE(output->is_sound());
    }
    stream.synchronize();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_TRUE(outputs[i]->is_sound()) << "output " << i;
      ASSERT_TRUE(outputs[i]->is_written()) << "output " << i;
      if (order == kOrders[0]) {
        first.push_back(outputs[i]->bytes());
      } else {
        ASSERT_EQ(outputs[i]->bytes(), first[i]) << "output " << i;
      }
    }
  }
}

void expect_near(Tensor& got, const Numbers& want, double most) {
  EXPECT_LE(relative_l2(got.numbers(), want), most);
}

// One operation, computed by the reference.
class Oracle {
 public:
  ValueId data(const Shape& shape, const Numbers& numbers) {
    return add(shape, numbers, ValueKind::kInput, Storage::kCompute);
  }
  ValueId parameter(const Shape& shape, const Numbers& numbers) {
    return add(shape, numbers, ValueKind::kParameter, Storage::kF32);
  }
  std::vector<Numbers> run(const Operation& op, const std::vector<ValueId>& inputs,
                           const Attributes& attributes = {}) {
    const auto outputs = add_node(graph_, op, "y", inputs, attributes);
    const auto values = interpret(graph_, inputs_);
    std::vector<Numbers> result;
    for (const ValueId id : outputs) {
      result.push_back(values[position(id)]);
      shapes.push_back(graph_.value(id).shape);
    }
    return result;
  }
  std::vector<Shape> shapes;  // shapes of the results of run()

 private:
  ValueId add(const Shape& shape, const Numbers& numbers, ValueKind kind, Storage storage) {
    Value value{"v" + std::to_string(graph_.values.size()), shape, kind, storage};
    const ValueId id = add_value(graph_, value);
    inputs_[id] = numbers;
    return id;
  }
  Graph graph_;
  Inputs inputs_;
};

class Kernels : public testing::TestWithParam<Element> {
 protected:
  Element type() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Types, Kernels, testing::ValuesIn(kElements),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// ---- Elements.

TEST(Bf16Kernels, RoundToNearestEvenAndKeepNaN) {
  const auto rounded = [](std::uint32_t bits) {
    return element<Bf16>(std::bit_cast<float>(bits)).bits;
  };
  EXPECT_EQ(rounded(0x3f808000), 0x3f80);  // half way: to even
  EXPECT_EQ(rounded(0x3f818000), 0x3f82);
  EXPECT_EQ(rounded(0x3f808001), 0x3f81);
  EXPECT_EQ(rounded(0x7f7fffff), 0x7f80);  // to infinity
  EXPECT_EQ(rounded(0xff800000), 0xff80);
  EXPECT_EQ(rounded(0x7f800001), 0x7fc0);  // a NaN whose upper half alone would be infinity
  EXPECT_EQ(rounded(0xffffffff), 0xffff);
  EXPECT_EQ(rounded(0x80000000), 0x8000);
  EXPECT_EQ(rounded(0x00010000), 0x0001);  // subnormal
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Bf16 v{static_cast<std::uint16_t>(bits)};
    if (as_float(v) == as_float(v)) {
      ASSERT_EQ(element<Bf16>(as_float(v)).bits, bits);
    }
  }
}

// f16 keeps subnormal numbers and infinities, of either sign.
TEST(F16Kernels, RoundToNearestEvenAndKeepNaN) {
  const auto rounded = [](float value) { return element<F16>(value).bits; };
  EXPECT_EQ(rounded(0x1.002p0F), 0x3c00);  // half way: to even
  EXPECT_EQ(rounded(0x1.006p0F), 0x3c02);
  EXPECT_EQ(rounded(0x1.002002p0F), 0x3c01);
  EXPECT_EQ(rounded(65504), 0x7bff);
  EXPECT_EQ(rounded(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(rounded(65520), 0x7c00);  // to infinity
  EXPECT_EQ(rounded(-1e30F), 0xfc00);
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(rounded(0x1p-14F), 0x0400);      // the smallest normal number
  EXPECT_EQ(rounded(0x1.ff8p-15F), 0x03ff);  // subnormal: rounds as the two above, scaled down
  EXPECT_EQ(rounded(0x1.ffcp-15F), 0x0400);
  EXPECT_EQ(rounded(0x1p-24F), 0x0001);
  EXPECT_EQ(rounded(0x1p-25F), 0x0000);  // half way: to even
  EXPECT_EQ(rounded(0x1.8p-24F), 0x0002);
  EXPECT_EQ(rounded(0x1.000002p-25F), 0x0001);
  EXPECT_EQ(rounded(-1e-30F), 0x8000);
  EXPECT_EQ(rounded(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(rounded(std::bit_cast<float>(0xffffffffU)) & 0x7e00, 0x7e00);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const F16 v{static_cast<std::uint16_t>(bits)};
    if (as_float(v) == as_float(v)) {
      ASSERT_EQ(element<F16>(as_float(v)).bits, bits);
      ASSERT_EQ(as_f16(as_float(v)), as_float(v));
    } else {
      ASSERT_GT(bits & 0x7fffU, 0x7c00U);
    }
  }
  // Every upper half of an f32, with the lower halves around each rounding boundary.
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000U, 0x0fffU, 0x1000U, 0x1001U, 0x3000U, 0xffffU}) {
      const auto value = std::bit_cast<float>(upper << 16 | lower);
      if (value == value) {
        ASSERT_EQ(as_float(element<F16>(value)), as_f16(value)) << value;
      }
    }
  }
}

TEST_P(Kernels, Convert) {
  Random random(1);
  for (const std::int64_t count : {1, 7, 4096, 9001}) {
    for (const Element to : kElements) {
      for (const std::size_t shift : {0, 1}) {
        Numbers numbers = random.numbers(count);
        for (double& v : numbers) v /= 3;
        Tensor from(type(), numbers, shift);
        Tensor y(to, count, shift);
        in_any_order({&y}, [&](const Table& table, Stream& stream) {
          table.convert({from, type(), y, to, count}, stream);
        });
        Numbers want = from.numbers();
        if (to == Element::kBf16) std::ranges::transform(want, want.begin(), as_bf16);
        if (to == Element::kF16) std::ranges::transform(want, want.begin(), as_f16);
        EXPECT_EQ(y.numbers(), want);
      }
    }
  }
}

TEST_P(Kernels, Normalize) {
  for (const int channels : {1, 3, 16}) {
    const std::int64_t count = 401 * channels;
    Tensor pixels(1, count);
    Tensor y(type(), count);
    Normalize a{pixels, type(), y, count, channels, {}, {}};
    Numbers want;
    for (int c = 0; c < channels; ++c) {
      a.factor[c] = 0.01F * static_cast<float>(c + 1);
      a.offset[c] = -1.0F / static_cast<float>(c + 1);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      pixels.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7);
      const std::int64_t c = i % channels;
      want.push_back(static_cast<double>(a.factor[c]) * static_cast<std::uint8_t>(i * 7) +
                     static_cast<double>(a.offset[c]));
    }
    in_any_order({&y}, [&](const Table& table, Stream& stream) { table.normalize(a, stream); });
    expect_near(y, want, limit(type()));
  }
}

TEST_P(Kernels, PackFilterAndBack) {
  Random random(2);
  for (const Shape& s : {Shape{1, 1, 1, 1}, Shape{5, 3, 3, 2}, Shape{17, 131, 1, 1},
                         Shape{64, 3, 7, 7}, Shape{10, 16, 5, 5}}) {
    const Numbers logical = random.numbers(element_count(s));
    Numbers packed(logical.size());
    for (std::int64_t k = 0; k < s[0]; ++k) {
      for (std::int64_t c = 0; c < s[1]; ++c) {
        for (std::int64_t r = 0; r < s[2] * s[3]; ++r) {
          packed[position((k * s[2] * s[3] + r) * s[1] + c)] =
              logical[position((k * s[1] + c) * s[2] * s[3] + r)];
        }
      }
    }
    Tensor parameters(Element::kF32, logical);
    Tensor product(type(), element_count(s));
    Tensor back(Element::kF32, element_count(s));
    in_any_order({&product, &back}, [&](const Table& table, Stream& stream) {
      table.pack_filter({parameters, product, type(), s[0], s[1], s[2], s[3]}, stream);
      table.unpack_filter({product, type(), back, s[0], s[1], s[2], s[3]}, stream);
    });
    EXPECT_EQ(product.numbers(), packed);
    EXPECT_EQ(back.numbers(), logical);
  }
}

TEST_P(Kernels, Elementwise) {
  Random random(3);
  for (const std::int64_t count : {1, 3, 1023, 40001}) {
    for (const std::size_t shift : {0, 1}) {
      Numbers a = random.numbers(count);
      const Numbers b = random.numbers(count);
      Tensor left(type(), a, shift);
      Tensor right(type(), b, shift);
      Tensor relu(type(), count, shift);
      Tensor back(type(), count, shift);
      Tensor sum(type(), count, shift);
      in_any_order({&relu, &back, &sum}, [&](const Table& table, Stream& stream) {
        table.relu({type(), left, nullptr, relu, count}, stream);
        table.relu_backward({type(), left, right, back, count}, stream);
        table.add({type(), left, right, sum, count}, stream);
      });
      Numbers want[3];
      for (std::size_t i = 0; i < a.size(); ++i) {
        want[0].push_back(std::max(a[i], 0.0));
        want[1].push_back(a[i] > 0 ? b[i] : 0);
        want[2].push_back(a[i] + b[i]);  // sums of 1/64ths up to 2 are exact
      }
      EXPECT_EQ(relu.numbers(), want[0]);
      EXPECT_EQ(back.numbers(), want[1]);
      EXPECT_EQ(sum.numbers(), want[2]);
    }
  }
}

TEST_P(Kernels, ReluKeepsNaN) {
  Tensor x(type(), Numbers{std::nan(""), -std::numeric_limits<double>::infinity(), 2});
  Tensor y(type(), 3);
  in_any_order({&y}, [&](const Table& table, Stream& stream) {
    table.relu({type(), x, nullptr, y, 3}, stream);
  });
  EXPECT_TRUE(std::isnan(y.numbers()[0]));
  EXPECT_EQ(y.numbers()[1], 0);
  EXPECT_EQ(y.numbers()[2], 2);
}

// ---- Sums by channels.

TEST_P(Kernels, Bias) {
  Random random(4);
  for (const std::int64_t channels : kChannels) {
    for (const std::int64_t rows : {1, 65, 259}) {
      const Numbers numbers = random.numbers(rows * channels);
      const Numbers bias = random.numbers(channels);
      Tensor y(type(), numbers, channels == 64 ? 1 : 0);
      Tensor dy(type(), numbers, channels == 64 ? 1 : 0);
      Tensor b(Element::kF32, bias);
      Tensor dbias(Element::kF32, channels);
      Tensor scratch(1, static_cast<std::int64_t>(channel_sums_scratch_bytes(rows, channels)));
      in_any_order({&y, &dbias}, [&](const Table& table, Stream& stream) {
        table.add_bias({type(), y, b, rows, channels}, stream);
        table.bias_gradient({type(), dy, dbias, rows, channels, scratch}, stream);
      });
      EXPECT_TRUE(scratch.is_sound());
      Numbers want = numbers;
      Numbers sums(position(channels), 0.0);
      for (std::size_t i = 0; i < want.size(); ++i) {
        want[i] += bias[i % bias.size()];
        sums[i % sums.size()] += numbers[i];
      }
      expect_near(y, want, limit(type()));
      expect_near(dbias, sums, kF32);
    }
  }
}

struct NormShape {
  std::int64_t rows, channels;
};
std::vector<NormShape> norm_shapes() {
  std::vector<NormShape> shapes;
  for (const std::int64_t channels : kChannels) {
    for (const std::int64_t rows : {1, 2, 129}) shapes.push_back({rows, channels});
  }
  shapes.push_back({20011, 1});  // several chunks per thread
  shapes.push_back({40007, 8});
  return shapes;
}

TEST_P(Kernels, BatchNorm) {
  Random random(5);
  for (const auto& [rows, channels] : norm_shapes()) {
    for (const int variant : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(channels) + ", variant " +
                   std::to_string(variant));
      const NormAttributes norm{1e-5, variant > 0, variant > 1};
      const std::size_t shift = variant == 1 ? 1 : 0;
      const Numbers x = random.numbers(rows * channels);
      const Numbers other = random.numbers(rows * channels);
      const Numbers scale = random.numbers(channels);
      const Numbers offset = random.numbers(channels);
      Oracle oracle;
      const Shape shape = {rows, channels, 1, 1};
      std::vector<ValueId> in = {oracle.data(shape, x), oracle.parameter({channels}, scale),
                                 oracle.parameter({channels}, offset)};
      if (norm.residual) in.push_back(oracle.data(shape, other));
      const auto want = oracle.run(kBatchNorm, in, norm);

      Tensor data(type(), x, shift);
      Tensor residual(type(), other, shift);
      Tensor y(type(), rows * channels, shift);
      Tensor s(Element::kF32, scale);
      Tensor o(Element::kF32, offset);
      Tensor mean(Element::kF32, channels);
      Tensor variance(Element::kF32, channels);
      Tensor again(type(), rows * channels, shift);
      Tensor scratch(1, static_cast<std::int64_t>(channel_sums_scratch_bytes(rows, channels)));
      in_any_order({&y, &mean, &variance, &again}, [&](const Table& table, Stream& stream) {
        BatchNorm a{.layer = {type(), rows, channels, norm.epsilon, norm.relu},
                    .x = data,
                    .residual = norm.residual ? static_cast<void*>(residual) : nullptr,
                    .y = y,
                    .scale = s,
                    .shift = o,
                    .statistics = {mean, variance},
                    .memory = {nullptr, scratch}};
        table.batch_norm(a, stream);
        a.y = again;
        a.memory.scratch = nullptr;
        table.batch_norm_inference(a, stream);
      });
      EXPECT_TRUE(scratch.is_sound());
      // With one row all deviations are rounding errors. Dividing by sqrt(epsilon) makes them
      // larger.
      expect_near(y, want[0], limit(type()) * (rows < 3 ? 10 : 1));
      expect_near(mean, want[1], kF32);
      expect_near(variance, want[2], kF32);
      EXPECT_EQ(again.numbers(), y.numbers());
    }
  }
}

TEST_P(Kernels, VarianceOfDataFarFromZeroIsKept) {
  Random random(6);
  for (const std::int64_t channels : {1, 8, 16, 17}) {
    for (const std::int64_t constant : {0, 1, 1024}) {
      const std::int64_t rows = 2048;
      Numbers x = random.numbers(rows * channels);
      // In f32 half of the values are zero, or one value is, or none. 8 bits can hold 128 and 129,
      // but not 4097.
      const double far = type() == Element::kF32 ? 4096 : 128;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<std::int64_t>(i) < constant * channels ? 0 : far + std::ceil(x[i]);
      }
      Oracle oracle;
      const auto want = oracle.run(kBatchNorm,
                                   {oracle.data({rows, channels, 1, 1}, x),
                                    oracle.parameter({channels}, Numbers(position(channels), 1.0)),
                                    oracle.parameter({channels}, Numbers(position(channels), 0.0))},
                                   NormAttributes{});
      Tensor data(type(), x);
      ASSERT_EQ(data.numbers(), x);
      Tensor y(type(), rows * channels);
      Tensor one(Element::kF32, Numbers(position(channels), 1.0));
      Tensor zero(Element::kF32, Numbers(position(channels), 0.0));
      Tensor mean(Element::kF32, channels);
      Tensor variance(Element::kF32, channels);
      Tensor scratch(1, static_cast<std::int64_t>(channel_sums_scratch_bytes(rows, channels)));
      in_any_order({&y, &mean, &variance}, [&](const Table& table, Stream& stream) {
        table.batch_norm({.layer = {type(), rows, channels, 1e-5, false},
                          .x = data,
                          .residual = nullptr,
                          .y = y,
                          .scale = one,
                          .shift = zero,
                          .statistics = {mean, variance},
                          .memory = {nullptr, scratch}},
                         stream);
      });
      expect_near(mean, want[1], 1e-6);
      expect_near(variance, want[2], 1e-6);
    }
  }
}

TEST_P(Kernels, BatchNormBackward) {
  Random random(7);
  for (const auto& [rows, channels] : norm_shapes()) {
    for (const int variant : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(channels) + ", variant " +
                   std::to_string(variant));
      const NormAttributes norm{1e-3, variant > 0, variant > 1};
      const std::size_t shift = variant == 1 ? 1 : 0;
      const Shape shape = {rows, channels, 1, 1};
      const Numbers x = random.numbers(rows * channels);
      const Numbers dy = random.numbers(rows * channels);
      const Numbers y = random.numbers(rows * channels);
      const Numbers scale = random.numbers(channels);
      const Numbers mean = random.numbers(channels);
      const Numbers variance = random.positive(channels);
      Oracle oracle;
      std::vector<ValueId> in = {oracle.data(shape, x), oracle.parameter({channels}, scale),
                                 oracle.parameter({channels}, mean),
                                 oracle.parameter({channels}, variance), oracle.data(shape, dy)};
      if (norm.relu) in.push_back(oracle.data(shape, y));
      const auto want = oracle.run(kBatchNormBackward, in, norm);

      Tensor tx(type(), x, shift);
      Tensor tdy(type(), dy, shift);
      Tensor ty(type(), y, shift);
      Tensor ts(Element::kF32, scale);
      Tensor tm(Element::kF32, mean);
      Tensor tv(Element::kF32, variance);
      Tensor dx(type(), rows * channels, shift);
      Tensor dresidual(type(), rows * channels, shift);
      Tensor dscale(Element::kF32, channels);
      Tensor dshift(Element::kF32, channels);
      Tensor scratch(1, static_cast<std::int64_t>(channel_sums_scratch_bytes(rows, channels)));
      std::vector<Tensor*> outputs = {&dx, &dscale, &dshift};
      if (norm.residual) outputs.push_back(&dresidual);
      in_any_order(outputs, [&](const Table& table, Stream& stream) {
        table.batch_norm_backward(
            {.layer = {type(), rows, channels, norm.epsilon, norm.relu},
             .x = tx,
             .dy = tdy,
             .y = norm.relu ? static_cast<void*>(ty) : nullptr,
             .scale = ts,
             .statistics = {tm, tv},
             .gradients = {dx, norm.residual ? static_cast<void*>(dresidual) : nullptr, dscale,
                           dshift},
             .memory = {nullptr, scratch}},
            stream);
      });
      EXPECT_TRUE(scratch.is_sound());
      expect_near(dx, want[0], limit(type()));
      expect_near(dscale, want[1], kF32);
      expect_near(dshift, want[2], kF32);
      if (norm.residual) expect_near(dresidual, want[3], kNone);
    }
  }
}

template <int kPhase = 0, class Kernel>
void run_block(const Kernel& kernel, std::int64_t block, typename Kernel::Shared& shared) {
  for (int thread = 0; thread < kThreads; ++thread) {
    kernel.template run<kPhase>({block, thread}, shared);
  }
  if constexpr (kPhase + 1 < Kernel::kPhases) run_block<kPhase + 1>(kernel, block, shared);
}
template <class Kernel>
void run_alone(const Kernel& kernel) {
  const auto shared = std::make_unique<typename Kernel::Shared>();
  for (std::int64_t block = 0; block < kernel.shape().blocks; ++block) {
    run_block(kernel, block, *shared);
  }
}

// Few parts, so that a thread has several chunks, as with very many rows.
TEST(Sums, OfManyChunksAThread) {
  const std::int64_t rows = 40007;
  const std::int64_t channels = 4;
  for (const std::int64_t count : {1, 3}) {
    Random random(13);
    Numbers x = random.numbers(rows * channels);
    for (std::size_t i = 0; i < x.size(); ++i) {  // in levels that are far apart
      x[i] = std::ceil(x[i]) + (i / 41000 == 1 ? 0 : 1000.0 * static_cast<double>(i / 41000));
    }
    Numbers want[3] = {Numbers(4), Numbers(4), Numbers(4)};  // mean, variance, sum
    for (std::size_t i = 0; i < x.size(); ++i) {
      want[0][i % 4] += x[i] / static_cast<double>(rows);
      want[2][i % 4] += x[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      want[1][i % 4] += std::pow(x[i] - want[0][i % 4], 2) / static_cast<double>(rows);
    }
    const Parts parts{rows, count};
    Tensor data(Element::kF32, x);
    Tensor mean(Element::kF32, channels);
    Tensor variance(Element::kF32, channels);
    Tensor sum(Element::kF32, channels);
    std::vector<double> means(position(count * channels), std::nan(""));
    std::vector<double> squares = means;
    run_alone(
        MomentsKernel<float, 4>{data.as<float>(), channels, parts, means.data(), squares.data()});
    run_alone(FinishMomentsKernel{means.data(), squares.data(), channels, parts, mean, variance});
    expect_near(mean, want[0], 1e-6);
    expect_near(variance, want[1], 1e-6);
    const BiasTerms<float> terms{data.as<float>(), sum};
    run_alone(ChannelSumsKernel<float, 4, BiasTerms<float>>{terms, channels, parts, means.data()});
    run_alone(FinishSumsKernel<BiasTerms<float>>{terms, channels, parts, means.data()});
    expect_near(sum, want[2], 1e-6);
  }
}

// ---- Pooling.

struct PoolCase {
  std::int64_t channels;
  int kernel_h, kernel_w, stride, pad;
};
constexpr PoolCase kPools[] = {{1, 2, 2, 2, 0},  {3, 3, 3, 2, 1},   {17, 3, 2, 1, 1},
                               {64, 3, 3, 2, 1}, {131, 1, 1, 3, 0}, {2048, 7, 7, 1, 0},
                               {24, 2, 2, 3, 0}};

TEST_P(Kernels, Pools) {
  Random random(8);
  for (const PoolCase& c : kPools) {
    for (const bool is_max : {true, false}) {
      SCOPED_TRACE(std::to_string(c.channels) + (is_max ? " max" : " average"));
      const Shape shape = {2, c.channels, 7, 8};
      PoolAttributes pool;
      pool.kernel_h = c.kernel_h;
      pool.kernel_w = c.kernel_w;
      pool.stride = c.stride;
      pool.pad = c.pad;
      const Numbers x = random.numbers(element_count(shape));
      Oracle forward;
      const auto want = forward.run(is_max ? kMaxPool : kAvgPool, {forward.data(shape, x)}, pool);
      const Shape out = forward.shapes[0];
      const Numbers dy = random.numbers(element_count(out));

      Tensor tx(type(), x, c.channels == 24 ? 1 : 0);
      Tensor tdy(type(), dy);
      Tensor y(type(), element_count(out));
      Tensor index(1, element_count(out));
      Tensor dx(type(), element_count(shape));
      std::vector<Tensor*> outputs = {&y, &dx};
      if (is_max) outputs.push_back(&index);
      in_any_order(outputs, [&](const Table& table, Stream& stream) {
        const PoolWindow window{c.kernel_h, c.kernel_w, c.stride, c.pad};
        const PoolLayer layer{2, c.channels, 7, 8, out[2], out[3], window};
        Pool a{type(), layer, tx, y, index.as<std::uint8_t>()};
        (is_max ? table.max_pool : table.avg_pool)(a, stream);
        a.from = tdy;
        a.to = dx;
        (is_max ? table.max_pool_backward : table.avg_pool_backward)(a, stream);
      });
      expect_near(y, want[0], is_max ? kNone : limit(type()));
      if (is_max) expect_near(index, want[1], kNone);

      Graph graph;
      pool.data_shape = shape;
      const ValueId gx = add_value(graph, {"x", shape, ValueKind::kInput});
      const ValueId gdy = add_value(graph, {"dy", out, ValueKind::kInput});
      std::vector<ValueId> dx_in = {gdy};
      if (is_max) dx_in.push_back(add_node(graph, kMaxPool, "y", {gx}, pool)[1]);
      const auto made =
          add_node(graph, is_max ? kMaxPoolBackward : kAvgPoolBackward, "dx", dx_in, pool);
      const auto values = interpret(graph, {{gx, x}, {gdy, dy}});
      expect_near(dx, values[position(made[0])], limit(type()));
    }
  }
}

TEST_P(Kernels, MaxPoolTakesTheFirstNaN) {
  const double nan = std::nan("");
  Tensor x(type(), Numbers{1, nan, nan, 5});
  Tensor y(type(), 1);
  Tensor index(1, 1);
  in_any_order({&y, &index}, [&](const Table& table, Stream& stream) {
    table.max_pool({type(), {1, 1, 2, 2, 1, 1, {2, 2, 1, 0}}, x, y, index.as<std::uint8_t>()},
                   stream);
  });
  EXPECT_TRUE(std::isnan(y.numbers()[0]));
  EXPECT_EQ(index.numbers()[0], 1);
}

// ---- Loss.

struct Losses {
  double loss = 0;
  Numbers per_sample{};
  Numbers dlogits{};
};
// The reference takes time in proportion to the square of the number of classes.
Losses losses(const Numbers& logits, const Numbers& targets, const Numbers& weights,
              double smoothing) {
  const std::size_t classes = logits.size() / weights.size();
  Losses result;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const double* row = &logits[n * classes];
    const double* target = &targets[n * classes];
    const double greatest = *std::max_element(row, row + classes);
    double all = 0;
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      all += target[k];
      sum += std::exp(row[k] - greatest);
    }
    double loss = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      const double t = (1 - smoothing) * target[k] + smoothing / static_cast<double>(classes) * all;
      const double log_share = row[k] - greatest - std::log(sum);
      loss -= t * log_share;
      result.dlogits.push_back(weights[n] * (std::exp(log_share) * all - t));
    }
    result.per_sample.push_back(loss);
    result.loss += weights[n] * loss;
  }
  return result;
}

TEST_P(Kernels, Loss) {
  Random random(9);
  struct Case {
    std::int64_t batch, classes;
    double smoothing;
  };
  for (const Case& c : {Case{1, 1, 0}, Case{3, 2, 0.1}, Case{5, 10, 0}, Case{300, 17, 0.1},
                        Case{4, 1000, 0.1}, Case{2, 100000, 0.1}}) {
    SCOPED_TRACE(std::to_string(c.batch) + " x " + std::to_string(c.classes));
    Numbers logits = random.numbers(c.batch * c.classes);
    for (double& v : logits) v *= c.classes < 100 ? 32 : 512;  // their exponentials overflow
    const Numbers targets = random.positive(c.batch * c.classes);
    const Numbers weights = random.positive(c.batch);
    const auto [loss_of_all, per_sample_of_all, back] =
        losses(logits, targets, weights, c.smoothing);
    Tensor tl(type(), logits);
    Tensor tt(Element::kF32, targets);
    Tensor tw(Element::kF32, weights);
    Tensor loss(Element::kF32, 1);
    Tensor per_sample(Element::kF32, c.batch);
    Tensor dlogits(type(), c.batch * c.classes);
    in_any_order({&loss, &per_sample, &dlogits}, [&](const Table& table, Stream& stream) {
      const kernels::Loss a{.layer = {type(), c.batch, c.classes, c.smoothing},
                            .logits = tl,
                            .targets = tt,
                            .weights = tw,
                            .loss = loss,
                            .per_sample = per_sample,
                            .dlogits = dlogits};
      table.loss(a, stream);
      table.loss_backward(a, stream);
    });
    expect_near(loss, {loss_of_all}, kF32);
    expect_near(per_sample, per_sample_of_all, kF32);
    expect_near(dlogits, back, limit(type()));
  }
}

// Targets are a class or none. Logits range from where a sigmoid is 0 to where it is 1.
TEST_P(Kernels, SigmoidLoss) {
  Random random(11);
  struct Case {
    std::int64_t batch, classes;
    double smoothing, gamma, alpha;
    bool mean;
  };
  for (const Case& c :
       {Case{1, 1, 0, 0, -1, true}, Case{3, 2, 0.1, 0, -1, true}, Case{300, 17, 0, 2, 0.25, false},
        Case{4, 1000, 0.1, 1.5, 0.75, false}, Case{5, 10, 0, 0.5, -1, true}}) {
    SCOPED_TRACE(std::to_string(c.batch) + " x " + std::to_string(c.classes));
    const std::int64_t count = c.batch * c.classes;
    Numbers logits = random.numbers(count);
    Numbers targets(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] *= i % 7 == 0 ? 8192 : 8;
      targets[i] = i % 3 == 0 ? 1 : 0;
    }
    const Numbers weights = random.positive(c.batch);
    const SigmoidLossAttributes attributes{{c.smoothing}, c.gamma, c.alpha, c.mean};
    const auto oracle = [&](const Operation& op) {
      Oracle made;
      return made.run(
          op,
          {made.data({c.batch, c.classes}, logits), made.parameter({c.batch, c.classes}, targets),
           made.parameter({c.batch}, weights)},
          attributes);
    };
    const auto losses = oracle(kSigmoidCrossEntropy);
    const auto back = oracle(kSigmoidCrossEntropyBackward);
    Tensor tl(type(), logits);
    Tensor tt(Element::kF32, targets);
    Tensor tw(Element::kF32, weights);
    Tensor loss(Element::kF32, 1);
    Tensor per_sample(Element::kF32, c.batch);
    Tensor dlogits(type(), count);
    in_any_order({&loss, &per_sample, &dlogits}, [&](const Table& table, Stream& stream) {
      const kernels::SigmoidLoss a{.of = {.layer = {type(), c.batch, c.classes, c.smoothing},
                                          .logits = tl,
                                          .targets = tt,
                                          .weights = tw,
                                          .loss = loss,
                                          .per_sample = per_sample,
                                          .dlogits = dlogits},
                                   .focal = {c.gamma, c.alpha},
                                   .share = c.mean ? 1.0 / static_cast<double>(c.classes) : 1.0};
      table.sigmoid_loss(a, stream);
      table.sigmoid_loss_backward(a, stream);
    });
    expect_near(loss, losses[0], kF32);
    expect_near(per_sample, losses[1], kF32);
    expect_near(dlogits, back[0], limit(type()));
  }
}

TEST_P(Kernels, BarlowTwins) {
  Random random(12);
  struct Case {
    std::int64_t pairs, features;
    double redundancy;
  };
  for (const Case& c : {Case{4, 1, 0.5}, Case{5, 7, 0.1}, Case{3, 300, 0.01}, Case{200, 17, 1}}) {
    SCOPED_TRACE(std::to_string(c.pairs) + " x " + std::to_string(c.features));
    const std::int64_t samples = 2 * c.pairs;
    const Numbers z = random.numbers(samples * c.features);
    const Numbers weights = random.positive(samples);
    const auto oracle = [&](const Operation& op) {
      Oracle made;
      return made.run(op, {made.data({samples, c.features}, z), made.parameter({samples}, weights)},
                      BarlowTwinsAttributes{c.redundancy});
    };
    const auto losses = oracle(kBarlowTwins);
    const auto back = oracle(kBarlowTwinsBackward);
    Tensor tz(type(), z);
    Tensor tw(Element::kF32, weights);
    Tensor loss(Element::kF32, 1);
    Tensor per_sample(Element::kF32, samples);
    Tensor dz(type(), samples * c.features);
    const train::kernels::TwinsLayer layer{type(), c.pairs, c.features, c.redundancy,
                                           kTwinsEpsilon};
    Tensor scratch(Element::kF32, train::kernels::twins_scratch_bytes(layer) / 4);
    in_any_order({&loss, &per_sample, &dz}, [&](const Table& table, Stream& stream) {
      const kernels::BarlowTwins a{layer, tz, tw, loss, per_sample, dz, scratch};
      table.barlow_twins(a, stream);
      table.barlow_twins_backward(a, stream);
    });
    expect_near(loss, losses[0], kF32);
    expect_near(per_sample, losses[1], kF32);
    expect_near(dz, back[0], limit(type()));
  }
}

// ---- Convolutions.

struct ConvolutionCase {
  Shape x, w;
  ConvAxes axes;
};

TEST_P(Kernels, DirectConvolution) {
  Random random(10);
  const ConvolutionCase cases[] = {
      {{2, 3, 7, 8}, {5, 3, 3, 3}, both_axes(1, 1)},
      {{2, 3, 9, 7}, {4, 3, 3, 2}, both_axes(2, 1)},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, both_axes(1, 0)},
      {{3, 17, 5, 5}, {6, 17, 1, 1}, both_axes(2, 0)},
      {{2, 2, 11, 11}, {3, 2, 5, 5}, both_axes(3, 2)},
      {{40, 2, 16, 16}, {2, 2, 3, 3}, both_axes(1, 1)},
      {{3, 700, 1, 1}, {7, 700, 1, 1}, both_axes(1, 0)},
      {{2, 3, 12, 9}, {4, 3, 3, 2}, {{2, 3, 1, 2}, {1, 0, 2, 3}}},
  };
  for (const ConvolutionCase& c : cases) {
    for (const Element result : kElements) {
      ConvAttributes conv{c.axes, false, c.x, c.w};
      const Numbers x = random.numbers(element_count(c.x));
      const Numbers w = random.numbers(element_count(c.w));  // in logical order
      Oracle forward;
      const auto y = forward.run(kConv2d, {forward.data(c.x, x), forward.parameter(c.w, w)}, conv);
      const Shape out = forward.shapes[0];
      const Numbers dy = random.numbers(element_count(out));
      Oracle data;
      const auto dx =
          data.run(kConv2dBackwardData, {data.data(out, dy), data.parameter(c.w, w)}, conv);
      Oracle filter;
      const auto dw =
          filter.run(kConv2dBackwardFilter, {filter.data(c.x, x), filter.data(out, dy)}, conv);

      Tensor tx(type(), x);
      Tensor tw(Element::kF32, w);
      Tensor packed(type(), element_count(c.w));
      Tensor tdy(type(), dy);
      Tensor ty(result, element_count(out));
      Tensor tdx(result, element_count(c.x));
      Tensor packed_dw(result, element_count(c.w));
      Tensor tdw(Element::kF32, element_count(c.w));
      in_any_order({&ty, &tdx, &tdw}, [&](const Table& table, Stream& stream) {
        ConvolutionDescription d;
        d.type = type();
        d.result = result;
        d.extents = {image_extents(c.x), image_extents(out), c.w[2], c.w[3], c.axes};
        table.pack_filter({tw, packed, type(), c.w[0], c.w[1], c.w[2], c.w[3]}, stream);
        table.direct_convolution({d, tx, packed, ty}, stream);
        d.pass = Pass::kBackwardData;
        table.direct_convolution({d, tdy, packed, tdx}, stream);
        d.pass = Pass::kBackwardFilter;
        table.direct_convolution({d, tx, tdy, packed_dw}, stream);
        table.unpack_filter({packed_dw, result, tdw, c.w[0], c.w[1], c.w[2], c.w[3]}, stream);
      });
      expect_near(ty, y[0], limit(result));
      expect_near(tdx, dx[0], limit(result));
      expect_near(tdw, dw[0], limit(result));
    }
  }
}

// ---- Attention and tokens.

TEST_P(Kernels, Softmax) {
  Random random(11);
  for (const std::int64_t columns : {1, 3, 16, 67, 197}) {
    for (const std::int64_t rows : {1, 16, 37}) {
      const Numbers numbers = random.numbers(rows * columns);
      const Numbers gradients = random.numbers(rows * columns);
      Tensor x(Element::kF32, numbers);
      Tensor dy(Element::kF32, gradients);
      Tensor y(type(), rows * columns);
      Tensor dx(type(), rows * columns);
      in_any_order({&y, &dx}, [&](const Table& table, Stream& stream) {
        table.softmax({type(), rows, columns, 2, x, y}, stream);
        table.softmax_backward({type(), rows, columns, 2, y, dy, dx}, stream);
      });
      Numbers want(numbers.size());
      Numbers want_gradient(numbers.size());
      const Numbers made = y.numbers();
      for (std::size_t first = 0; first < want.size(); first += position(columns)) {
        const std::size_t end = first + position(columns);
        double sum = 0;
        double mean = 0;
        for (std::size_t i = first; i < end; ++i) sum += std::exp(2 * numbers[i]);
        for (std::size_t i = first; i < end; ++i) mean += made[i] * gradients[i];
        for (std::size_t i = first; i < end; ++i) {
          want[i] = std::exp(2 * numbers[i]) / sum;
          want_gradient[i] = 2 * made[i] * (gradients[i] - mean);
        }
      }
      expect_near(y, want, limit(type()));
      if (columns > 1) expect_near(dx, want_gradient, limit(type()));
    }
  }
}

TEST(SoftmaxKernel, MayWriteWhereItReads) {
  Random random(12);
  const Numbers numbers = random.numbers(20 * 33);
  Tensor apart(Element::kF32, 20 * 33);
  Tensor x(Element::kF32, numbers);
  in_any_order({&apart, &x}, [&](const Table& table, Stream& stream) {
    table.softmax({Element::kF32, 20, 33, 2, x, apart}, stream);
    table.softmax({Element::kF32, 20, 33, 2, x, x}, stream);
  });
  EXPECT_EQ(apart.numbers(), x.numbers());
}

// A batch of products equals the single products, whatever is transposed.
TEST_P(Kernels, DirectMatmul) {
  Random random(13);
  const Numbers a = random.numbers(3 * 5 * 7);
  const Numbers b = random.numbers(3 * 7 * 4);
  Tensor ta(type(), a);
  Tensor tb(type(), b);
  for (const Element result : kElements) {
    for (const int transposed : {0, 1, 2, 3}) {
      MatmulDescription d{.batch = 3, .m = 5, .n = 4, .k = 7, .type = type(), .result = result};
      d.transpose_a = (transposed & 1) != 0;
      d.transpose_b = (transposed & 2) != 0;
      Tensor ty(result, 3 * 5 * 4);
      in_any_order({&ty}, [&](const Table& table, Stream& stream) {
        table.direct_matmul({d, ta, tb, ty}, stream);
      });
      Numbers want;
      for (std::size_t row = 0; row < 15; ++row) {
        for (std::size_t j = 0; j < 4; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < 7; ++k) {
            const std::size_t i = row % 5;
            sum += a[row / 5 * 35 + (d.transpose_a ? k * 5 + i : i * 7 + k)] *
                   b[row / 5 * 28 + (d.transpose_b ? j * 7 + k : k * 4 + j)];
          }
          want.push_back(sum);
        }
      }
      expect_near(ty, want, limit(result));
    }
  }
}

TEST_P(Kernels, HeadsAreSplitAndJoined) {
  constexpr std::int64_t kBatch = 2;
  constexpr std::int64_t kTokens = 7;
  constexpr std::int64_t kHeads = 3;
  constexpr std::int64_t kWidth = 50;
  constexpr std::int64_t kCount = kBatch * kTokens * kHeads * kWidth;
  Random random(14);
  const Numbers numbers = random.numbers(kCount);
  Tensor rows(type(), numbers);
  Tensor matrices(type(), kCount);
  Tensor back(type(), kCount);
  in_any_order({&matrices, &back}, [&](const Table& table, Stream& stream) {
    table.split_heads({type(), kBatch, kTokens, kHeads, kWidth, rows, kHeads * kWidth, matrices},
                      stream);
    table.join_heads({type(), kBatch, kTokens, kHeads, kWidth, back, kHeads * kWidth, matrices},
                     stream);
  });
  EXPECT_EQ(back.numbers(), numbers);
  const Numbers split = matrices.numbers();
  for (std::int64_t n = 0; n < kBatch; ++n) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t t = 0; t < kTokens; ++t) {
        for (std::int64_t k = 0; k < kWidth; ++k) {
          EXPECT_EQ(split[position(((n * kHeads + h) * kTokens + t) * kWidth + k)],
                    numbers[position(((n * kTokens + t) * kHeads + h) * kWidth + k)]);
        }
      }
    }
  }
}

TEST_P(Kernels, PadChannels) {
  Random random(15);
  const Numbers numbers = random.numbers(5 * 67);
  Tensor from(type(), numbers);
  Tensor to(type(), 5 * 100);
  in_any_order({&to}, [&](const Table& table, Stream& stream) {
    table.pad_channels({type(), 5, 67, from, 67, to, 100}, stream);
  });
  const Numbers got = to.numbers();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], i % 100 < 67 ? numbers[i / 100 * 67 + i % 100] : 0);
  }
}

// ---- Updates.

TEST(UpdateKernels, FiniteCheckFindsAnyOne) {
  Random random(11);
  const std::int64_t count = 9001;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad :
       {0.0F, std::numeric_limits<float>::max(), infinity, -infinity, std::nanf("")}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{4096}, std::size_t{9000}}) {
      Tensor values(Element::kF32, random.numbers(count));
      values.as<float>()[at] = bad;
      for (const ThreadOrder order : kOrders) {
        StepScalars scalars{3, 0.5F, 1};
        HostStream stream(order);
        host_kernels().finite_check({values, count, &scalars}, stream);
        stream.synchronize();
        EXPECT_EQ(scalars.finite, std::isfinite(bad) ? 1 : 0);
        EXPECT_EQ(scalars.step, 3);
      }
    }
  }
  StepScalars scalars{0, 0, 0};
  Tensor values(Element::kF32, random.numbers(5));
  HostStream stream;
  host_kernels().finite_check({values, 5, &scalars}, stream);
  stream.synchronize();
  EXPECT_EQ(scalars.finite, 0);  // unchanged
}

std::vector<float> floats(const Numbers& v) { return {v.begin(), v.end()}; }
Numbers numbers_of(const std::vector<float>& v) { return {v.begin(), v.end()}; }

Update update_of(const Table& table, std::string_view optimizer, const OptionValues& options) {
  const auto row = std::ranges::find(table.updates, optimizer, &UpdateRow::name);
  if (row == table.updates.end()) throw Error("no update " + std::string(optimizer));
  return row->make(ChosenOptions(find_optimizer(optimizer).options, options));
}

// A parameter of `count` elements and an optimiser's state. Rounding affects every element.
struct Parameter {
  Parameter(const Optimizer& optimizer, std::int64_t count, std::uint64_t seed) {
    Random random(seed);
    const auto uneven = [&] {
      Numbers numbers = random.positive(count);
      for (double& v : numbers) v *= 0.7;
      return floats(numbers);
    };
    value = uneven();
    gradient = uneven();
    for (std::size_t slot = 0; slot < optimizer.slots.size(); ++slot) state.push_back(uneven());
  }

  void update_on_host(const Optimizer& optimizer, const TensorStep& step) {
    const std::vector<std::span<float>> slots(state.begin(), state.end());
    optimizer.make(ChosenOptions(optimizer.options, {}))({value, gradient, slots, step});
  }

  std::vector<float> value;
  std::vector<float> gradient;
  std::vector<std::vector<float>> state;
};

// Compares bit for bit, except where norms are summed in another order.
void expect_update_of_host(const Optimizer& optimizer, std::int64_t count, bool decay,
                           bool finite) {
  SCOPED_TRACE(std::string(optimizer.name) + ", " + std::to_string(count));
  Parameter parameter(optimizer, count, 20);
  Tensor value(Element::kF32, numbers_of(parameter.value));
  Tensor gradient(Element::kF32, numbers_of(parameter.gradient));
  Tensor scratch(1, static_cast<std::int64_t>(update_scratch_bytes(count)));
  const StepScalars scalars{7, 0.3, finite ? 1 : 0};
  ParameterOnCard on_card{.value = value,
                          .gradient = gradient,
                          .state = {},
                          .count = count,
                          .scalars = &scalars,
                          .lr_scale = 0.7,
                          .decay = decay,
                          .scratch = scratch};
  std::vector<std::unique_ptr<Tensor>> state;
  std::vector<Tensor*> outputs{&value};
  for (std::size_t slot = 0; slot < parameter.state.size(); ++slot) {
    state.push_back(std::make_unique<Tensor>(Element::kF32, numbers_of(parameter.state[slot])));
    on_card.state[slot] = *state.back();
    outputs.push_back(state.back().get());
  }
  in_any_order(outputs, [&](const Table& table, Stream& stream) {
    update_of(table, optimizer.name, {})(on_card, stream);
  });
  if (finite) {
    parameter.update_on_host(optimizer, {.lr = 0.3 * 0.7, .step = 7, .decay = decay});
  }
  EXPECT_TRUE(scratch.is_sound());
  const bool always = optimizer.name == "lars_paper";
  const bool norms =
      always ||
      (decay && (optimizer.name == "lars" || optimizer.name == "larc" || optimizer.name == "lamb"));
  const double most = norms ? kF32 : kNone;
  expect_near(value, numbers_of(parameter.value), most);
  for (std::size_t slot = 0; slot < state.size(); ++slot) {
    expect_near(*state[slot], numbers_of(parameter.state[slot]), most);
  }
}

TEST(UpdateKernels, AreThoseOfTheOptimizers) {
  ASSERT_EQ(host_kernels().updates.size(), optimizers().size());
  for (const Optimizer& optimizer : optimizers()) {
    for (const bool decay : {true, false}) {
      for (const std::int64_t count : {1, 131, 1200001}) {
        expect_update_of_host(optimizer, count, decay, true);
      }
    }
    expect_update_of_host(optimizer, 131, true, false);
  }
}

TEST(UpdateKernels, LarsOfZeroWeightsOrGradientsTakesThePlainRate) {
  for (const bool zero_gradient : {true, false}) {
    Tensor value(Element::kF32, Numbers(5, zero_gradient ? 1.0 : 0.0));
    Tensor gradient(Element::kF32, Numbers(5, zero_gradient ? 0.0 : 1.0));
    Tensor momentum(Element::kF32, Numbers(5, 0.0));
    Tensor scratch(1, static_cast<std::int64_t>(update_scratch_bytes(5)));
    const StepScalars scalars{0, 0.5, 1};
    in_any_order({&value, &momentum}, [&](const Table& table, Stream& stream) {
      update_of(table, "lars", {{"weight_decay", {0.5}}})(
          {value, gradient, {momentum}, 5, &scalars, 1, true, scratch}, stream);
    });
    EXPECT_EQ(value.numbers(), Numbers(5, zero_gradient ? 0.75 : -0.5));
  }
}

TEST(UpdateKernels, StatisticMovesByItsMomentum) {
  Random random(12);
  for (const bool finite : {true, false}) {
    const Numbers old = random.numbers(4099);
    const Numbers sum = random.numbers(4099);
    Tensor value(Element::kF32, old);
    Tensor sums(Element::kF32, sum);
    const StepScalars scalars{0, 0, finite ? 1 : 0};
    in_any_order({&value}, [&](const Table& table, Stream& stream) {
      table.statistic({value, sums, 4099, &scalars, 0.1, 0.25}, stream);
    });
    Numbers want = old;
    for (std::size_t i = 0; finite && i < want.size(); ++i) {
      want[i] = static_cast<float>(0.9 * old[i] + 0.1 * 0.25 * sum[i]);
    }
    expect_near(value, want, finite ? 1e-7 : kNone);
  }
}

// ---- Launches.

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

void expect_launchable(const LaunchShape& shape) {
  EXPECT_GE(shape.blocks, 1);
  EXPECT_EQ(shape.threads, kThreads);
  std::int64_t blocks = 0;
  while (blocks < shape.blocks) {
    const std::int64_t now = launch_blocks(shape, blocks, kMaxBlocks);
    ASSERT_GE(now, 1);
    ASSERT_LE(now, 2147483647);
    blocks += now;
  }
  EXPECT_EQ(blocks, shape.blocks);
}

TEST(Launches, OfAnySizeAreWithinTheLimitsOfCards) {
  static_assert(kThreads <= 1024);
  const LaunchShape flat =
      ElementwiseKernel<Bf16, 1, SumOf>{nullptr, nullptr, nullptr, kHuge}.shape();
  expect_launchable(flat);
  EXPECT_EQ(flat.blocks * kThreads * kEach, kHuge);
  expect_launchable(flat_shape<1>(std::int64_t{1} << 50));  // takes several launches
  EXPECT_EQ(flat_shape<8>(1).blocks, 1);
  EXPECT_EQ(flat_shape<8>(8 * kThreads * kEach + 1).blocks, 2);
  EXPECT_EQ(flat_shape<8>(0).blocks, 1);
  for (const auto& [rows, channels] :
       {NormShape{kHuge, 1}, NormShape{1, kHuge}, NormShape{kHuge >> 20, 1 << 20}}) {
    AddBiasKernel<float, 1> add{nullptr, nullptr, rows, channels};
    expect_launchable(add.shape());
    EXPECT_GE(add.shape().blocks * kThreads * kRowsEach, rows * channels);
    const Parts parts = parts_of(rows, channels);
    expect_launchable(MomentsKernel<float, 1>{nullptr, channels, parts, nullptr, nullptr}.shape());
    expect_launchable(
        FinishMomentsKernel{nullptr, nullptr, channels, parts, nullptr, nullptr}.shape());
  }
  kernels::Softmax softmax{};
  softmax.rows = kHuge;
  expect_launchable(SoftmaxKernel<float>{softmax}.shape());
  EXPECT_GE(SoftmaxKernel<float>{softmax}.shape().blocks * kLines, kHuge);
  kernels::Loss loss{};
  loss.layer.batch = (std::int64_t{1} << 31) + 5;
  expect_launchable(LossKernel<float, LossPass::kForward>{loss}.shape());
  EXPECT_EQ(launch_blocks({loss.layer.batch, kThreads}, kMaxBlocks, kMaxBlocks), 6);
}

TEST(Launches, PartsCoverAllRows) {
  for (const std::int64_t channels : {1, 64, 2048, 100000}) {
    for (const std::int64_t rows :
         {std::int64_t{1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{401408}, kHuge}) {
      const Parts parts = parts_of(rows, channels);
      EXPECT_EQ(parts.begin(0), 0);
      EXPECT_EQ(parts.begin(parts.parts), rows);
      for (std::int64_t part = 0; part < parts.parts; ++part) EXPECT_GE(parts.count(part), 1);
      EXPECT_LE(parts.parts, 512);
    }
  }
}

TEST(Launches, TilesCoverEachElementOnce) {
  for (const std::int64_t channels : {1, 3, 32, 33, 131}) {
    const Tiling t = tiling(channels, 1);
    const std::int64_t rows = 301;
    std::vector<int> visits(position(rows * channels));
    const LaunchShape shape = matrix_shape(t, rows);
    for (std::int64_t block = 0; block < shape.blocks; ++block) {
      for (int thread = 0; thread < shape.threads; ++thread) {
        const Spot s = spot(t, {block, thread});
        for_rows(t, s, rows,
                 [&](std::int64_t row) { ++visits[position(row * channels + s.group)]; });
      }
    }
    EXPECT_EQ(std::ranges::count(visits, 1), static_cast<std::ptrdiff_t>(visits.size()));
  }
}

}  // namespace winnow::train::cudnn::kernels::kernels_test
