#include "tests/train/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/train/cases.h"
#include "tests/train/cudnn/host_device.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/cudnn/program.h"
#include "train/backend/weights.h"

// The backend for cards on a card made of host memory: everything but CUDA's own libraries.
namespace winnow::train::cudnn::conformance_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Setting {
  const char* name;
  DType compute;
  HostDeviceOptions device;
};
const Setting kSettings[] = {
    {"f32", DType::kF32, {}},
    {"f32_own_loops", DType::kF32, {.has_libraries = false}},
    {"tf32", DType::kTf32, {}},
    {"bf16", DType::kBF16, {}},
    {"bf16_as_cudnn_9_19", DType::kBF16, {.has_mixed_convolutions = false}},
    {"bf16_own_loops", DType::kBF16, {.has_libraries = false}},
    {"f16", DType::kF16, {}},
    {"f16_as_cudnn_9_19", DType::kF16, {.has_mixed_convolutions = false}},
    {"f16_own_loops", DType::kF16, {.has_libraries = false}},
};

class OnHostMemory : public testing::TestWithParam<Setting> {
 protected:
  std::shared_ptr<HostDevice> device_ = std::make_shared<HostDevice>(GetParam().device);
  std::unique_ptr<Backend> backend_ = make_cudnn_backend(device_);
  CompileOptions options_{.compute = GetParam().compute};
};
INSTANTIATE_TEST_SUITE_P(All, OnHostMemory, testing::ValuesIn(kSettings),
                         [](const auto& info) { return std::string(info.param.name); });

void expect_within(const std::vector<Deviation>& rows) {
  EXPECT_FALSE(rows.empty());
  for (const Deviation& row : rows) EXPECT_LE(row.error, row.limit) << row.what;
}

TEST_P(OnHostMemory, EveryOperationMatchesTheReference) {
  expect_within(compare_operations(*backend_, options_));
}
TEST_P(OnHostMemory, WideProductsMatchTheReference) {
  expect_within(compare_wide_products(*backend_, options_));
}
TEST_P(OnHostMemory, NormsAndPoolsOfManyChannelsMatchTheReference) {
  expect_within(compare_wide_layers(*backend_, options_));
}
TEST_P(OnHostMemory, ValuesOfAnyStorageMayMeet) {
  expect_within(compare_storages(*backend_, options_));
}
TEST_P(OnHostMemory, WholeNetsMatchTheReference) {
  expect_within(compare_nets(*backend_, options_));
}

TEST_P(OnHostMemory, RunInRangesOrTwiceGivesTheSameBits) {
  const Graph graph = training_graph("lenet", 3, 28, 1);
  const Inputs inputs = random_inputs(graph, 12);
  Running whole(*backend_, graph, inputs, options_);
  whole.run();
  const auto want = whole.outputs();
  whole.run();
  EXPECT_EQ(whole.outputs(), want);

  Running parts(*backend_, graph, inputs, options_);
  const std::size_t nodes = graph.nodes.size();
  for (const std::size_t cut : {nodes / 3, nodes / 2, nodes - 1}) {
    parts.program().run(0, cut);
    parts.program().run(cut, cut);
    parts.program().run(cut, nodes);
    parts.program().wait(nodes);
    EXPECT_EQ(parts.outputs(), want) << "cut at " << cut;
  }
}

// Waiting for a bucket makes its gradients available. The rest has not been computed by then.
TEST_P(OnHostMemory, OutputsAreThereWhenWaitedForAndNotBefore) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs inputs = random_inputs(graph, 18);
  Running whole(*backend_, graph, inputs, options_);
  whole.run();

  Running parts(*backend_, graph, inputs, options_);
  const std::size_t nodes = graph.nodes.size();
  std::vector<std::size_t> made_by(graph.values.size(), 0);
  for (std::size_t n = 0; n < nodes; ++n) {
    for (const ValueId id : graph.nodes[n].outputs) made_by[static_cast<std::size_t>(id)] = n;
  }
  const std::size_t cut = nodes / 2;
  parts.program().run(0, cut);
  parts.program().run(cut, nodes);
  parts.program().wait(cut);
  int there = 0;
  int missing = 0;
  for (const Output& output : graph.outputs) {
    const Numbers got = parts.numbers(output.value);
    if (made_by[static_cast<std::size_t>(output.value)] < cut) {
      EXPECT_EQ(got, whole.numbers(output.value)) << graph.value(output.value).name;
      ++there;
    } else {
      EXPECT_EQ(got, Numbers(got.size(), 77.0)) << graph.value(output.value).name;
      ++missing;
    }
  }
  EXPECT_GT(there, 0);
  EXPECT_GT(missing, 0);
  parts.program().wait(nodes);
  EXPECT_EQ(parts.outputs(), whole.outputs());
}

