#pragma once

#include <array>

#include "train/backend/cudnn/kernels_activation_internal.h"
#include "train/backend/cudnn/kernels_attention_internal.h"
#include "train/backend/cudnn/kernels_barlow_twins_internal.h"
#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_concat_internal.h"
#include "train/backend/cudnn/kernels_convolution_internal.h"
#include "train/backend/cudnn/kernels_dropout_internal.h"
#include "train/backend/cudnn/kernels_elementwise_internal.h"
#include "train/backend/cudnn/kernels_group_norm_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"
#include "train/backend/cudnn/kernels_local_response_norm_internal.h"
#include "train/backend/cudnn/kernels_loss_internal.h"
#include "train/backend/cudnn/kernels_norm_internal.h"
#include "train/backend/cudnn/kernels_pool_internal.h"
#include "train/backend/cudnn/kernels_scale_internal.h"
#include "train/backend/cudnn/kernels_update_internal.h"

namespace winnow::train::cudnn::kernels {

template <class Launcher>
struct Launches;
// The GPU updates of all optimisers, one row for each rule in train/optim/rules.h.
template <class Launcher>
inline constexpr std::array kUpdateRows = Launches<Launcher>::update_rows(Rules{});

// Functions for a kernel table (Table). They pass kernels to Launcher::launch(kernel, stream).
template <class Launcher>
struct Launches {
  template <class Kernel>
  static void launch(const Kernel& kernel, Stream& stream) {
    kernels::launch<Launcher>(kernel, stream);
  }

  static void convert(const Convert& a, Stream& stream) {
    by_type(a.from_type, [&](auto from) {
      by_type(a.to_type, [&](auto to) {
        using From = TypeOf<decltype(from)>;
        using To = TypeOf<decltype(to)>;
        const auto* source = static_cast<const From*>(a.from);
        auto* target = static_cast<To*>(a.to);
        if (fits_packs({a.from, a.to}, 0, 4, 16)) {
          launch(ConvertKernel<To, From, 4>{source, target, a.count}, stream);
        } else {
          launch(ConvertKernel<To, From, 1>{source, target, a.count}, stream);
        }
      });
    });
  }

  static void normalize(const Normalize& a, Stream& stream) {
    by_type(a.type, [&](auto type) { launch(NormalizeKernel<TypeOf<decltype(type)>>{a}, stream); });
  }

  static void pack_filter(const PackFilter& a, Stream& stream) {
    by_type(a.to_type, [&](auto type) {
      using T = TypeOf<decltype(type)>;
      launch(PackFilterKernel<T>{a.from, static_cast<T*>(a.to), a.k, a.c, a.r, a.s}, stream);
    });
  }
  static void unpack_filter(const UnpackFilter& a, Stream& stream) {
    by_type(a.from_type, [&](auto type) {
      using T = TypeOf<decltype(type)>;
      launch(UnpackFilterKernel<T>{static_cast<const T*>(a.from), a.to, a.k, a.c, a.r, a.s},
             stream);
    });
  }

  static void add_bias(const AddBias& a, Stream& stream) {
    by_pack(a.type, {a.y}, a.channels, [&]<class T, int N>() {
      launch(AddBiasKernel<T, N>{static_cast<T*>(a.y), a.bias, a.rows, a.channels}, stream);
    });
  }

  static void bias_gradient(const BiasGradient& a, Stream& stream) {
    by_pack(a.type, {a.dy}, a.channels, [&]<class T, int N>() {
      const BiasTerms<T> terms{static_cast<const T*>(a.dy), a.dbias};
      sum_channels<Launcher, T, N>(terms, a.rows, a.channels, a.scratch, stream);
    });
  }

