#include "train/run/record/setup.h"

#include <algorithm>
#include <set>
#include <variant>

#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "train/model/class_names.h"
#include "train/nets/local_heads.h"
#include "train/optim/recipe_options.h"
#include "train/plan/batch_layout.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

constexpr int kConfigVersion = 1;

Json to_json(const NetSetup& setup) {
  const NetOptions& o = setup.options;
  Json net = {{"name", setup.net.name},
              {"micro_batch", o.batch},
              {"channels", o.channels},
              {"height_px", o.height_px},
              {"width_px", o.width_px},
              {"classes", o.classes},
              {"mean", o.mean},
              {"deviation", o.stddev},
              {"label_smoothing", o.loss.label_smoothing}};
  // Omitted if it has the default, so that runs from before the option existed can be resumed.
  if (o.loss.name != LossOptions{}.name) net["loss"] = o.loss.name;
  if (o.loss.name == kFocalLoss) {
    net["focal_gamma"] = o.loss.focal_gamma;
    net["focal_alpha"] = o.loss.focal_alpha;
  }
  if (o.loss.name == kTwinsLoss) net["redundancy"] = o.loss.redundancy;
  if (o.loss.allow_unlabelled) net["allow_unlabelled"] = true;
  if (!setup.net.description.empty()) net["description"] = setup.net.description;
  if (const LocalSetup& local = setup.local; !local.updates.empty()) {
    net["local"] = {{"updates", local.updates}, {"ends", local.ends}, {"head", local.head}};
  }
  return net;
}

void add_entries(Json& recipe, const std::vector<RecipeEntry>& entries) {
  for (const RecipeEntry& entry : entries) {
    Json& value = recipe[std::string(entry.option.key)];
    switch (entry.option.kind) {
      case OptionKind::kNumber:
        value = entry.values.front();
        break;
      case OptionKind::kSwitch:
        value = entry.values.front() != 0;
        break;
      case OptionKind::kNumbers:
        value = entry.values;
        break;
    }
  }
}

Json execution_entries(const ExecutionOptions& execution) {
  Json entries{{"backend", execution.backend},
               {"dtype", dtype_name(execution.dtype)},
               {"reproducible", execution.reproducible}};
  if (execution.all_reduce.wire == comm::Wire::kBF16) {
    entries["gradients"] = execution.all_reduce.error_feedback ? "bf16, error feedback" : "bf16";
  }
  if (execution.loss_scale > 0) entries["loss_scale"] = execution.loss_scale;
  return entries;
}

}  // namespace

void require_classes(const DataOptions& options, const pipeline::DatasetInfo& info) {
  if (!info.classes.empty()) return;
  throw UsageError(options.cache.string() +
                   " has no labels; ingest a data set with class folders to train on it, or learn "
                   "features without labels with --loss barlow_twins");
}

NetSetup fit_net(const NetChoice& net, const LossOptions& loss, const BatchOptions& batch,
                 const DataOptions& data, const pipeline::DatasetInfo& info) {
  const bool reads_labels = find_loss(loss.name).reads_labels();
  if (reads_labels) require_classes(data, info);
  const int default_side = default_side_px(net);
  NetSetup setup{net, {}, {}};
  NetOptions& o = setup.options;
  o.batch = batch.micro_batch > 0 ? batch.micro_batch
            : reads_labels        ? default_micro_batch(batch.batch)
                                  : micro_batch_of_views(batch.batch);
  if (!reads_labels && o.batch < 2) {
    throw UsageError("--loss " + loss.name +
                     " compares the images of a micro-batch, which has only 1; use a larger "
                     "--micro-batch, best 64 or more");
  }
  o.channels = info.channels;
  const int side = data.image_side_px;
  const bool uniform = info.height_px > 0 && info.width_px > 0;
  o.height_px = side > 0 ? side : uniform ? info.height_px : default_side;
  o.width_px = side > 0 ? side : uniform ? info.width_px : default_side;
  o.loss = loss;
  o.classes = reads_labels ? static_cast<int>(info.classes.size()) : o.loss.projection;
  for (int c = 0; c < info.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    o.mean.push_back(static_cast<float>(info.mean[i]));
    // A constant image has no deviation; any positive number works.
    o.stddev.push_back(info.deviation[i] > 0 ? static_cast<float>(info.deviation[i]) : 1.0F);
  }
  check_ranges(o);
  return setup;
}

