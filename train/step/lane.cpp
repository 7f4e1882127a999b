#include "train/step/lane.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/plan/execution.h"

namespace winnow::train {
namespace {

// Scores the net or a local head.
Score score_one(StepLane& lane, const pipeline::Batch& batch, std::size_t m,
                std::span<const float> logits, std::span<const float> per_sample) {
  const Score found = score(batch, m, logits, per_sample, {});
  if (std::isfinite(static_cast<float>(found.loss))) return found;
  lane.loss_is_finite = false;
  for (std::size_t i = 0; i < per_sample.size(); ++i) {
    const std::size_t row = m * per_sample.size() + i;
    const bool counts = batch.weights[row] > 0 && !std::isfinite(per_sample[i]);
    const bool is_new = std::ranges::find(lane.not_finite, batch.ids[row]) == lane.not_finite.end();
    if (counts && is_new) lane.not_finite.push_back(batch.ids[row]);
  }
  return found;
}

}  // namespace

StepLane::StepLane(Program& program_of_lane)
    : program(program_of_lane),
      feed(program),
      loss(bind_output(program, OutputKind::kLoss)),
      per_sample(bind_output(program, OutputKind::kPerSampleLoss)),
      logits(bind_output(program, OutputKind::kLogits)),
      local_losses(bind_outputs(program, OutputKind::kLocalLoss)) {
  std::vector<std::vector<float>> per_samples =
      bind_outputs(program, OutputKind::kLocalPerSampleLoss);
  std::vector<std::vector<float>> all_logits = bind_outputs(program, OutputKind::kLocalLogits);
  for (std::size_t i = 0; i < per_samples.size(); ++i) {
    heads.push_back({.per_sample = std::move(per_samples[i]), .logits = std::move(all_logits[i])});
  }
}

void begin_micro_batch(StepLane& lane, int m) {
  lane.given = 0;
  if (m != lane.first_micro_batch) return;
  lane.loss_is_finite = true;
  lane.not_finite.clear();
}

void score_lane(StepLane& lane, const pipeline::Batch& batch, std::size_t m,
                std::span<float> tail) {
  const Score net = score_one(lane, batch, m, lane.logits, lane.per_sample);
  tail[kLoss] = static_cast<float>(net.loss);
  tail[kWeight] = static_cast<float>(net.weight);
  tail[kCorrect] = static_cast<float>(net.correct);
  tail[kSamples] = static_cast<float>(net.samples);
  for (std::size_t i = 0; i < lane.heads.size(); ++i) {
    const StepLane::Head& head = lane.heads[i];
    const Score s = score_one(lane, batch, m, head.logits, head.per_sample);
    const std::span<float> of_head = tail.subspan(kTailCount + i * kHeadTailCount);
    of_head[kHeadLoss] = static_cast<float>(s.loss);
    of_head[kHeadCorrect] = static_cast<float>(s.correct);
  }
}

void wait_for_programs(std::vector<StepLane>& lanes) noexcept {
  for (StepLane& lane : lanes) {
    try {
      lane.program.wait(lane.given);
    } catch (...) {  // nothing is running any more; the first error is the one reported
    }
  }
}

}  // namespace winnow::train
