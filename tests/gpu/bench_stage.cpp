#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/gpu/stages.h"
#include "train/backend/cudnn/cudnn.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

struct BenchCase {
  std::string net;
  int side = 0;
  int classes = 0;
  std::int64_t batch = 0;
  std::string dtype;
  int warm_up = 0;
  int steps = 0;

  // The same but for steps.
  bool is_as(const BenchCase& o) const {
    return net == o.net && side == o.side && classes == o.classes && batch == o.batch &&
           dtype == o.dtype;
  }
};

BenchCase parse(const std::string& line) {
  std::istringstream in(line);
  BenchCase c;
  if (!(in >> c.net >> c.side >> c.classes >> c.batch >> c.dtype >> c.warm_up >> c.steps) ||
      c.steps < 1) {
    throw Error("no case of a bench: " + line);
  }
  return c;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// A net ready to be measured.
class Prepared {
 public:
  Prepared(Backend& backend, const cudnn::Device& device, BenchCase c)
      : device_(device),
        case_(std::move(c)),
        training_(backend, {.net = case_.net,
                            .side = case_.side,
                            .classes = case_.classes,
                            .batch = case_.batch,
                            .micro_batch = case_.batch,
                            .dtype = parse_dtype(case_.dtype),
                            .lr = 0.01}),
        batch_(
            synthetic_batch(0, static_cast<std::size_t>(case_.batch), case_.side, case_.classes)) {}

  const BenchCase& made_for() const { return case_; }

  std::string measure(int warm_up, int steps) {
    Program& program = training_.program();
    const std::size_t nodes = program.graph().nodes.size();
    std::vector<double> whole;
    std::vector<double> passes;
    for (int s = 0; s < warm_up; ++s) training_.step(batch_);
    const cudnn::Traffic before = device_.traffic();
    for (int s = 0; s < steps; ++s) {
      whole.push_back(seconds_of([&] { training_.step(batch_); }));
    }
    const cudnn::Traffic after = device_.traffic();
    // Forward and backward alone: inputs in, outputs and gradients out, no sums and no update.
    for (int s = 0; s < (steps + 4) / 5; ++s) {
      passes.push_back(seconds_of([&] {
        program.run(0, nodes);
        program.wait(nodes);
      }));
    }
    const auto images = static_cast<double>(case_.batch);
    std::ostringstream json;
    json << "{\"images_per_second\": " << images / median(whole)
         << ", \"step_ms\": " << 1e3 * median(whole)
         << ", \"slowest_step_ms\": " << 1e3 * *std::ranges::max_element(whole)
         << ", \"forward_backward_ms\": " << 1e3 * median(passes) << ", \"bytes_to_host\": "
         << (after.to_host - before.to_host) / static_cast<unsigned>(steps)
         << ", \"bytes_to_card\": "
         << (after.to_device - before.to_device) / static_cast<unsigned>(steps)
         << ", \"memory_mib\": " << static_cast<double>(program.arena_bytes()) / (1 << 20) << "}";
    return json.str();
  }

 private:
  const cudnn::Device& device_;
  BenchCase case_;
  Training training_;
  pipeline::Batch batch_;
};

}  // namespace

void bench_stage(std::shared_ptr<cudnn::Device> device, std::istream& cases,
                 std::ostream& results) {
  const auto backend = make_cudnn_backend(device);
  std::optional<Prepared> prepared;
  std::string line;
  while (std::getline(cases, line)) {
    try {
      const BenchCase asked = parse(line);
      if (!prepared || !prepared->made_for().is_as(asked)) {
        prepared.reset();
        prepared.emplace(*backend, *device, asked);
      }
      results << prepared->measure(asked.warm_up, asked.steps) << std::endl;
    } catch (const std::exception& error) {
      prepared.reset();
      results << "{\"error\": " << in_quotes(error.what()) << "}" << std::endl;
    }
  }
}

}  // namespace winnow::gpu
