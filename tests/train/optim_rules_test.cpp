// Ten steps of every optimiser that PyTorch lacks, compared with its formula in double. The formula
// follows the paper or program that the optimiser's header names. PyTorch's optimisers are tested
// in optim_vectors_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "train/optim/optimizer.h"

namespace winnow::train::optim_rules_test {

using Numbers = std::vector<double>;

// A tensor as a formula sees it. t counts from 1.
struct Formula {
  Numbers w;
  Numbers first = Numbers(w.size(), 0.0);  // the state, as the formula calls it
  Numbers second = Numbers(w.size(), 0.0);

  struct Step {
    const Numbers& g;
    double lr;
    int t;
    bool decay;
  };
};
using TakeStep = std::function<void(Formula&, const Formula::Step&)>;

double norm(const Numbers& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

// arXiv:1708.03888, Algorithm 1. `local` gives the tensor's rate for these norms.
TakeStep lars(double mu, double wd, bool every_tensor,
              const std::function<double(double w, double g, double wd)>& local) {
  return [=](Formula& f, const Formula::Step& s) {
    const double w = norm(f.w);
    const double g = norm(s.g);
    const bool scaled = (s.decay || every_tensor) && w > 0 && g > 0;
    const double rate = s.lr * (scaled ? local(w, g, wd) : 1);
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      f.first[i] = mu * f.first[i] + rate * (s.g[i] + (s.decay ? wd : 0) * f.w[i]);
      f.w[i] -= f.first[i];
    }
  };
}

// apex/parallel/LARC.py over torch.optim.SGD.
TakeStep larc(double mu, double wd, double trust) {
  return [=](Formula& f, const Formula::Step& s) {
    const double w = norm(f.w);
    const double g = norm(s.g);
    double adaptive = 1;
    if (s.decay && w > 0 && g > 0) adaptive = std::min(trust * w / (g + w * wd) / s.lr, 1.0);
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      f.first[i] = mu * f.first[i] + adaptive * (s.g[i] + (s.decay ? wd : 0) * f.w[i]);
      f.w[i] -= s.lr * f.first[i];
    }
  };
}

// arXiv:1904.00962, Algorithm 2.
TakeStep lamb(double beta1, double beta2, double eps, double wd) {
  return [=](Formula& f, const Formula::Step& s) {
    Numbers u(f.w.size());
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      f.first[i] = beta1 * f.first[i] + (1 - beta1) * s.g[i];
      f.second[i] = beta2 * f.second[i] + (1 - beta2) * s.g[i] * s.g[i];
      const double m = f.first[i] / (1 - std::pow(beta1, s.t));
      const double v = f.second[i] / (1 - std::pow(beta2, s.t));
      u[i] = m / (std::sqrt(v) + eps) + (s.decay ? wd * f.w[i] : 0);
    }
    const double w = norm(f.w);
    const double ratio = s.decay && w > 0 && norm(u) > 0 ? w / norm(u) : 1;
    for (std::size_t i = 0; i < f.w.size(); ++i) f.w[i] -= s.lr * ratio * u[i];
  };
}

// tensorflow/python/training/rmsprop.py and the kernel ApplyRMSProp.
TakeStep rmsprop_tf(double decay, double eps, double mu, double wd) {
  return [=](Formula& f, const Formula::Step& s) {
    if (s.t == 1) f.first.assign(f.w.size(), 1.0);  // ms
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      const double g = s.g[i] + (s.decay ? wd * f.w[i] : 0);
      f.first[i] += (g * g - f.first[i]) * (1 - decay);
      f.second[i] = mu * f.second[i] + s.lr * g / std::sqrt(f.first[i] + eps);
      f.w[i] -= f.second[i];
    }
  };
}

// arXiv:2302.06675, Algorithm 2.
TakeStep lion(double beta1, double beta2, double wd) {
  return [=](Formula& f, const Formula::Step& s) {
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      const double c = beta1 * f.first[i] + (1 - beta1) * s.g[i];
      const double sign = c > 0 ? 1 : c < 0 ? -1 : 0;
      f.w[i] -= s.lr * (sign + (s.decay ? wd * f.w[i] : 0));
      f.first[i] = beta2 * f.first[i] + (1 - beta2) * s.g[i];
    }
  };
}

// The same with Goyal et al. 2017, equation 10: v is rescaled when the rate changes.
TakeStep corrected_lars(double mu, double wd) {
  double before = 0;
  return [=](Formula& f, const Formula::Step& s) mutable {
    const double rate = 0.01 * norm(f.w) / (norm(s.g) + wd * norm(f.w));
    const double correction = s.t == 1 ? 1 : s.lr / before;
    before = s.lr;
    for (std::size_t i = 0; i < f.w.size(); ++i) {
      f.first[i] =
          mu * correction * f.first[i] + s.lr * (s.decay ? rate * (s.g[i] + wd * f.w[i]) : s.g[i]);
      f.w[i] -= f.first[i];
    }
  };
}

