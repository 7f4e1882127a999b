#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/onednn/onednn.h"
#include "train/backend/reference/interpret.h"
#include "train/run/start/kernel_times.h"
#include "train/run/start/planning.h"

namespace winnow::train::kernel_choices_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

class KernelsOfOneDnn : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (GetParam() == DType::kBF16 && !backend_->instruction_set().starts_with("avx512")) {
      GTEST_SKIP() << "bf16 needs a processor with AVX-512";
    }
  }
  const std::unique_ptr<Backend> backend_ = make_onednn_backend();
};
INSTANTIATE_TEST_SUITE_P(All, KernelsOfOneDnn, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

TEST_P(KernelsOfOneDnn, AllMatchTheReference) {
  int compared = 0;
  for (const OpCase& made : op_cases()) {
    CompileOptions options{.compute = GetParam(), .threads = 2};
    const Inputs inputs = as_seen(made.graph, made.inputs, GetParam());
    const auto want = interpret(made.graph, inputs);
    for (const auto& [layer, kernels] : backend_->candidates_of(made.graph, options)) {
      for (const std::string& kernel : kernels) {
        const KernelChoices choices{{layer, kernel}};
        options.choices = &choices;
        Running running(*backend_, made.graph, inputs, options);
        EXPECT_EQ(running.program().choices().at(layer), kernel);
        running.run();
        for (const Output& output : made.graph.outputs) {
          const auto value = static_cast<std::size_t>(output.value);
          EXPECT_LE(relative_l2(running.numbers(output.value), want[value]), tolerance(GetParam()))
              << made.name << ": " << made.graph.value(output.value).name << " by " << kernel;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 40);
}

TEST_P(KernelsOfOneDnn, FirstCandidatesAreItsOwnChoiceAndGiveTheSameBits) {
  const Graph graph = training_graph("resnet20", 4, 16, 3);
  CompileOptions options{.compute = GetParam()};
  const Inputs inputs = random_inputs(graph, 5);
  Running free(*backend_, graph, inputs, options);
  free.run();
  KernelChoices first;
  for (const auto& [layer, kernels] : backend_->candidates_of(graph, options)) {
    first[layer] = kernels.front();
  }
  EXPECT_EQ(free.program().choices(), first);
  options.choices = &first;
  Running bound(*backend_, graph, inputs, options);
  bound.run();
  EXPECT_EQ(bound.outputs(), free.outputs());
}

TEST_P(KernelsOfOneDnn, GradientsOfFiltersOfOneGroupHaveProductsOfPatches) {
  const auto all = [&](const char* net, int side) {
    return backend_->candidates_of(training_graph(net, 2, side, 3), {.compute = GetParam()});
  };
  int unfolded = 0;
  for (const auto& [layer, kernels] : all("resnet20", 16)) {
    const bool is_filter = layer.starts_with("conv2d backward-filter");
    unfolded += is_filter ? 1 : 0;
    EXPECT_EQ(
        std::ranges::any_of(kernels, [](const std::string& k) { return k.starts_with("unfold "); }),
        is_filter)
        << layer;
  }
  EXPECT_GT(unfolded, 3);
  for (const auto& [layer, kernels] : all("mobilenet_v2", 32)) {
    if (!layer.starts_with("grouped_conv2d")) continue;
    EXPECT_THAT(kernels, Not(Contains(StartsWith("unfold ")))) << layer;
  }
}

TEST_P(KernelsOfOneDnn, PatchesAreScratchMemoryOfTheirNode) {
  const Graph graph = training_graph("resnet20", 8, 32, 3);
  CompileOptions options{.compute = GetParam()};
  KernelChoices choices;
  for (const auto& [layer, kernels] : backend_->candidates_of(graph, options)) {
    choices[layer] = kernels.back();
  }
  options.choices = &choices;
  const auto program = backend_->compile(graph, options);
  const std::vector<NodeKernel> kernels = program->node_kernels();
  ASSERT_EQ(kernels.size(), graph.nodes.size());
  std::size_t most = 0;
  for (const NodeKernel& node : kernels) {
    most = std::max(most, node.scratch_bytes);
    if (!node.layer.starts_with("conv2d backward-filter") ||
        node.layer.find(" c16 h32 w32 k16 r3") == std::string::npos)
      continue;
    const std::size_t patches =
        std::size_t{8} * 32 * 32 * 9 * 16 * (GetParam() == DType::kF32 ? 4 : 2);
    EXPECT_GE(node.scratch_bytes, patches);
    EXPECT_LE(node.scratch_bytes, patches + (std::size_t{1} << 20));
  }
  EXPECT_EQ(backend_->memory_of(graph, options).scratch_bytes, most);
}

TEST(KernelChoicesOfOneDnn, RefuseWhatTheLibraryHasNot) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const auto backend = make_onednn_backend();
  const auto all = backend->candidates_of(graph, {});
  ASSERT_FALSE(all.empty());
  const auto& [layer, kernels] = *all.begin();
  const auto imposed = [&](const std::string& of, const std::string& kernel) {
    const KernelChoices choices{{of, kernel}};
    backend->memory_of(graph, {.choices = &choices});
  };
  EXPECT_THAT([&] { imposed(layer, "cudnn engine 46"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr(layer), HasSubstr("'cudnn engine 46'"),
                                              HasSubstr(kernels.front()))));
  // A stage of a pipeline gets the choices of the whole net.
  EXPECT_NO_THROW(imposed("conv2d forward f32 n77", "cudnn engine 46"));
}

TEST(CheckLayers, RefusesThoseThatTheNetDoesNotHave) {
  const KernelCandidates there{{"conv2d forward f32 n8", {"jit:avx2", "gemm:jit"}},
                               {"linear forward f32 n8", {"brgemm"}}};
  EXPECT_NO_THROW(check_layers({}, there));
  EXPECT_NO_THROW(check_layers({{"linear forward f32 n8", "brgemm"}}, there));
  EXPECT_THAT(
      [&] {
        check_layers({{"linear forward f32 n8", "x"}, {"linear forward f32 n4", "y"}}, there);
      },
      ThrowsMessage<UsageError>(HasSubstr("'linear forward f32 n4=y'")));
  EXPECT_NO_THROW(check_layers({{"linear forward f32 n4", "y"}}, {}));  // it tells none
}

TEST(MeasureKernels, OfEveryLayerEachInTurn) {
  const Graph graph = training_graph("resnet20", 2, 8, 3);
  const auto backend = make_onednn_backend();
  const auto all = backend->candidates_of(graph, {});
  int asked = 0;
  const auto once = measure_kernels(*backend, graph, {}, 3, [&] { return ++asked < 0; });
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(once.size(), all.size());
  int nodes = 0;
  for (const LayerTimes& layer : once) {
    nodes += layer.nodes;
    std::vector<std::string> names;
    for (const KernelTimes& kernel : layer.kernels) {
      names.push_back(kernel.name);
      EXPECT_EQ(kernel.seconds.size(), 1u) << kernel.name;
    }
    EXPECT_EQ(names, all.at(layer.layer));
  }
  EXPECT_GT(nodes, static_cast<int>(once.size()));  // some layers are alike
  for (const LayerTimes& layer : measure_kernels(*backend, graph, {}, 3, {})) {
    EXPECT_EQ(layer.kernels.front().seconds.size(), 3u) << layer.layer;
  }
}

}  // namespace
}  // namespace winnow::train::kernel_choices_test
