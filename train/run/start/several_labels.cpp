#include "train/run/start/several_labels.h"

#include <cstddef>
#include <utility>

#include "common/error.h"

namespace winnow::train {

std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const LossOptions& loss,
                                                     const std::string& what,
                                                     const std::vector<std::int32_t>& label_of) {
  if (!find_loss(loss.name).sigmoid) {
    if (!loss.allow_unlabelled) return std::nullopt;
    throw UsageError("--allow-unlabelled is for the sigmoid losses bce and focal, not for " +
                     loss.name);
  }
  pipeline::SampleLabels labels = pipeline::read_labels(cache, ids, label_of);
  std::size_t unlabelled = 0;
  bool one_each = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t count = labels[i].size();
    unlabelled += count == 0 ? 1 : 0;
    one_each = one_each && count == 1;
  }
  if (unlabelled > 0 && !loss.allow_unlabelled) {
    throw UsageError(
        std::to_string(unlabelled) + " of " + std::to_string(ids.size()) + " " + what +
        (unlabelled == 1 ? " has" : " have") +
        " no label; leave such images out, or train on them as images of no class with "
        "--allow-unlabelled");
  }
  return one_each ? std::nullopt : std::optional(std::move(labels));
}

}  // namespace winnow::train