  static void batch_norm_statistics(const BatchNorm& a, Stream& stream) {
    const Parts parts = parts_of(a.layer.rows, a.layer.channels);
    auto* means = static_cast<double*>(a.memory.scratch);
    auto* squares = means + parts.parts * a.layer.channels;
    by_pack(a.layer.type, {a.x}, a.layer.channels, [&]<class T, int N>() {
      launch(
          MomentsKernel<T, N>{static_cast<const T*>(a.x), a.layer.channels, parts, means, squares},
          stream);
    });
    launch(FinishMomentsKernel{means, squares, a.layer.channels, parts, a.statistics.mean,
                               a.statistics.variance},
           stream);
  }
  static void batch_norm(const BatchNorm& a, Stream& stream) {
    batch_norm_statistics(a, stream);
    batch_norm_inference(a, stream);
  }
  static void batch_norm_inference(const BatchNorm& a, Stream& stream) {
    by_pack(a.layer.type, {a.x, a.residual, a.y}, a.layer.channels,
            [&]<class T, int N>() { launch(BatchNormKernel<T, N>{a}, stream); });
  }
  static void batch_norm_sums(const BatchNormBackward& a, Stream& stream) {
    by_pack(a.layer.type, {a.x, a.dy, a.y}, a.layer.channels, [&]<class T, int N>() {
      sum_channels<Launcher, T, N>(NormTerms<T>{a}, a.layer.rows, a.layer.channels,
                                   a.memory.scratch, stream);
    });
  }
  static void batch_norm_input_gradient(const BatchNormBackward& a, Stream& stream) {
    by_pack(a.layer.type, {a.x, a.dy, a.y, a.gradients.dx, a.gradients.dresidual}, a.layer.channels,
            [&]<class T, int N>() { launch(BatchNormBackwardKernel<T, N>{a}, stream); });
  }
  static void batch_norm_backward(const BatchNormBackward& a, Stream& stream) {
    by_pack(a.layer.type, {a.x, a.dy, a.y, a.gradients.dx, a.gradients.dresidual}, a.layer.channels,
            [&]<class T, int N>() {
              sum_channels<Launcher, T, N>(NormTerms<T>{a}, a.layer.rows, a.layer.channels,
                                           a.memory.scratch, stream);
              launch(BatchNormBackwardKernel<T, N>{a}, stream);
            });
  }

  template <PoolKind kKind>
  static void pool(const Pool& a, Stream& stream) {
    by_pack(a.type, {a.from, a.to, a.index}, a.layer.channels,
            [&]<class T, int N>() { launch(PoolKernel<T, N, kKind>{a}, stream); });
  }
  template <PoolKind kKind>
  static void pool_backward(const Pool& a, Stream& stream) {
    by_pack(a.type, {a.from, a.to, a.index}, a.layer.channels,
            [&]<class T, int N>() { launch(PoolBackwardKernel<T, N, kKind>{a}, stream); });
  }

  static void loss(const Loss& a, Stream& stream) {
    by_type(a.layer.type, [&](auto type) {
      launch(LossKernel<TypeOf<decltype(type)>, LossPass::kForward>{a}, stream);
    });
    launch(TotalLossKernel{a}, stream);
  }
  static void loss_backward(const Loss& a, Stream& stream) {
    by_type(a.layer.type, [&](auto type) {
      launch(LossKernel<TypeOf<decltype(type)>, LossPass::kBackward>{a}, stream);
    });
  }
  static void sigmoid_loss(const SigmoidLoss& a, Stream& stream) {
    by_type(a.of.layer.type, [&](auto type) {
      launch(SigmoidLossKernel<TypeOf<decltype(type)>, LossPass::kForward>{a}, stream);
    });
    launch(TotalLossKernel{a.of}, stream);
  }
  static void sigmoid_loss_backward(const SigmoidLoss& a, Stream& stream) {
    by_type(a.of.layer.type, [&](auto type) {
      launch(SigmoidLossKernel<TypeOf<decltype(type)>, LossPass::kBackward>{a}, stream);
    });
  }

  static void direct_convolution(const DirectConvolution& a, Stream& stream) {
    switch (a.description.pass) {
      case Pass::kForward:
        return direct<Pass::kForward>(a, stream);
      case Pass::kBackwardData:
        return direct<Pass::kBackwardData>(a, stream);
      case Pass::kBackwardFilter:
        return direct<Pass::kBackwardFilter>(a, stream);
    }
  }
  template <Pass kPass>
  static void direct(const DirectConvolution& a, Stream& stream) {
    by_type(a.description.type, [&](auto type) {
      by_type(a.description.result, [&](auto result) {
        using T = TypeOf<decltype(type)>;
        using Result = TypeOf<decltype(result)>;
        launch(DirectConvolutionKernel<T, Result, kPass>{a.description.extents,
                                                         static_cast<const T*>(a.a),
                                                         static_cast<const T*>(a.b),
                                                         static_cast<Result*>(a.result)},
               stream);
      });
    });
  }

