#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/load/batch.h"
#include "train/backend/backend.h"

namespace winnow::train {

// Seed and step from which a net's random numbers are derived, together with a sample's id.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

// Binds the inputs of a program, one micro-batch of a batch at a time.
// Pixels    Passed by reference.
// Computed  Targets (one row of class weights for each sample) if the loss reads labels; sample
//           weights; keys of random numbers if the net has dropout (train/ops/dropout.h).
class Feed {
 public:
  // Finds the program's inputs: "pixels", "targets" if the loss reads labels, and the sample
  // weights of all stages: "local.1.weights", ..., "weights". A program without a loss reads pixels
  // only.
  explicit Feed(Program& program);

  // Binds micro-batch m: rows [m * size(), (m+1) * size()) of `batch`, which must stay valid until
  // the program has run.
  //
  // Weights    Are divided by `total_weight`, so that the losses of a global batch's micro-batches
  //            sum to its mean; and multiplied by `loss_scales`: one for all stages, or one for
  //            each.
  // Labels     A sample of weight 0 needs none. A sample that is mixed from two has the labels of
  //            both in its target, each with its share.
  // Several    A sigmoid loss accepts any number of labels: the target is 1 for each label, and all
  //            zeros without a label (if several_labels() of train/run allows that).
  // given      Replaces the pixels, for a later stage of a pipeline; must stay valid too. Empty:
  //            the batch's pixels.
  // Throws     UsageError, which names the sample's id: it has no label, several labels, or a label
  //            for which the net has no class.
  void bind(pipeline::Batch& batch, std::size_t m, double total_weight, const Draw& draw = {},
            std::span<const double> loss_scales = {}, std::span<float> given = {});

  std::size_t size() const noexcept { return size_; }  // number of samples in a micro-batch
  // Number of classes of the targets; 0: labels are not read.
  std::size_t classes() const noexcept { return classes_; }
  // Targets of the micro-batch that was bound last.
  std::span<const float> targets() const noexcept { return targets_; }

 private:
  void bind_weights();

  Program& program_;
  ValueId pixels_;
  std::optional<ValueId> keys_input_;
  std::size_t size_;
  std::size_t pixels_per_sample_;
  std::size_t classes_ = 0;
  bool any_labels_;  // whether samples may have any number of labels
  std::vector<float> targets_;
  std::vector<std::vector<float>> weights_;  // for each stage
  std::size_t key_bytes_ = 0;                // bytes of the random key of each sample
  std::vector<std::uint8_t> keys_;
};

// Allocates memory for the program's output of kind `kind` and binds it. The vector may be moved,
// but not resized.
std::vector<float> bind_output(Program& program, OutputKind kind);
// As bind_output(), for all outputs of kind `kind`; empty if there are none.
std::vector<std::vector<float>> bind_outputs(Program& program, OutputKind kind);

// Results of a micro-batch. Samples of weight 0 do not count.
struct Score {
  double loss = 0;    // sum of weight * loss over the samples
  double weight = 0;  // sum of weights
  // Number of samples whose largest logit (the first in a tie) is that of a correct class: the
  // label, one of several labels, or for mixed samples the label with the larger share. Samples
  // without a label, or with a logit that is not finite, are never correct.
  double correct = 0;
  double samples = 0;
};

// Scores micro-batch m: rows [m * n, (m+1) * n) of `batch`, where n = per_sample_loss.size().
// logits       (n, classes).
// predictions  Receives the n predicted labels, unless it is empty. If a sample's logits are not
//              all finite, it gets a wrong class.
Score score(const pipeline::Batch& batch, std::size_t m, std::span<const float> logits,
            std::span<const float> per_sample_loss, std::span<std::int32_t> predictions);

}  // namespace winnow::train
