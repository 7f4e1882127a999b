#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "pipeline/load/batch.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "tests/train/learner.h"
#include "train/backend/reference/reference.h"
#include "train/reduce/exchange.h"
#include "train/rewrites/rewrites.h"

// Batch norms over all micro-batches of a step, for tests.

namespace winnow::train {

inline Graph synchronized_graph(const char* net, std::int64_t micro_batch,
                                std::int64_t micro_batches) {
  return synchronize_batch_norms(training_graph(net, micro_batch), micro_batches);
}

// The largest difference between two models, per tensor and relative to its norm.
inline double distance(const Model& got, const Model& want) {
  double most = 0;
  for (std::size_t t = 0; t < want.tensors.size(); ++t) {
    most = std::max(most, relative_l2({got.tensors[t].data.begin(), got.tensors[t].data.end()},
                                      {want.tensors[t].data.begin(), want.tensors[t].data.end()}));
  }
  return most;
}

// The result of a run of a few steps.
struct Learnt {
  Model model;
  std::vector<double> losses{};
};
inline Learnt learn(Learner& learner, pipeline::Batch batch, int steps, double lr) {
  Learnt learnt;
  for (int step = 0; step < steps; ++step) {
    const Score score = learner.step(batch, lr).score;
    learnt.losses.push_back(score.loss / score.weight);
  }
  learner.weights->store();
  learnt.model = learner.model;
  return learnt;
}

// Expects a program to read what the caller left in its shared outputs, not what it wrote there
// itself.
inline void expect_reads_shared_outputs(Backend& backend) {
  const Graph graph = synchronized_graph("resnet20", 2, 1);
  const Inputs inputs = random_inputs(graph, 3);
  const std::vector<Exchange> exchanges = exchanges_of(graph);
  const auto outputs = [&](Backend& by, float factor) {
    Running running(by, graph, inputs, {});
    Program& program = running.program();
    program.load_parameters();
    std::size_t done = 0;
    for (const Exchange& exchange : exchanges) {
      program.run(done, exchange.ready_after);
      done = exchange.ready_after;
      program.wait(done);
      for (const Exchange::Part& part : exchange.parts) {
        for (float& number : running.floats(part.value)) number *= factor;
      }
    }
    program.run(done, graph.nodes.size());
    program.wait(graph.nodes.size());
    return running.outputs();
  };
  const auto reference = make_reference_backend();
  const auto want = outputs(*reference, 1.25F);
  const auto got = outputs(backend, 1.25F);
  const auto untouched = outputs(*reference, 1);
  int changed = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(relative_l2(got[i], want[i]), 1e-3) << i;
    changed += relative_l2(untouched[i], want[i]) > 1e-2;
  }
  EXPECT_GT(changed, 60);
}

}  // namespace winnow::train