// The caller may reuse the memory of inputs as soon as run() has returned.
TEST_P(OnHostMemory, InputsAreTakenByRunAndParametersByLoad) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs first = random_inputs(graph, 14);
  const Inputs second = random_inputs(graph, 15);
  Running fresh(*backend_, graph, second, options_);
  fresh.run();

  Running changed(*backend_, graph, first, options_);
  changed.run();
  const ValueId targets = graph.find("targets");
  Inputs mixed = first;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    mixed[id] = second.at(id);
    std::ranges::copy(second.at(id), changed.floats(id).begin());
  }
  changed.program().load_parameters();
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    std::ranges::fill(changed.floats(id), 1e9F);
  }
  changed.program().run(0, graph.nodes.size());
  std::ranges::fill(changed.floats(targets), 1e9F);
  changed.program().wait(graph.nodes.size());
  Running want(*backend_, graph, mixed, options_);
  want.run();
  EXPECT_EQ(changed.outputs(), want.outputs());
  EXPECT_NE(changed.outputs(), fresh.outputs());
}

TEST_P(OnHostMemory, NotANumberReachesTheLoss) {
  for (const NetCase& net : kConformanceNets) {
    const Graph graph = training_graph(net.net, net.batch, net.side, net.channels);
    Inputs inputs = random_inputs(graph, 13);
    inputs[graph.of_kind(ValueKind::kParameter).front()][0] = std::nan("");
    Running running(*backend_, graph, inputs, options_);
    running.run();
    for (const Output& output : graph.outputs) {
      if (output.kind != OutputKind::kLoss) continue;
      EXPECT_TRUE(std::isnan(running.numbers(output.value)[0])) << net.net;
    }
  }
}

TEST_P(OnHostMemory, StepsAllocateNothingAndMemoryIsAsPlanned) {
  const Graph graph = training_graph("resnet20", 2, 16, 3);
  const Inputs inputs = random_inputs(graph, 17);
  {
    Running running(*backend_, graph, inputs, options_);
    running.run();
    const HostDeviceUse before = device_->use();
    for (int i = 0; i < 3; ++i) {
      running.program().load_parameters();
      running.run();
    }
    EXPECT_EQ(device_->use().allocations, before.allocations);
    // Besides the block of memory: f32 parameters, which this test binds to host memory.
    std::size_t weights = 0;
    for (const Value& value : graph.values) {
      if (value.kind != ValueKind::kParameter) continue;
      weights += (static_cast<std::size_t>(element_count(value.shape)) * 4 + 255) / 256 * 256;
    }
    EXPECT_EQ(device_->use().most_bytes, running.program().arena_bytes() + weights);
  }
  EXPECT_EQ(device_->use().bytes, 0U);
}

TEST(CudnnErrors, SayWhatIsWrong) {
  const auto device = std::make_shared<HostDevice>();
  const auto backend = make_cudnn_backend(device);
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const auto program = backend->compile(graph, {});
  const ValueId pixels = graph.find("pixels");
  const ValueId weights = graph.find("weights");
  std::vector<float> two(2);
  std::vector<float> three(3);
  EXPECT_THROW(program->bind(weights, three), Error);
  EXPECT_THROW(program->bind(pixels, two), Error);
  EXPECT_THROW(program->bind(static_cast<ValueId>(graph.values.size()), two), Error);
  EXPECT_THROW(program->bind(-1, two), Error);
  EXPECT_THROW(program->load_parameters(), Error);
  EXPECT_THROW(program->run(0, graph.nodes.size()), Error);

  Running running(*backend, graph, random_inputs(graph, 1), {});
  EXPECT_THROW(running.program().wait(1), Error);
  EXPECT_THROW(running.program().run(1, 2), Error);
  EXPECT_THROW(running.program().run(0, graph.nodes.size() + 1), Error);
  running.program().run(0, 2);
  EXPECT_THROW(running.program().run(3, 4), Error);
  EXPECT_THROW(running.program().wait(3), Error);
  running.program().run(0, 1);
}

