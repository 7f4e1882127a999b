#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/onednn/onednn.h"
#include "train/backend/reference/interpret.h"
#include "train/ops/grouped_conv2d.h"

// oneDNN 3.4.2 fixed gradients of depthwise convolutions in bf16, which were occasionally wrong on
// processors with AVX-512. Debian 12 has an older version. These tests check whether its fault
// shows where winnow calls it.
namespace winnow::train::depthwise_repeat_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRepeats = 400;
#else
constexpr int kRepeats = 10000;
#endif
constexpr int kPrograms = 20;

bool is_avx512() { return make_onednn_backend()->instruction_set().starts_with("avx512"); }

// Both gradients of a depthwise convolution. 40 channels: two whole vectors and part of one.
Graph both_gradients(int kernel) {
  constexpr std::int64_t kChannels = 40;
  const Shape shape = {3, kChannels, 6, 7};
  const Shape filter = {kChannels, 1, kernel, kernel};
  Graph graph;
  const ValueId x = add_value(graph, {"x", shape, ValueKind::kInput});
  const ValueId dy = add_value(graph, {"dy", shape, ValueKind::kInput});
  const ValueId w = add_value(graph, {"w", filter, ValueKind::kParameter, Storage::kF32});
  GroupedConvAttributes conv;
  conv.axes = both_axes(1, kernel / 2);
  conv.groups = kChannels;
  conv.data_shape = shape;
  conv.filter_shape = filter;
  const auto dx = add_node(graph, kGroupedConv2dBackwardData, "dx", {dy, w}, conv);
  conv.bias = true;
  const auto dw = add_node(graph, kGroupedConv2dBackwardFilter, "dw", {x, dy}, conv);
  for (const ValueId id : {dx[0], dw[0], dw[1]}) graph.outputs.push_back({OutputKind::kValue, id});
  return graph;
}

// Runs once, over numbers that no gradient equals. Returns the bits of all outputs.
std::vector<std::uint32_t> bits_of_a_run(Running& running) {
  const auto& outputs = running.program().graph().outputs;
  for (const Output& output : outputs) std::ranges::fill(running.floats(output.value), 77.0F);
  running.run();
  std::vector<std::uint32_t> bits;
  for (const Output& output : outputs) {
    for (const float v : running.floats(output.value)) {
      bits.push_back(std::bit_cast<std::uint32_t>(v));
    }
  }
  return bits;
}

void expect_near_the_reference(Running& running, const Graph& graph, const Inputs& inputs) {
  const auto want = interpret(graph, inputs);
  for (const Output& output : graph.outputs) {
    EXPECT_LE(
        relative_l2(running.numbers(output.value), want[static_cast<std::size_t>(output.value)]),
        tolerance(DType::kBF16))
        << graph.value(output.value).name;
  }
}

// Expects bf16 kernels with AVX-512, not slower f32 ones. 3x3 kernels are depthwise kernels; for a
// filter gradient of 7x7 oneDNN takes another.
void expect_the_kernels(const KernelChoices& choices, int kernel_side) {
  const std::string kind = kernel_side == 3 ? "jit_dw:avx512_core" : ":avx512_core";
  EXPECT_EQ(choices.size(), 2U);
  for (const auto& [layer, kernel] : choices) {
    EXPECT_NE(layer.find(" bf16 "), std::string::npos) << layer;
    EXPECT_NE(kernel.find(kind), std::string::npos) << layer << ": " << kernel;
  }
}

struct Setting {
  int kernel;  // 3: MobileNet. 7: ConvNeXt
  int threads;
};

class DepthwiseRepeat : public testing::TestWithParam<Setting> {
 protected:
  void TearDown() override { mallopt(M_PERTURB, 0); }
};
INSTANTIATE_TEST_SUITE_P(All, DepthwiseRepeat,
                         testing::Values(Setting{3, 1}, Setting{3, 2}, Setting{7, 1},
                                         Setting{7, 2}),
                         [](const auto& info) {
                           return "kernel" + std::to_string(info.param.kernel) + "_threads" +
                                  std::to_string(info.param.threads);
                         });

// The memory of each program begins with other bytes, which reveals reads before writes.
TEST_P(DepthwiseRepeat, GivesTheSameBitsEachTime) {
  const auto [kernel, threads] = GetParam();
  const Graph graph = both_gradients(kernel);
  if (!is_avx512()) {
    EXPECT_THROW(make_onednn_backend()->compile(graph, {DType::kBF16, threads}), UsageError)
        << "no gradient is computed in bf16 here";
    return;
  }
  const Inputs inputs = as_seen(graph, random_inputs(graph, 31), DType::kBF16);
  std::vector<std::uint32_t> first;
  int different = 0;
  for (int program = 0; program < kPrograms; ++program) {
    mallopt(M_PERTURB, 1 + 12 * program);
    Running running(*make_onednn_backend(), graph, inputs, {DType::kBF16, threads});
    if (program == 0) {
      expect_the_kernels(running.program().choices(), kernel);
      first = bits_of_a_run(running);
      expect_near_the_reference(running, graph, inputs);
    }
    for (int i = 0; i < kRepeats / kPrograms; ++i) {
      different += bits_of_a_run(running) == first ? 0 : 1;
    }
  }
  EXPECT_EQ(different, 0) << "of " << kRepeats << " runs";
}

}  // namespace winnow::train::depthwise_repeat_test
