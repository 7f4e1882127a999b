#pragma once

#include "train/plan/run_plan.h"

namespace winnow::train {

// A plan of two ranks, with most kinds of tasks.
inline RunPlan some_plan() {
  RunPlan plan{.numerics = {.backend = "onednn",
                            .build = "1",
                            .instruction_set = "avx2",
                            .library = "oneDNN 2.6.3",
                            .dtype = DType::kBF16,
                            .kernels = {{"conv2d forward", "jit:avx2"}}},
               .layout = {.ranks = {{.lanes = {2, 1}, .threads = 3}, {.lanes = {2}, .node = 1}},
                          .stage_ranks = {1, 1},
                          .schedule = "ring",
                          .smaller = {{20, "multicolor", {.colors = 2}}, {300, "ring", {}}},
                          .transfers = "00aa"},
               .supersedes = {"00ff"},
               .step = {.lanes = 2, .threads = 3}};
  plan.step.tasks = {{.kind = Task::Kind::kBind, .lane = 1, .micro_batch = 2},
                     {.kind = Task::Kind::kCompute,
                      .lane = 1,
                      .micro_batch = 2,
                      .first_node = 3,
                      .last_node = 7,
                      .after = {0}},
                     {.kind = Task::Kind::kAdd,
                      .lane = 0,
                      .anywhere = true,
                      .bucket = 4,
                      .part = {1, 3},
                      .after = {0, 1}},
                     {.kind = Task::Kind::kFinish, .anywhere = true, .after = {2}},
                     {.kind = Task::Kind::kExchange, .anywhere = true, .exchange = 5},
                     {.kind = Task::Kind::kSend, .lane = 1, .micro_batch = 2, .peer = 1}};
  return plan;
}

}  // namespace winnow::train
