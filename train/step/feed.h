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

  // Rows [m * size(), (m+1) * size()) of `batch`, which must stay until the program has run. A
  // sample's weight enters divided by `total_weight`, so that the losses of all micro-batches of a
  // global batch add up to its mean, and times the loss scale: one of all stages, or each its own.
  // A sample of weight 0 needs no label;
  // the target of a mixed one has those of both, each with its share. Throws UsageError, naming the
  // id, for a sample without a label or with several, or a label the net has no class for. Where
  // the loss is of each class's sigmoid there may be any number: the target is 1 for each, and all
  // zeros of a sample without a label (several_labels() of train/run says where it may be).
  // `given`: what a stage of a pipeline reads in place of the pixels; empty: the batch's.
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
// The same for all outputs of this kind, if any.
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