pipeline::Geometry geometry_of(const NetSetup& setup) {
  return {setup.options.height_px, setup.options.width_px, setup.options.channels};
}

pipeline::Levels levels_of(const NetSetup& setup) {
  constexpr double kMost = 255;
  pipeline::Levels levels;
  for (std::size_t c = 0; c < setup.options.mean.size(); ++c) {
    levels.mean.at(c) = kMost * double{setup.options.mean[c]};
    levels.deviation.at(c) = kMost * double{setup.options.stddev[c]};
  }
  return levels;
}

pipeline::Recipe recipe_of(const DataOptions& options, const pipeline::DatasetInfo& info) {
  const bool augmented = info.stored_recipe != pipeline::Recipe::kNone;
  return options.augment.value_or(augmented ? pipeline::Recipe::kNone : pipeline::Recipe::kCifar);
}

int eval_resize_of(const DataOptions& options, const pipeline::DatasetInfo& info,
                   const NetSetup& setup) {
  const int side = std::min(setup.options.height_px, setup.options.width_px);
  if (options.eval_resize_px) {
    const int wanted = *options.eval_resize_px;
    if (wanted != 0 && wanted < side) {
      throw UsageError("--eval-resize " + std::to_string(wanted) +
                       " is less than the side of the images, " + std::to_string(side));
    }
    return wanted == side ? 0 : wanted;
  }
  const pipeline::Recipe recipe = recipe_of(options, info);
  const bool larger =
      info.height_px == 0 || info.width_px == 0 || std::min(info.height_px, info.width_px) > side;
  const bool crops =
      recipe.size > 0 && std::holds_alternative<pipeline::ResizedCropStep>(recipe.steps.front());
  return crops && larger ? (side * 8 + 3) / 7 : 0;
}

pipeline::Recipe eval_recipe(int eval_resize_px) {
  if (eval_resize_px == 0) return pipeline::Recipe::kNone;
  return {{pipeline::CentreCropStep{eval_resize_px}}, 1};
}

int views_of(const NetSetup& setup) { return find_loss(setup.options.loss.name).views; }

Graph forward_graph(const NetSetup& setup) {
  NetOptions options = setup.options;
  options.batch *= views_of(setup);
  return fuse(make_net(setup.net, options));
}

Graph trained_graph(const NetSetup& setup) {
  return fuse(with_heads(setup.local, forward_graph(setup), setup.options));
}

