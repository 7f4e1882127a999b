#include "train/optim/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace winnow::train::clip_test {

struct Gradients {
  std::vector<std::vector<float>> tensors;
  std::vector<std::span<float>> spans() { return {tensors.begin(), tensors.end()}; }
};

// Two tensors of norms 3 and 4: together 5. The numbers are from PyTorch 2.15's clip_grad_norm_.
TEST(Clip, ScalesAllToTheNorm) {
  Gradients g{{{1, 2, -2}, {0, -4}}};
  EXPECT_DOUBLE_EQ(norm_of(g.spans()), 5);
  clip_gradients(g.spans(), {.norm = 0.5});
  const std::vector<std::vector<double>> want{{0.09999998, 0.19999996, -0.19999996},
                                              {0, -0.39999992}};
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t i = 0; i < want[t].size(); ++i) {
      EXPECT_NEAR(g.tensors[t][i], want[t][i], 3e-8);
    }
  }
}

TEST(Clip, LeavesSmallerGradientsAlone) {
  const Gradients before{{{1, 2, -2}, {0, -4}}};
  Gradients g = before;
  clip_gradients(g.spans(), {.norm = 5.1});
  EXPECT_EQ(g.tensors, before.tensors);
  clip_gradients(g.spans(), {});
  EXPECT_EQ(g.tensors, before.tensors);
  clip_gradients(g.spans(), {.value = 4});
  EXPECT_EQ(g.tensors, before.tensors);
}

TEST(Clip, CutsOffValues) {
  Gradients g{{{1, 2, -2}, {0, -4}}};
  clip_gradients(g.spans(), {.value = 1.5});
  EXPECT_EQ(g.tensors, (std::vector<std::vector<float>>{{1, 1.5F, -1.5F}, {0, -1.5F}}));
}

TEST(Clip, TakesTheValueBeforeTheNorm) {
  Gradients g{{{3, 100}}};
  clip_gradients(g.spans(), {.norm = 2.5, .value = 4});
  EXPECT_NEAR(g.tensors[0][0], 1.5, 1e-6);
  EXPECT_NEAR(g.tensors[0][1], 2, 1e-6);
}

TEST(Clip, NormOfAnyLengthIsThatOfTheFormula) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 1003U}) {
    Gradients g{{std::vector<float>(count)}};
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      g.tensors[0][i] = static_cast<float>(std::sin(static_cast<double>(i)) * 1e20);
      sum += double{g.tensors[0][i]} * double{g.tensors[0][i]};
    }
    EXPECT_NEAR(norm_of(g.spans()), std::sqrt(sum), 1e-12 * std::sqrt(sum)) << count;
  }
}

}  // namespace winnow::train::clip_test
