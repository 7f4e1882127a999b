#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "pipeline/store/cache.h"
#include "tools/checkpoint_flags.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/model/class_names.h"
#include "train/onnx/onnx.h"
#include "train/run/stored_evaluation.h"
#include "train/run/stored_run.h"

namespace winnow::tools {
namespace {

using Note = std::function<void(std::string)>;

struct OnnxOptions {
  std::filesystem::path run;
  std::filesystem::path to;
  train::CheckpointChoice checkpoint;
  std::filesystem::path cache;
};

// Throws UsageError where a run that does not name its classes had others than `cache`. Where
// nothing of it says, `note` takes a sentence.
void check_classes(const OnnxOptions& o, const train::StoredConfig& config,
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
        fmt::format("{} is not the cache that the run was trained on: look whether its classes "
                    "are the same, in the same order",
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
          : fmt::format(", '{}' in place of '{}'", *name, *other)));
}

// Pixels that the shorter side is scaled to before the centre is cut. As evaluation does where no
// margin is asked for, too, but for pixels that are not square: these are covered, which no number
// says.
int resize_px_of(const train::StoredConfig& config) {
  const train::NetOptions& net = config.setup.options;
  if (config.eval_resize_px > 0) return config.eval_resize_px;
  return net.height_px == net.width_px ? net.height_px : 0;
}

// What programs that use the model have to know besides its inputs and outputs.
std::map<std::string, std::string> metadata_of(const OnnxOptions& o, const train::StoredRun& stored,
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

void run(const OnnxOptions& o, const Session& session) {
  const Note note = [&](const std::string& sentence) { say(session, sentence); };
  train::StoredRun stored = train::load_run(o.run, o.checkpoint, note);
  if (!train::find_loss(stored.config.setup.options.loss.name).reads_labels()) {
    throw UsageError(o.run.string() +
                     " has learnt without labels and predicts no classes; winnow embed takes its "
                     "features");
  }
  const auto metadata = metadata_of(o, stored, note);
  DurableFile file(o.to);
  train::write_onnx(
      stored.graph,
      [&](const std::string& name) { return std::span<const float>(stored.model.find(name).data); },
      metadata, [&](BytesView bytes) { file.append(bytes); });
  file.finish();
  const train::NetOptions& net = stored.config.setup.options;
  say(session, fmt::format("{}: pixels (N,{},{},{}) of u8 to logits (N,{})", o.to.string(),
                           net.channels, net.height_px, net.width_px, net.classes));
}

}  // namespace

Command add_onnx(Verb program) {
  auto o = std::make_shared<OnnxOptions>();
  const Verb verb =
      program.add_verb("onnx", "Write a trained net as an ONNX model, for other programs to run");
  verb.add_option("run", o->run, "Run directory made by winnow train").required();
  verb.add_option("--to", o->to, "The file to write, as net.onnx").required();
  add_checkpoint_flags(verb, o->checkpoint);
  verb.add_option("--cache", o->cache,
                  "Cache it was trained on, whose class names are stored where the run, of an "
                  "older version, does "
                  "not name them; else they are compared");
  verb.footer(
      R"(The model takes pixels as they are decoded (u8, channels first, R before G before B) at the
size that training had, and normalises them itself; any number of images at once. It gives
logits: of the loss cross_entropy take their softmax, of bce and focal the sigmoid of each. Its
metadata_props say the net, the epoch, the loss, resize_px (scale the shorter side of an image to
so many pixels, bilinear and antialiased, then cut the centre; 0, where the net's pixels are no
square: scale until they are covered) and the classes as a list in JSON, in the order of the logits.

Examples:
  winnow onnx run --to net.onnx --cache cache
  winnow onnx run --to best.onnx --checkpoint best
  winnow onnx run --to average.onnx --ema)");
  return {verb, false, [o](Session& session) { run(*o, session); }};
}

}  // namespace winnow::tools
