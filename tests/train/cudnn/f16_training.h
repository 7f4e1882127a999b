#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/train/cudnn/host_device.h"
#include "tests/train/learner.h"
#include "train/backend/cudnn/cudnn.h"

// Training in f16 on a card made of host memory, for tests.

namespace winnow::train {

inline std::unique_ptr<Backend> host_card() {
  return make_cudnn_backend(std::make_shared<cudnn::HostDevice>());
}

inline RunPlan in_type(DType dtype, RunPlan plan) {
  plan.numerics.dtype = dtype;
  return plan;
}

inline std::vector<std::vector<float>> weights_of(Learner& learner) {
  learner.weights->store();
  std::vector<std::vector<float>> all;
  for (const Model::Tensor& t : learner.model.tensors) all.push_back(t.data);
  return all;
}

}  // namespace winnow::train
