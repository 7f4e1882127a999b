#include "app/train/train_choice.h"

#include <algorithm>
#include <charconv>

#include "app/plan/kernel_words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "pipeline/load/loader.h"
#include "train/evaluate/test_augmentation.h"
#include "train/run/record/setup.h"
#include "train/step/loss_scale.h"

namespace winnow::app {
namespace {

// Freezing comes last: what is frozen stays so whatever else its name matches.
std::vector<train::LrScale> lr_scales(const TrainWords& given) {
  std::vector<train::LrScale> rules;
  for (const std::string& text : given.lr_scales) {
    const std::size_t equals = std::min(text.rfind('='), text.size());
    const std::string factor = text.substr(std::min(equals + 1, text.size()));
    train::LrScale rule{text.substr(0, equals), 0};
    const auto [end, error] =
        std::from_chars(factor.data(), factor.data() + factor.size(), rule.factor);
    if (error != std::errc() || end != factor.data() + factor.size()) {
      throw UsageError("--lr-scale " + text + " is not of the form PATTERN=FACTOR");
    }
    rules.push_back(rule);
  }
  for (const std::string& pattern : given.frozen) rules.push_back({pattern, 0});
  return rules;
}

std::vector<std::string> no_decay(const std::vector<std::string>& patterns) {
  if (std::ranges::find(patterns, "none") == patterns.end()) return patterns;
  if (patterns.size() == 1) return {};
  throw UsageError("--no-decay none excludes all patterns; leave out either none or the patterns");
}

// 0: "auto".
double loss_scale(const std::string& text) {
  if (text == "auto") return 0;
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error == std::errc() && end == text.data() + text.size() && train::is_loss_scale(factor)) {
    return factor;
  }
  throw UsageError("--loss-scale " + text +
                   " is neither auto nor a power of two from 2^-14 to 2^24, such as 1024");
}

}  // namespace

train::TrainOptions train_options(const TrainChoice& o, const Session& session) {
  train::TrainOptions options = o.train;
  comm::on_all(session.comm, [&] {
    if (!o.given.augment.empty()) options.data.augment = pipeline::parse_recipe(o.given.augment);
    options.data.sampling.sampling = pipeline::parse_sampling(o.given.sampling);
    options.data.sampling.shuffle.batch = static_cast<std::uint64_t>(options.batch.batch);
    pipeline::check_shuffle_of(options.data.sampling);  // checked before anything is loaded
    if (!o.given.class_weights.empty()) {
      options.class_weights = pipeline::parse_class_weights(o.given.class_weights);
    }
    options.execution.dtype = train::parse_dtype(o.given.dtype);
    options.execution.loss_scale = loss_scale(o.given.loss_scale);
    options.execution.lanes.kernels = parse_kernel_words(o.given.kernels);
    const std::string& tta = options.run.evaluation.tta;
    if (!tta.empty()) train::find_test_augmentation(tta);  // throws if it is unknown
    train::check_local(options.recipe.local, options.recipe.loss);
    options.start.lr_scales = lr_scales(o.given);
    if (!o.given.no_decay.empty()) options.start.no_decay = no_decay(o.given.no_decay);
  });
  options.execution.all_reduce.bucket_bytes = o.bucket_kib << 10;
  options.execution.memory_bytes = o.memory_mib << 20;
  options.run.stop = session.stop;
  options.recipe.own = o.recipe.own;
  options.execution.threads = thread_plan(session, o.threads);
  return options;
}

}  // namespace winnow::app