std::string config_text(const TrainOptions& options, const NetSetup& setup,
                        const pipeline::DatasetInfo& info, const RunDigests& digests) {
  const RecipeOptions& r = options.recipe;
  Json config;
  config["version"] = kConfigVersion;
  config["net"] = to_json(setup);
  config["data"] = {{"cache_digest", digests.cache},
                    {"selection", options.data.selection},
                    {"selection_digest", digests.selection},
                    {"holdout", options.data.holdout},
                    {"augment", pipeline::recipe_name(recipe_of(options.data, info))}};
  // Omitted if it has no effect, so that runs from before the option existed can be resumed.
  if (const int resize = eval_resize_of(options.data, info, setup); resize > 0) {
    config["data"]["eval_resize_px"] = resize;
  }
  const pipeline::SamplingOptions& sampling = options.data.sampling;
  if (sampling.sampling != pipeline::Sampling::kUniform) {
    config["data"]["sampling"] = pipeline::sampling_name(sampling.sampling);
  }
  if (sampling.sampling == pipeline::Sampling::kRepeatFactor) {
    config["data"]["repeat_threshold"] = sampling.repeat_threshold;
  }
  if (sampling.shuffle.fraction != 1) {
    config["data"]["shuffle_fraction"] = sampling.shuffle.fraction;
    config["data"]["partitions"] = sampling.shuffle.partitions;
  }
  if (options.class_weights.balanced) config["data"]["class_weights"] = "balanced";
  for (const auto& [name, weight] : options.class_weights.of) {
    config["data"]["class_weights"][to_utf8(name)] = weight;
  }
  if (find_loss(r.loss.name).reads_labels()) config["data"]["classes"] = class_names(info.classes);
  if (!digests.by_names.empty()) config["data"]["digest_by_names"] = digests.by_names;
  config["recipe"] = {{"optimizer", r.optimizer}, {"lr", r.rate.base}};
  add_entries(config["recipe"], optimizer_entries(r.optimizer, r.options));
  add_entries(config["recipe"], step_entries(r.options));
  config["recipe"]["warmup_epochs"] = r.rate.warmup_epochs;
  config["recipe"]["decay"] = r.rate.schedule;
  add_entries(config["recipe"], lr_schedule_entries(r.rate.schedule, r.options));
  add_entries(config["recipe"], rate_entries(r.options));
  config["recipe"]["epochs"] = r.epochs;
  config["recipe"]["seed"] = r.seed;
  config["recipe"]["batch_size"] = options.batch.batch;
  if (options.batch.sync_bn) config["recipe"]["sync_bn"] = true;
  if (!options.recipe.own.empty()) config["own_recipe"] = options.recipe.own;
  if (!digests.init_from.empty()) config["init_from_xxh3_128"] = digests.init_from;
  for (const LrScale& rule : options.start.lr_scales) {
    config["rates"].push_back({{"pattern", rule.pattern}, {"factor", rule.factor}});
  }
  if (options.start.no_decay) config["no_decay"] = *options.start.no_decay;
  // Evaluation determines which checkpoint is the best, and when a run ends early.
  if (!options.run.evaluation.tta.empty()) {
    config["evaluation"]["tta"] = options.run.evaluation.tta;
  }
  config["execution"] = execution_entries(options.execution);
  return with_digest_line(config.dump(2) + "\n");
}

