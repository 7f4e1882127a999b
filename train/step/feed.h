#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/load/batch.h"
#include "train/backend/backend.h"

namespace winnow::train {

// What random numbers of a net follow from, besides a sample's id.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

// Gives a program its inputs, one micro-batch of a batch at a time: pixels by reference, targets
// (one row of the label distribution a sample) where its loss reads labels, weights, and keys of
// random numbers where the net has dropout (train/ops/dropout.h) computed here.
class Feed {
 public:
  // The program's inputs "pixels", "targets", if it has them, and "weights" of all stages are bound
  // from now on: "local.1.weights", ..., "weights".
  explicit Feed(Program& program);

  // Rows [m * size(), (m+1) * size()) of `batch`, which must stay until the program has run. A
  // sample's weight enters divided by `total_weight`, so that the losses of all micro-batches of a
  // global batch add up to its mean, and times the loss scale: one of all stages, or each its own.
  // A sample of weight 0 needs no label;
  // the target of a mixed one has those of both, each with its share. Throws UsageError, naming the
  // id, for a sample without a label or with several, or a label the net has no class for. Where
  // the loss is of each class's sigmoid there may be any number: the target is 1 for each, and all
  // zeros of a sample without a label (several_labels() of train/run says where it may be).
  void bind(pipeline::Batch& batch, std::size_t m, double total_weight, const Draw& draw = {},
            std::span<const double> loss_scales = {});

  std::size_t size() const noexcept { return size_; }                   // samples of a micro-batch
  std::size_t classes() const noexcept { return classes_; }             // 0: no labels are read
  std::span<const float> targets() const noexcept { return targets_; }  // that were bound last

 private:
  void bind_weights();

  Program& program_;
  ValueId pixels_;
  std::optional<ValueId> keys_input_;
  std::size_t size_;
  std::size_t pixels_per_sample_;
  std::size_t classes_ = 0;
  bool any_labels_;  // a sample may have any number of them
  std::vector<float> targets_;
  std::vector<std::vector<float>> weights_;  // of each stage
  std::size_t key_bytes_ = 0;                // of a sample
  std::vector<std::uint8_t> keys_;
};

// Memory for the program's output of this kind, bound to it; the vector may be moved, not resized.
std::vector<float> bind_output(Program& program, OutputKind kind);
// The same for all of this kind, of which there may be none.
std::vector<std::vector<float>> bind_outputs(Program& program, OutputKind kind);

// What a micro-batch was worth, by samples of weight > 0.
struct Score {
  double loss = 0;     // sum of weight * loss
  double weight = 0;   // sum of weights
  double correct = 0;  // samples whose largest logit (the first of equals) is their label, one of
                       // their labels, or that of the larger share; with a logit that is not
                       // finite none, nor one without a label
  double samples = 0;
};

// Rows [m * n, (m+1) * n) of `batch`, n = per_sample_loss.size(), against the logits (n, classes).
// The predicted labels are written to `predictions` (n) when it is not empty; where logits are not
// all finite, a class that the sample is not of.
Score score(const pipeline::Batch& batch, std::size_t m, std::span<const float> logits,
            std::span<const float> per_sample_loss, std::span<std::int32_t> predictions);

}  // namespace winnow::train
