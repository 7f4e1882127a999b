#include "app/onnx/onnx.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "pipeline/store/cache.h"
#include "train/model/class_names.h"
#include "train/onnx/onnx.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::app {
namespace {

using Note = std::function<void(std::string)>;

// Throws UsageError if the run does not name its classes and had others than `cache`. If that is
// unknown, `note` gets a sentence.
void check_classes(const OnnxRequest& o, const train::StoredConfig& config,
                   const pipeline::Cache& cache, const Note& note) {
  if (cache.digest() == config.cache_digest) return;
  const auto& known = cache.manifest().classes;
  const auto wanted = static_cast<std::size_t>(config.setup.options.classes);
  if (known.size() != wanted) {
    throw UsageError(
        fmt::format("{} has {} classes and the net {}; name the cache it was trained on",
                    o.cache.string(), known.size(), wanted));
  }
  const std::filesystem::path evaluation = o.run / "evaluation.json";
  if (!std::filesystem::exists(evaluation)) {
    note(
        fmt::format("{} is not the cache that the run was trained on: check that its classes are "
                    "the same, in the same order",
                    o.cache.string()));
    return;
  }
  const std::vector<std::string> names = train::class_names(known);
  const std::vector<std::string> trained =
      train::parse_evaluation(read_text(evaluation), evaluation.string()).classes;
  const auto [name, other] = std::ranges::mismatch(names, trained);
  if (name == names.end() && other == trained.end()) return;
  throw UsageError(fmt::format(
      "{} has other classes than the run was trained for{}; name the cache it was trained on",
      o.cache.string(),
      name == names.end() || other == trained.end()
          ? ""
          : fmt::format(", '{}' instead of '{}'", *name, *other)));
}

// Pixels to which the shorter side is scaled before the centre is cut. Equals evaluation without a
// margin as well, except for inputs that are not square: they are covered, which no single number
// can say.
int resize_px_of(const train::StoredConfig& config) {
  const train::NetOptions& net = config.setup.options;
  if (config.eval_resize_px > 0) return config.eval_resize_px;
  return net.height_px == net.width_px ? net.height_px : 0;
}

// Metadata that programs need besides inputs and outputs of the model.
std::map<std::string, std::string> metadata_of(const OnnxRequest& o, const train::StoredRun& stored,
                                               const Note& note) {
  std::map<std::string, std::string> metadata{
      {"net", stored.config.setup.net.name},
      {"epoch", fmt::format("{}", stored.epoch)},
      {"loss", stored.config.setup.options.loss.name},
      {"resize_px", std::to_string(resize_px_of(stored.config))}};
  std::vector<std::string> classes = stored.model.classes;  // in the order of the logits
  if (!o.cache.empty()) {
    const pipeline::Cache cache = pipeline::Cache::open(o.cache);
    const std::vector<std::string> known = train::class_names(cache.manifest().classes);
    if (classes.empty()) {
      check_classes(o, stored.config, cache, note);
      classes = known;
    }
    const std::string other =
        train::first_other_class(classes, o.run.string(), known, o.cache.string());
    if (!other.empty()) {
      throw UsageError(fmt::format(
          "the run was trained for other classes, as {}; name the cache it was trained on", other));
    }
  }
  train::add_classes(metadata, classes);
  return metadata;
}

}  // namespace

void run_onnx(const OnnxRequest& o, const Session& session) {
  const Note note = [&](const std::string& sentence) { say(session, sentence); };
  train::StoredRun stored = train::load_run(o.run, o.checkpoint, note);
  if (!train::find_loss(stored.config.setup.options.loss.name).reads_labels()) {
    throw UsageError(
        o.run.string() +
        " was trained without labels and predicts no classes; get its features with winnow embed");
  }
  const auto metadata = metadata_of(o, stored, note);
  DurableFile file(o.to);
  train::write_onnx(
      stored.graph,
      [&](const std::string& name) { return std::span<const float>(stored.model.find(name).data); },
      metadata, [&](BytesView bytes) { file.append(bytes); });
  file.finish();
  const train::NetOptions& net = stored.config.setup.options;
  say(session, fmt::format("{}: input pixels (N,{},{},{}) of u8, output logits (N,{})",
                           o.to.string(), net.channels, net.height_px, net.width_px, net.classes));
}

}  // namespace winnow::app