struct Case {
  std::string name;
  std::string optimizer;
  OptionValues options;
  TakeStep formula;
};

std::vector<Case> cases() {
  const auto paper = [](double w, double g, double wd) { return 0.01 * w / (g + wd * w); };
  const OptionValues large{{"momentum", {0.8}}, {"weight_decay", {0.1}}, {"lars_eta", {0.01}}};
  return {
      {"lars", "lars", large, lars(0.8, 0.1, false, paper)},
      {"lars_paper", "lars_paper", large, lars(0.8, 0.1, true, paper)},
      {"lars_corrected",
       "lars",
       {{"momentum", {0.8}},
        {"weight_decay", {0.1}},
        {"lars_eta", {0.01}},
        {"momentum_correction", {1}}},
       corrected_lars(0.8, 0.1)},
      {"larc", "larc", large, larc(0.8, 0.1, 0.01)},
      {"larc_seldom_clipped",
       "larc",
       {{"lars_eta", {0.5}}, {"weight_decay", {0.1}}},
       larc(0.9, 0.1, 0.5)},
      {"lamb", "lamb", {}, lamb(0.9, 0.999, 1e-6, 0.01)},
      {"lamb_other",
       "lamb",
       {{"beta1", {0.5}}, {"beta2", {0.9}}, {"eps", {1e-2}}, {"weight_decay", {0.3}}},
       lamb(0.5, 0.9, 1e-2, 0.3)},
      {"rmsprop_tf", "rmsprop_tf", {}, rmsprop_tf(0.9, 1e-3, 0.9, 1e-5)},
      {"rmsprop_tf_other",
       "rmsprop_tf",
       {{"alpha", {0.5}}, {"eps", {0.1}}, {"momentum", {0}}, {"weight_decay", {0.1}}},
       rmsprop_tf(0.5, 0.1, 0, 0.1)},
      {"lion", "lion", {{"weight_decay", {0.1}}}, lion(0.9, 0.99, 0.1)},
      {"lion_other", "lion", {{"beta1", {0.5}}, {"beta2", {0.7}}}, lion(0.5, 0.7, 0)},
  };
}

// One element has tiny gradients, another has none. Signs change from step to step.
Numbers gradients_of(int t) {
  const Numbers scales{1, 0.1, 10, 1e-3, 1e-4, 0, 3};
  Numbers g;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const double at = std::sin(1.7 * t + 2.3 * static_cast<double>(i));
    g.push_back(static_cast<float>(scales[i] * at));
  }
  return g;
}

class Rules : public testing::TestWithParam<Case> {};

TEST_P(Rules, TakeTenStepsOfTheirFormula) {
  const Case& test = GetParam();
  const Optimizer& row = find_optimizer(test.optimizer);
  for (const bool decay : {true, false}) {
    const TakeStep take_step = test.formula;
    Formula formula{{0.5, -1.5, 2, 0.0009765625, -3, 0.25, 7}};
    std::vector<float> value(formula.w.begin(), formula.w.end());
    std::vector<std::vector<float>> state(row.slots.size(), std::vector<float>(value.size(), 0));
    const std::vector<std::span<float>> slots(state.begin(), state.end());
    const UpdateFunction update = row.make(ChosenOptions(row.options, test.options));
    const Numbers start = formula.w;
    for (int t = 1; t <= 10; ++t) {
      const Numbers g = gradients_of(t);
      const double lr = 0.2 / t;
      take_step(formula, {g, lr, t, decay});
      update({value,
              std::vector<float>(g.begin(), g.end()),
              slots,
              {.lr = lr, .step = t - 1, .decay = decay}});
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double most = 3e-6 * std::max({std::abs(start[i]), std::abs(formula.w[i]), 0.1});
        ASSERT_NEAR(value[i], formula.w[i], most) << "step " << t << ", element " << i;
      }
    }
    EXPECT_NE(formula.w, start);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

// The property that LAMB is named for: |step| = lr |w|, whatever the scale of the gradient.
TEST(Lamb, StepIsTheRateTimesTheNormOfTheWeights) {
  const Optimizer& row = find_optimizer("lamb");
  for (const float scale : {1e-2F, 1.0F, 1e4F}) {
    std::vector<float> value{3, 4, 12};  // |w| = 13
    const std::vector<float> before = value;
    std::vector<std::vector<float>> state(2, std::vector<float>(3, 0));
    const std::vector<std::span<float>> slots(state.begin(), state.end());
    row.make(ChosenOptions(row.options, {}))(
        {value, std::vector<float>{scale, -scale, 0}, slots, {.lr = 0.5}});
    double moved = 0;
    for (std::size_t i = 0; i < 3; ++i) moved += std::pow(value[i] - before[i], 2);
    EXPECT_NEAR(std::sqrt(moved), 0.5 * 13, 1e-5);
  }
}

}  // namespace winnow::train::optim_rules_test
