#include "train/run/start/without_labels.h"

#include <string>

namespace winnow::train {
namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& why) {
  throw UsageError(std::string("--loss ") + std::string(kTwinsLoss) + " " + why + "; leave out " +
                   flag);
}

void check_evaluation_flags(const EvaluationOptions& evaluation, double holdout) {
  const std::string why = "uses no labels, so there is no accuracy to evaluate";
  if (holdout > 0) refuse("--holdout", why);
  if (evaluation.interval > 0) refuse("--eval-every", why);
  if (!evaluation.keep_best.empty()) refuse("--keep-best", why);
  if (evaluation.patience > 0) refuse("--early-stop", why);
  if (!evaluation.tta.empty()) refuse("--tta", why);
}

void check_views(const Job& job) {
  if (pipeline::mixes(job.augment)) {
    throw UsageError("--loss barlow_twins compares two views of one image, and --augment " +
                     pipeline::recipe_name(job.augment) +
                     " mixes images; leave out mixup and cutmix");
  }
  const bool has_variants = job.data.info.stored_recipe != pipeline::Recipe::kNone;
  if (job.augment == pipeline::Recipe::kNone && !has_variants) {
    throw UsageError(
        "--loss barlow_twins compares two views of each image, which --augment none makes equal; "
        "name an augmentation that the features should ignore, or use --recipe barlow-twins");
  }
}

}  // namespace

bool learns_without_labels(const LossOptions& loss) { return !find_loss(loss.name).reads_labels(); }

void check_without_labels(const Job& job, const DataOptions& data,
                          const EvaluationOptions& evaluation,
                          const pipeline::ClassWeights& weights) {
  if (!learns_without_labels(job.recipe.loss)) return;
  check_evaluation_flags(evaluation, data.holdout);
  check_views(job);
  if (!weights.none()) refuse("--class-weights", "uses no labels");
  if (job.recipe.loss.label_smoothing > 0) refuse("--label-smoothing", "uses no labels");
  if (job.sync_bn) {
    refuse("--sync-bn",
           "compares the images of a micro-batch, whatever its batch norms see; use a larger "
           "--micro-batch instead");
  }
  if (!job.data.sampler->all_weights_are_one()) {
    throw UsageError(
        "--loss barlow_twins weighs all images equally, but the selection has weights; draw by "
        "them with --sampling weighted");
  }
}

Split split_without_labels(const DataOptions& options, const JobData& data) {
  const auto in_cache = [&](Split split) {
    return data.info.split_counts.at(static_cast<std::size_t>(split)) > 0;
  };
  if (in_cache(Split::kTrain) || !in_cache(Split::kNone)) return Split::kTrain;
  if (options.selection.empty()) return Split::kNone;
  const auto train =
      pipeline::evaluation_samples(*data.source.cache, Split::kTrain, options.selection);
  return train.all.ids.empty() ? Split::kNone : Split::kTrain;
}

std::vector<pipeline::Request> in_views(const std::vector<pipeline::Request>& requests, int views) {
  if (views == 1) return requests;
  const auto count = static_cast<std::uint32_t>(views);
  std::vector<pipeline::Request> all;
  for (const pipeline::Request& request : requests) {
    for (std::uint32_t view = 0; view < count; ++view) {
      all.push_back(request);
      all.back().epoch = request.epoch * count + view;
    }
  }
  return all;
}

std::vector<SampleId> samples_of_views(const std::vector<SampleId>& ids, int views) {
  std::vector<SampleId> samples;
  for (std::size_t i = 0; i < ids.size(); i += static_cast<std::size_t>(views)) {
    samples.push_back(ids[i]);
  }
  return samples;
}

}  // namespace winnow::train
