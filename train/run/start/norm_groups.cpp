#include "train/run/start/norm_groups.h"

#include <algorithm>

#include "common/error.h"

namespace winnow::train {

std::optional<std::string> check_norm_groups(const Graph& training, const std::string& net,
                                             bool goes_on) {
  for (const Output& output : training.outputs) {
    if (output.kind != OutputKind::kVariance || output.count > 1) continue;
    const std::string which = training.value(output.of).name + " of " + net;
    if (goes_on) {
      return which +
             " normalises over one value per channel, from which batch norm learns nothing; the "
             "run continues as it started, but a new one needs a larger --micro-batch or "
             "--image-size, or --sync-bn";
    }
    throw UsageError(which +
                     " would normalise over one value per channel, from which batch norm learns "
                     "nothing; choose a larger --micro-batch or --image-size, or --sync-bn");
  }
  return std::nullopt;
}

std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn) {
  const auto trains_norm = [](const Output& o) { return o.kind == OutputKind::kVariance; };
  const std::int64_t images = (sync_bn ? batches.batch : batches.micro_batch) * views;
  if (images >= kLeastOfNorm || std::ranges::none_of(training.outputs, trains_norm)) return {};
  return "batch norm statistics are computed over " + std::to_string(images) +
         (images == 1 ? " image" : " images") + " at a time; fewer than " +
         std::to_string(kLeastOfNorm) + " make them noisy; choose a larger " +
         (sync_bn || batches.batch < kLeastOfNorm
              ? "--batch-size"
              : "--micro-batch, of up to " + std::to_string(batches.batch) + ", or --sync-bn");
}

}  // namespace winnow::train
