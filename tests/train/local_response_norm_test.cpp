#include "train/ops/local_response_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/train/golden_tensors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::local_response_norm_test {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

TEST(LocalResponseNorm, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/local_response_norm", "cases")) {
    const LocalResponseNormAttributes norm{row.at("size").number<int>(), row.at("alpha").real(),
                                           row.at("beta").real(), row.at("k").real()};
    SCOPED_TRACE(norm.size);
    const Given x = given(row.at("x"));
    const auto y = outputs_of(kLocalResponseNorm, {x}, norm);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-12), given(row.at("y")).numbers));
    const auto dx = outputs_of(kLocalResponseNormBackward, {x, given(row.at("dy"))}, norm);
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-12), given(row.at("dx")).numbers));
  }
}

TEST(LocalResponseNorm, RefusesNumbersOutOfRange) {
  const Given x = {{1, 2, 1, 1}, {1, 2}};
  const auto refuses = [&](const LocalResponseNormAttributes& norm, const std::string& words) {
    EXPECT_THAT([&] { outputs_of(kLocalResponseNorm, {x}, norm); },
                testing::ThrowsMessage<ShapeError>(HasSubstr(words)));
  };
  refuses({.size = 0}, "size 0 must be at least 1");
  refuses({.k = 0}, "k 0 must be above 0");
  refuses({.alpha = -1}, "alpha and beta must be 0 or more, not -1");
  refuses({.beta = -0.5}, "not -0.5");
}

// 1e-4 times the sum of five squares is 5e-4 times their mean.
TEST(AlexnetLrn, IsThePapersInOneColumn) {
  const Graph graph = find_net("alexnet_lrn").make(square_images(224, 1000));
  const std::string text = to_text(graph);
  EXPECT_THAT(text, HasSubstr(" size=5 alpha=5e-04 beta=0.75 k=2 -> (1,96,55,55)"));
  EXPECT_THAT(text, HasSubstr(" size=5 alpha=5e-04 beta=0.75 k=2 -> (1,256,27,27)"));
  EXPECT_EQ(graph.value(graph.find("features.4.bias")).init, Init::kOnes);
  EXPECT_EQ(graph.value(graph.find("features.8.bias")).init, Init::kZeros);
  EXPECT_EQ(graph.value(graph.find("classifier.6.bias")).init, Init::kZeros);
  // It is the same in evaluation.
  EXPECT_THAT(to_text(for_inference(graph)), HasSubstr("local_response_norm"));
}

}  // namespace winnow::train::local_response_norm_test
