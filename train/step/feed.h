#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/load/batch.h"
#include "train/backend/backend.h"

namespace winnow::train {

// Inputs of a net's random numbers, besides a sample's id.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

// Provides a program's inputs, one micro-batch of a batch at a time. Pixels are passed by
// reference. Computed here: targets (the label distribution, one row a sample) if the loss reads
// labels, weights, and keys of random numbers if the net has dropout (train/ops/dropout.h).
class Feed {
 public:
  // Binds the program's inputs: "pixels", "targets" if there are any, and the "weights" of all
  // stages: "local.1.weights", ..., "weights".
  explicit Feed(Program& program);

  // Binds rows [m * size(), (m+1) * size()) of `batch`, which must stay valid until the program has
  // run.
  //
  // Weights    Are divided by `total_weight`, so that the losses of a global batch's micro-batches
  //            sum to its mean; and multiplied by the loss scale: one for all stages, or one for
  //            each.
  // Labels     A sample of weight 0 needs none. A mixed sample's target has the labels of both,
  //            each with its share.
  // Several    If the loss is a sigmoid one, any number is allowed: the target is 1 for each label,
  //            and all zeros without a label (allowed as several_labels() of train/run says).
  // Given      `given` replaces the pixels, for a stage of a pipeline, and must stay valid too.
  //            Empty: the batch's pixels.
  // Throws     UsageError, naming the id: a sample has no label, several labels, or a label for
  //            which the net has no class.
  void bind(pipeline::Batch& batch, std::size_t m, double total_weight, const Draw& draw = {},
            std::span<const double> loss_scales = {}, std::span<float> given = {});

  std::size_t size() const noexcept { return size_; }                   // samples in a micro-batch
  std::size_t classes() const noexcept { return classes_; }             // 0: labels are not read
  std::span<const float> targets() const noexcept { return targets_; }  // as bound last

 private:
  void bind_weights();

  Program& program_;
  ValueId pixels_;
  std::optional<ValueId> keys_input_;
  std::size_t size_;
  std::size_t pixels_per_sample_;
  std::size_t classes_ = 0;
  bool any_labels_;  // samples may have any number of labels
  std::vector<float> targets_;
  std::vector<std::vector<float>> weights_;  // for each stage
  std::size_t key_bytes_ = 0;                // for each sample
  std::vector<std::uint8_t> keys_;
};

// Allocates memory for the program's output of this kind and binds it. The vector may be moved, but
// not resized.
std::vector<float> bind_output(Program& program, OutputKind kind);
// As bind_output(), for all outputs of this kind, if any.
std::vector<std::vector<float>> bind_outputs(Program& program, OutputKind kind);

// Results of a micro-batch, over samples of weight > 0.
struct Score {
  double loss = 0;    // sum of weight * loss
  double weight = 0;  // sum of weights
  // Number of correct samples: the largest logit (the first one if there is a tie) is the label,
  // one of the labels, or for mixed samples that of the larger share. Samples without a label, or
  // with a logit that is not finite, are never correct.
  double correct = 0;
  double samples = 0;
};

// Scores rows [m * n, (m+1) * n) of `batch`, n = per_sample_loss.size(), given the logits (n,
// classes). Unless `predictions` (n) is empty, it receives the predicted labels; if logits are not
// all finite, a class that is wrong for the sample.
Score score(const pipeline::Batch& batch, std::size_t m, std::span<const float> logits,
            std::span<const float> per_sample_loss, std::span<std::int32_t> predictions);

}  // namespace winnow::train
