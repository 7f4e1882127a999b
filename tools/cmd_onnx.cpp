#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "train/onnx/onnx.h"
#include "train/run/stored_run.h"

namespace winnow::tools {
namespace {

struct OnnxOptions {
  std::filesystem::path run;
  std::filesystem::path to;
  std::string checkpoint;
  std::filesystem::path cache;
};

// What programs that use the model have to know besides its inputs and outputs.
std::map<std::string, std::string> metadata_of(const OnnxOptions& o,
                                               const train::StoredRun& stored) {
  std::map<std::string, std::string> metadata{
      {"net", stored.config.setup.net.name},
      {"epoch", fmt::format("{}", stored.epoch)},
      {"resize_px", std::to_string(stored.config.eval_resize_px)}};
  if (o.cache.empty()) return metadata;
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const auto& known = cache.manifest().classes;
  const auto wanted = static_cast<std::size_t>(stored.config.setup.options.classes);
  if (known.size() != wanted) {
    throw UsageError(
        fmt::format("{} has {} classes and the net {}; name the cache it was trained on",
                    o.cache.string(), known.size(), wanted));
  }
  nlohmann::json names = nlohmann::json::array();
  for (const std::string& name : known) names.push_back(to_utf8(name));
  metadata["classes"] = names.dump();
  return metadata;
}

void run(const OnnxOptions& o, const Session& session) {
  train::StoredRun stored = train::load_run(
      o.run, o.checkpoint, [&](const std::string& sentence) { say(session, sentence); });
  const auto metadata = metadata_of(o, stored);
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

Command add_onnx(CLI::App& program) {
  auto o = std::make_shared<OnnxOptions>();
  CLI::App* app = program.add_subcommand(
      "onnx", "Write a trained net as an ONNX model, for other programs to run");
  app->add_option("run", o->run, "Run directory made by winnow train")->required();
  app->add_option("--to", o->to, "The file to write, as net.onnx")->required();
  app->add_option("--checkpoint", o->checkpoint,
                  "Name of the checkpoint, as best or step-500 (default: the newest)");
  app->add_option("--cache", o->cache, "Cache it was trained on: its class names are stored, too");
  app->footer(
      R"(The model takes pixels as they are decoded (u8, channels first, R before G before B) at the
size that training had, and normalises them itself; any number of images at once. It gives
logits. Its metadata_props say the net, the epoch, resize_px (the shorter side before the
centre is cut; 0: none) and, with --cache, the classes as a list in JSON.

Examples:
  winnow onnx run --to net.onnx --cache cache
  winnow onnx run --to best.onnx --checkpoint best)");
  return {app, false, [o](Session& session) { run(*o, session); }};
}

}  // namespace winnow::tools
