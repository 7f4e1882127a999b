#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// Losses. Their cost is small compared with the net, so plain loops in f64 are enough.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

double element(const float* from) { return static_cast<double>(*from); }
double element(const Bf16* from) {
  const std::uint32_t bits = static_cast<std::uint32_t>(*from) << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

struct LogitSoftmax {
  double greatest;
  double log_sum;  // log of the sum of exp(logit - greatest)
};
template <class T>
LogitSoftmax softmax(const T* logits, Index classes) {
  double top = element(logits);
  for (Index k = 1; k < classes; ++k) {
    const double v = element(logits + k);
    if (v > top) top = v;
  }
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += __builtin_exp(element(logits + k) - top);
  return {top, __builtin_log(sum)};
}

double total(const float* targets, Index classes) {
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += static_cast<double>(targets[k]);
  return sum;
}

void add_up(const Loss& a) {
  double loss = 0;
  for (Index n = 0; n < a.layer.batch; ++n) {
    loss += static_cast<double>(a.weights[n]) * static_cast<double>(a.per_sample[n]);
  }
  *a.loss = static_cast<float>(loss);
}

template <class T>
void loss_typed(const Loss& a, int threads) {
  const auto* logits = static_cast<const T*>(a.logits);
  parallel_pieces(a.layer.batch, 8, threads, [=](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const T* row = logits + n * a.layer.classes;
      const float* targets = a.targets + n * a.layer.classes;
      const LogitSoftmax s = softmax(row, a.layer.classes);
      const double even = a.layer.smoothing / static_cast<double>(a.layer.classes) *
                          total(targets, a.layer.classes);
      double sum = 0;
      for (Index k = 0; k < a.layer.classes; ++k) {
        const double t = (1 - a.layer.smoothing) * static_cast<double>(targets[k]) + even;
        sum -= t * (element(row + k) - s.greatest - s.log_sum);
      }
      a.per_sample[n] = static_cast<float>(sum);
    }
  });
  add_up(a);
}

template <class T>
void loss_backward_typed(const Loss& a, int threads) {
  const auto* logits = static_cast<const T*>(a.logits);
  auto* dlogits = static_cast<T*>(a.dlogits);
  parallel_pieces(a.layer.batch, 8, threads, [=](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const T* row = logits + n * a.layer.classes;
      const float* targets = a.targets + n * a.layer.classes;
      const LogitSoftmax s = softmax(row, a.layer.classes);
      const double sum = total(targets, a.layer.classes);
      const double even = a.layer.smoothing / static_cast<double>(a.layer.classes) * sum;
      const auto weight = static_cast<double>(a.weights[n]);
      for (Index k = 0; k < a.layer.classes; k += kLanes) {
        const int lanes = static_cast<int>(least(kLanes, a.layer.classes - k));
        Floats v = {};
        for (int i = 0; i < lanes; ++i) {
          const double t = (1 - a.layer.smoothing) * static_cast<double>(targets[k + i]) + even;
          const double share = __builtin_exp(element(row + k + i) - s.greatest - s.log_sum);
          v[i] = static_cast<float>(weight * (share * sum - t));
        }
        store_block(dlogits + n * a.layer.classes + k, v, lanes);
      }
    }
  });
}

// Calls use(n, k, logit, smoothed target) for the classes of samples [begin, end), in order.
template <class T, class Use>
void for_terms(const Loss& a, Index begin, Index end, Use use) {
  for (Index n = begin; n < end; ++n) {
    const T* row = static_cast<const T*>(a.logits) + n * a.layer.classes;
    const float* targets = a.targets + n * a.layer.classes;
    const double even =
        a.layer.smoothing / static_cast<double>(a.layer.classes) * total(targets, a.layer.classes);
    for (Index k = 0; k < a.layer.classes; ++k) {
      use(n, k, element(row + k), (1 - a.layer.smoothing) * static_cast<double>(targets[k]) + even);
    }
  }
}

template <class T>
void sigmoid_loss_typed(const SigmoidLoss& a, int threads) {
  parallel_pieces(a.of.layer.batch, 8, threads, [=](Index begin, Index end) {
    double sum = 0;
    for_terms<T>(a.of, begin, end, [&](Index n, Index k, double logit, double target) {
      sum = (k == 0 ? 0 : sum) + sigmoid_loss_of(a.focal, logit, target);
      a.of.per_sample[n] = static_cast<float>(a.share * sum);
    });
  });
  add_up(a.of);
}

template <class T>
void sigmoid_loss_backward_typed(const SigmoidLoss& a, int threads) {
  auto* dlogits = static_cast<T*>(a.of.dlogits);
  parallel_pieces(a.of.layer.batch, 8, threads, [=](Index begin, Index end) {
    for_terms<T>(a.of, begin, end, [&](Index n, Index k, double logit, double target) {
      const double weight = static_cast<double>(a.of.weights[n]) * a.share;
      Floats v = {};
      v[0] = static_cast<float>(weight * sigmoid_slope_of(a.focal, logit, target));
      store(dlogits + n * a.of.layer.classes + k, v, 1);
    });
  });
}

}  // namespace

void sigmoid_loss(const SigmoidLoss& a, int threads) {
  a.of.layer.type == Element::kF32 ? sigmoid_loss_typed<float>(a, threads)
                                   : sigmoid_loss_typed<Bf16>(a, threads);
}

void sigmoid_loss_backward(const SigmoidLoss& a, int threads) {
  a.of.layer.type == Element::kF32 ? sigmoid_loss_backward_typed<float>(a, threads)
                                   : sigmoid_loss_backward_typed<Bf16>(a, threads);
}

void loss(const Loss& a, int threads) {
  typed<Loss, loss_typed<float>, loss_typed<Bf16>>(a, threads);
}

void loss_backward(const Loss& a, int threads) {
  typed<Loss, loss_backward_typed<float>, loss_backward_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