namespace {

std::vector<float> parse_floats(const JsonReader& in, int count, double least, double most) {
  std::vector<float> values;
  for (const JsonReader& item : in.items(static_cast<std::size_t>(count))) {
    values.push_back(static_cast<float>(item.real(least, most)));
  }
  return values;
}

LossOptions parse_loss(const JsonReader& net) {
  LossOptions loss;
  loss.label_smoothing = net.at("label_smoothing").real(0, 1);
  if (const auto name = net.find("loss")) {
    loss.name = name->text();
    const auto is_it = [&](const LossRow& row) { return row.name == loss.name; };
    if (std::ranges::none_of(losses(), is_it)) name->fail("is not a loss that this winnow knows");
  }
  if (loss.name == kFocalLoss) {
    loss.focal_gamma = net.at("focal_gamma").real(0, kMostFocalGamma);
    loss.focal_alpha = net.at("focal_alpha").real(-1, 1);
  }
  if (loss.name == kTwinsLoss) {
    loss.redundancy = net.at("redundancy").real(kLeastRedundancy, kMostRedundancy);
    loss.projection = net.at("classes").integer(1, kMostProjection);
  }
  if (const auto allowed = net.find("allow_unlabelled")) loss.allow_unlabelled = allowed->boolean();
  return loss;
}

LocalSetup parse_local(const JsonReader& in) {
  LocalSetup local{.updates = in.at("updates").text(),
                   .ends = in.at("ends").texts(),
                   .head = in.at("head").text()};
  if (local.updates != "greedy" && local.updates != "overlapping") {
    in.at("updates").fail("is neither greedy nor overlapping");
  }
  const auto& ends = local.ends;
  if (ends.empty() || std::ranges::find(ends, "") != ends.end()) in.at("ends").fail("are empty");
  if (std::set<std::string_view>(ends.begin(), ends.end()).size() != ends.size()) {
    in.at("ends").fail("have a name twice");
  }
  const auto is_it = [&](const LocalHead& head) { return head.name == local.head; };
  if (std::ranges::none_of(local_heads(), is_it)) {
    in.at("head").fail("is not a head that this winnow knows");
  }
  return local;
}

NetChoice parse_choice(const JsonReader& in, const std::string& where) {
  NetChoice net{.name = in.at("name").text()};
  if (const auto text = in.find("description")) {
    net.description = text->text();
    net.where = where + ", net.description";
  }
  return net;
}

NetSetup parse_setup(const JsonReader& in, const std::string& where) {
  constexpr double kLeastDeviation = 1e-20;  // images are divided by it
  NetSetup setup{.net = parse_choice(in, where), .options = {}, .local = {}};
  NetOptions& o = setup.options;
  o.batch = in.at("micro_batch").integer(1, kMostMicroBatch);
  o.channels = in.at("channels").integer(1, 3);
  if (o.channels == 2) in.at("channels").fail("is neither 1 nor 3");
  o.height_px = in.at("height_px").integer(1, kMostSidePx);
  o.width_px = in.at("width_px").integer(1, kMostSidePx);
  o.classes = in.at("classes").integer(1, kMostClasses);
  o.mean = parse_floats(in.at("mean"), o.channels, 0, 1);
  o.stddev = parse_floats(in.at("deviation"), o.channels, kLeastDeviation, 1);
  o.loss = parse_loss(in);
  if (const auto local = in.find("local")) setup.local = parse_local(*local);
  return setup;
}

// Parses a value as returned by eval_resize_of().
int parse_eval_resize(const JsonReader& data, const NetOptions& net) {
  const auto px = data.find("eval_resize_px");
  if (!px || px->integer(0, kMostResizePx) == 0) return 0;
  return px->integer(std::min(net.height_px, net.width_px), kMostResizePx);
}

std::vector<std::string> parse_classes(const JsonReader& in, const NetSetup& setup) {
  std::vector<std::string> names = in.texts();
  if (names.size() != static_cast<std::size_t>(setup.options.classes)) {
    in.fail("are not as many classes as the net has outputs");
  }
  if (std::set<std::string_view>(names.begin(), names.end()).size() != names.size()) {
    in.fail("have a name twice");
  }
  return names;
}

// The name becomes part of a file name in the cache.
std::string parse_selection_name(const JsonReader& in) {
  std::string name = in.text();
  if (!name.empty() && !pipeline::can_name_selection(name)) in.fail("cannot name a selection");
  return name;
}

}  // namespace

StoredConfig parse_config(const std::string& text, const std::string& where) {
  const JsonReader in(text, {where, "restore it, or train again"});
  if (in.at("version").number<int>() > kConfigVersion) {
    throw FormatError(where + " was written by a newer winnow; use that one");
  }
  if (!digest_line_matches(text)) in.fail("does not match its digest");
  const JsonReader data = in.at("data");
  StoredConfig config{.setup = parse_setup(in.at("net"), where),
                      .cache_digest = data.at("cache_digest").text(),
                      .selection = parse_selection_name(data.at("selection")),
                      .selection_digest = data.at("selection_digest").text(),
                      .holdout = 0,
                      .eval_resize_px = 0,
                      .own_recipe = {},
                      .classes = {},
                      .digest_by_names = {}};
  if (const auto share = data.find("holdout")) config.holdout = share->real(0, 1);
  config.eval_resize_px = parse_eval_resize(data, config.setup.options);
  if (const auto name = in.find("own_recipe")) config.own_recipe = name->text();
  if (const auto names = data.find("classes")) config.classes = parse_classes(*names, config.setup);
  if (const auto digest = data.find("digest_by_names")) config.digest_by_names = digest->text();
  return config;
}

}  // namespace winnow::train