  static void finite_check(const FiniteCheck& a, Stream& stream) {
    launch(FiniteCheckKernel{a}, stream);
  }
  template <class Rule>
  static void update(const Rule& rule, const ParameterOnCard& a, Stream& stream) {
    const bool norms = rule.needs_norms(a.decay);
    if constexpr (HasDirection<Rule>) {
      launch(DirectionPartsKernel<Rule>{rule, a}, stream);
    } else if (norms) {
      launch(NormPartsKernel{a}, stream);
    }
    if (norms) launch(NormsKernel{a.scratch, norm_parts(a.count)}, stream);
    launch(UpdateKernel<Rule>{rule, a, norms}, stream);
  }
  template <class Rule>
  static Update make_update(const ChosenOptions& chosen) {
    return [rule = Rule::from(chosen)](const ParameterOnCard& a, Stream& stream) {
      update(rule, a, stream);
    };
  }
  template <class... Rule>
  static constexpr std::array<UpdateRow, sizeof...(Rule)> update_rows(RuleList<Rule...>) {
    return {UpdateRow{Rule::kName, &make_update<Rule>}...};
  }
  static void statistic(const Statistic& a, Stream& stream) { launch(StatisticKernel{a}, stream); }
  static void average(const Average& a, Stream& stream) { launch(AverageKernel{a}, stream); }
};

template <class Launcher>
constexpr Table make_table(const char* name) noexcept {
  using To = Launches<Launcher>;
  return {.name = name,
          .convert = To::convert,
          .normalize = To::normalize,
          .pack_filter = To::pack_filter,
          .unpack_filter = To::unpack_filter,
          .add_bias = To::add_bias,
          .bias_gradient = To::bias_gradient,
          .batch_norm = To::batch_norm,
          .batch_norm_inference = To::batch_norm_inference,
          .batch_norm_backward = To::batch_norm_backward,
          .relu = elementwise<Launcher, ReluOf>,
          .relu_backward = elementwise<Launcher, WhereOpen>,
          .add = elementwise<Launcher, SumOf>,
          .max_pool = To::template pool<PoolKind::kMax>,
          .max_pool_backward = To::template pool_backward<PoolKind::kMax>,
          .avg_pool = To::template pool<PoolKind::kAverage>,
          .avg_pool_backward = To::template pool_backward<PoolKind::kAverage>,
          .loss = To::loss,
          .loss_backward = To::loss_backward,
          .direct_convolution = To::direct_convolution,
          .finite_check = To::finite_check,
          .updates = kUpdateRows<Launcher>,
          .statistic = To::statistic,
          .average = To::average,
          .group_norm = group_norm<Launcher>,
          .group_norm_backward = group_norm_backward<Launcher>,
          .activation = activate<Launcher, ValueOf>,
          .activation_backward = activate<Launcher, SlopeTimes>,
          .scale = scale<Launcher>,
          .scale_factor_gradient = scale_factor_gradient<Launcher>,
          .copy_channels = copy_channels<Launcher>,
          .dropout = dropout<Launcher>,
          .pad_channels = pad_channels<Launcher>,
          .batch_norm_statistics = To::batch_norm_statistics,
          .batch_norm_sums = To::batch_norm_sums,
          .batch_norm_input_gradient = To::batch_norm_input_gradient,
          .direct_matmul = direct_matmul<Launcher>,
          .split_heads = move_heads<Launcher, true>,
          .join_heads = move_heads<Launcher, false>,
          .softmax = softmax<Launcher>,
          .softmax_backward = softmax_backward<Launcher>,
          .sigmoid_loss = To::sigmoid_loss,
          .sigmoid_loss_backward = To::sigmoid_loss_backward,
          .local_response_norm = local_response_norm<Launcher, false>,
          .local_response_norm_backward = local_response_norm<Launcher, true>,
          .barlow_twins = barlow_twins<Launcher>,
          .barlow_twins_backward = barlow_twins_backward<Launcher>};
}

}  // namespace winnow::train::cudnn::kernels
