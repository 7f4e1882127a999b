#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/stages.h"
#include "train/backend/cudnn/cudnn.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

struct BenchCase {
  const char* net;
  int side;
  int classes;
  std::int64_t batch;
  DType dtype;
};
constexpr BenchCase kCases[] = {{"resnet20", 32, 10, 1024, DType::kF32},
                                {"resnet20", 32, 10, 1024, DType::kTf32},
                                {"resnet20", 32, 10, 1024, DType::kBF16},
                                {"resnet50", 224, 1000, 256, DType::kTf32},
                                {"resnet50", 224, 1000, 256, DType::kBF16}};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void bench(Backend& backend, Report& report, const std::string& item, const BenchCase& c) {
  constexpr int kWarmUp = 5;
  constexpr int kSteps = 30;
  const Recipe recipe{.net = c.net,
                      .side = c.side,
                      .classes = c.classes,
                      .batch = c.batch,
                      .micro_batch = c.batch,
                      .dtype = c.dtype,
                      .lr = 0.01};
  Training training(backend, recipe);
  pipeline::Batch batch = synthetic_batch(0, static_cast<std::size_t>(c.batch), c.side, c.classes);
  Program& program = training.program();
  const std::size_t nodes = program.graph().nodes.size();
  std::vector<double> steps;
  std::vector<double> passes;
  for (int s = 0; s < kWarmUp + kSteps; ++s) {
    const double step = seconds_of([&] { training.step(batch); });
    // Forward and backward alone: inputs in, outputs and gradients out, no sums and no update.
    const double pass = seconds_of([&] {
      program.run(0, nodes);
      program.wait(nodes);
    });
    if (s < kWarmUp) continue;
    steps.push_back(step);
    passes.push_back(pass);
  }
  const auto images = static_cast<double>(c.batch);
  report.add(item, true,
             {{"batch", images},
              {"images_per_second", images / median(steps)},
              {"step_ms", 1e3 * median(steps)},
              {"slowest_step_ms", 1e3 * *std::ranges::max_element(steps)},
              {"forward_backward_images_per_second", images / median(passes)},
              {"arena_mib", static_cast<double>(program.arena_bytes()) / (1 << 20)}},
             "");
}

}  // namespace

void bench_stage(std::shared_ptr<cudnn::Device> device, Report& report) {
  const auto backend = make_cudnn_backend(device);
  for (const BenchCase& c : kCases) {
    const std::string item = std::string(c.net) + " " + std::string(dtype_name(c.dtype));
    report.run(item, [&] { bench(*backend, report, item, c); });
  }
}

}  // namespace winnow::gpu
