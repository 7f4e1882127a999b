#include "train/run/norm_groups.h"

#include <algorithm>

#include "common/error.h"

namespace winnow::train {

void check_norm_groups(const Graph& training, const std::string& net) {
  for (const Output& output : training.outputs) {
    if (output.kind != OutputKind::kVariance || output.count > 1) continue;
    throw UsageError(
        training.value(output.of).name + " of " + net +
        " would be of one value a channel, and batch norm learns nothing of one value; "
        "choose a larger --micro-batch or --image-size, or --sync-bn");
  }
}

std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn) {
  const auto trains_norm = [](const Output& o) { return o.kind == OutputKind::kVariance; };
  const std::int64_t images = (sync_bn ? batches.batch : batches.micro_batch) * views;
  if (images >= kLeastOfNorm || std::ranges::none_of(training.outputs, trains_norm)) return {};
  return "batch norms are over " + std::to_string(images) + (images == 1 ? " image" : " images") +
         " at a time, and fewer than " + std::to_string(kLeastOfNorm) +
         " make coarse statistics; choose a larger " +
         (sync_bn || batches.batch < kLeastOfNorm
              ? "--batch-size"
              : "--micro-batch, of up to " + std::to_string(batches.batch) + ", or --sync-bn");
}

}  // namespace winnow::train