TEST(CudnnErrors, OutOfMemoryIsTheDevicesSentenceAndLeavesNothingBehind) {
  const auto device = std::make_shared<HostDevice>(HostDeviceOptions{.memory_bytes = 100'000});
  const auto backend = make_cudnn_backend(device);
  const Graph graph = training_graph("resnet20", 8, 32, 3);
  EXPECT_THAT([&] { backend->compile(graph, {}); },
              ThrowsMessage<Error>(HasSubstr("out of memory")));
  EXPECT_EQ(device->use().bytes, 0U);
}

TEST(CudnnErrors, TooManyChannelsOfAnImage) {
  const auto backend = make_cudnn_backend(std::make_shared<HostDevice>());
  const Graph graph = training_graph("lenet", 1, 28, 17);
  EXPECT_THAT([&] { backend->compile(graph, {}); },
              ThrowsMessage<Error>(HasSubstr("17 channels, but at most 16")));
}

TEST(Cudnn, TellsWhoseKernelsRunALayer) {
  const auto device =
      std::make_shared<HostDevice>(HostDeviceOptions{.has_mixed_convolutions = false});
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const CudnnProgram program(device, graph, {.compute = DType::kBF16, .deterministic = true});
  EXPECT_THAT(program.choices(),
              testing::Contains(testing::Pair("conv2d forward bf16->f32 n2 c1 h28 w28 k20 r5 s5 "
                                              "p24 q24 stride1 pad0 deterministic",
                                              "own loops")));
  EXPECT_THAT(program.choices(),
              testing::Contains(testing::Pair(HasSubstr("linear forward"), "loops")));
}

// A card's convolutions with f32 results may be slow.
TEST(Cudnn, GradientsOfConvolutionsRoundAndThoseOfMatrixProductsDoNot) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const CudnnProgram program(std::make_shared<HostDevice>(), graph, {.compute = DType::kBF16});
  const auto has = [&](const char* beginning) {
    return testing::Value(program.choices(),
                          testing::Contains(testing::Key(testing::StartsWith(beginning))));
  };
  EXPECT_TRUE(has("conv2d backward-filter bf16 "));
  EXPECT_FALSE(has("conv2d backward-filter bf16->f32 "));
  EXPECT_TRUE(has("linear backward-filter bf16->f32 "));
}

// Another rank's choices apply as far as this card offers them.
TEST(Cudnn, ImposesChoices) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const auto choices_of = [&](const HostDeviceOptions& device, const KernelChoices* imposed) {
    const CompileOptions options{.compute = DType::kBF16, .choices = imposed};
    return CudnnProgram(std::make_shared<HostDevice>(device), graph, options).choices();
  };
  const HostDeviceOptions best{.engines = {"engine 2", "engine 1"}};
  const HostDeviceOptions rounding{.has_mixed_convolutions = false, .engines = {"engine 2"}};
  const HostDeviceOptions none{.has_libraries = false};
  for (const HostDeviceOptions& theirs : {best, rounding, none}) {
    const KernelChoices wanted = choices_of(theirs, nullptr);
    EXPECT_NE(choices_of({}, nullptr), wanted);
    EXPECT_EQ(choices_of({}, &wanted), wanted);
  }
  const KernelChoices wanted = choices_of(best, nullptr);
  EXPECT_THAT([&] { choices_of({.engines = {"engine 1"}}, &wanted); },
              ThrowsMessage<Error>(HasSubstr("by engine 2, which this card (host memory")));
}

}  // namespace winnow::train::cudnn::conformance_test
