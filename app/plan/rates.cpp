#include "app/plan/rates.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/system_field.h"
#include "train/run/record/config_facts.h"
#include "train/run/start/build_name.h"

namespace winnow::app {
namespace {

constexpr double kMostSeconds = 1e6;  // limit for every duration in a trial
constexpr std::size_t kMostSteps = 1000;
constexpr int kMostNodes = 1 << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostImages = std::int64_t{1} << 32;
constexpr int kMostLanes = 1 << 16;

// The parts of a step, by their names in a file.
constexpr std::pair<const char*, double train::StepSeconds::*> kParts[] = {
    {"forward", &train::StepSeconds::forward}, {"backward", &train::StepSeconds::backward},
    {"sums", &train::StepSeconds::sums},       {"update", &train::StepSeconds::update},
    {"data", &train::StepSeconds::data},       {"ranks", &train::StepSeconds::ranks},
    {"idle", &train::StepSeconds::idle}};

std::string lines_of(const RatesOf& of) {
  return of.processor + "\n" + std::to_string(of.cores) + "\n" + of.build + "\n" + of.backend +
         "\n" + of.library + "\n" + of.instruction_set + "\n";
}

train::StepSeconds read_step(const JsonReader& in) {
  train::StepSeconds step;
  for (const auto& [name, part] : kParts) step.*part = in.at(name).real(0, kMostSeconds);
  if (!(step.total() > 0)) in.fail("takes no time");
  return step;
}

train::Trial read_trial(const JsonReader& in) {
  train::Trial trial;
  trial.form = {.micro_batch = in.at("micro_batch").integer<std::int64_t>(1, kMostImages),
                .micro_batches = in.at("micro_batches").integer<std::int64_t>(1, kMostImages),
                .lanes = in.at("lanes").integer<int>(1, kMostLanes)};
  const auto seconds = [&](const char* name) { return in.at(name).real(0, kMostSeconds); };
  trial.took_seconds = seconds("took_s");
  trial.start_seconds = seconds("start_s");
  trial.load_wall = seconds("load_wall_s");
  trial.load_cpu = seconds("load_cpu_s");
  trial.evaluation_seconds = seconds("evaluation_s");
  trial.evaluation_lanes = in.at("evaluation_lanes").integer<int>(1, kMostLanes);
  trial.others_cores = in.at("others_cores").real(0, kMostLanes);
  const std::vector<JsonReader> steps = in.at("steps").items();
  const std::vector<JsonReader> ends = in.at("node_ends_s").items();
  if (steps.empty() || steps.size() > kMostSteps || ends.size() > std::size_t{kMostNodes}) {
    in.fail("has no such steps");
  }
  for (const JsonReader& step : steps) trial.steps.push_back(read_step(step));
  for (const JsonReader& end : ends) {
    const double least = trial.node_ends.empty() ? 0 : trial.node_ends.back();
    trial.node_ends.push_back(end.real(least, kMostSeconds));
  }
  return trial;
}

train::KernelTimes read_kernel(const JsonReader& in) {
  train::KernelTimes kernel{
      .name = in.at("name").text(),
      .scratch_bytes = static_cast<std::size_t>(in.at("scratch_bytes").integer(0, kMostBytes))};
  for (const JsonReader& one : in.at("seconds").items()) {
    kernel.seconds.push_back(one.real(0, kMostSeconds));
  }
  if (kernel.seconds.empty() || kernel.seconds.size() > kMostSteps) in.fail("has no such times");
  return kernel;
}

train::LayerTimes read_layer(const JsonReader& in) {
  train::LayerTimes layer{.layer = in.at("layer").text(),
                          .nodes = in.at("nodes").integer<int>(1, kMostNodes)};
  for (const JsonReader& one : in.at("kernels").items()) layer.kernels.push_back(read_kernel(one));
  if (layer.kernels.empty()) in.fail("has no kernels");
  return layer;
}

// Shapes and operations of a net.
std::string digest_of(const train::Graph& graph) {
  std::string text;
  for (const train::Value& value : graph.values) {
    text += value.name;
    for (const std::int64_t extent : value.shape) text += " " + std::to_string(extent);
    text += "\n";
  }
  for (const train::Node& node : graph.nodes) text += std::string(node.op->name) + "\n";
  return to_hex(xxh3_128(as_bytes(text)));
}

// The lines of a config about data and net; empty for a job without a cache.
std::string data_and_net(const std::string& config) {
  std::string text;
  if (config.empty()) return text;
  for (const auto& [name, value] : train::config_settings(config)) {
    const bool is_recipe = name.starts_with("recipe.");
    const bool is_of_run = name == "version" || name == "own_recipe" || name == "net.micro_batch";
    if (!is_recipe && !is_of_run) text += name + " " + value + "\n";
  }
  return text;
}

}  // namespace

RatesOf rates_here(const train::Backend& backend) {
  return {.processor = processor_name(),
          .cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
          .build = std::string(train::build_name()),
          .backend = std::string(backend.name()),
          .library = backend.library(),
          .instruction_set = backend.instruction_set()};
}

Rates::Rates(std::filesystem::path folder, const RatesOf& of)
    : cache_(std::move(folder)), of_(lines_of(of)) {}

std::string Rates::key(std::string_view kind, std::string_view trial) const {
  return std::string(kind) + "\n" + of_ + std::string(trial);
}

std::optional<train::Trial> Rates::find(std::string_view trial) const {
  const std::optional<std::string> text = cache_.find(key("trial", trial));
  return text ? parse_trial(*text) : std::nullopt;
}

void Rates::keep(std::string_view trial, const train::Trial& measured) const {
  cache_.store(key("trial", trial), to_text(measured));
}

std::vector<train::LayerTimes> Rates::find_kernels(std::string_view trial) const {
  return parse_layers(cache_.find(key("kernels", trial)).value_or(""));
}

void Rates::keep_kernels(std::string_view trial,
                         const std::vector<train::LayerTimes>& measured) const {
  cache_.store(key("kernels", trial), to_text(measured));
}

std::string key_of(const train::ExecutionOptions& execution, const train::Job& job,
                   const train::TrialShape& shape, const comm::Communicator& comm) {
  std::string text = "graph " + digest_of(job.forward) + "\noptimizer " + job.recipe.optimizer +
                     "\ndtype " + std::string(train::dtype_name(execution.dtype)) + "\n" +
                     data_and_net(job.config);
  const auto add = [&](const char* name, auto value) {
    text += std::string(name) + " " + std::to_string(value) + "\n";
  };
  add("reproducible", execution.reproducible);
  add("micro_batch", shape.micro_batch);
  add("micro_batches", shape.micro_batches);
  add("lane_threads", shape.lane_threads);
  add("least_seconds", shape.least_seconds);
  add("evaluates", shape.evaluates);
  add("by_node", shape.by_node);
  add("ranks", comm.size());
  add("machines", comm.placement().machines());
  add("compute threads", execution.threads.compute);
  add("decode threads", execution.threads.decode);
  add("memory", execution.memory_bytes);
  add("bucket", execution.all_reduce.bucket_bytes);
  add("wire", static_cast<int>(execution.all_reduce.wire));
  add("feedback", execution.all_reduce.error_feedback);
  add("checksums", execution.all_reduce.checksums);
  for (const auto& [layer, kernel] : execution.lanes.kernels) {
    text += "kernel " + layer + "=" + kernel + "\n";
  }
  return text + "schedule " + execution.all_reduce.schedule + "\n";
}

std::string to_text(const train::Trial& trial) {
  Json steps = Json::array();
  for (const train::StepSeconds& step : trial.steps) {
    Json row = Json::object();
    for (const auto& [name, part] : kParts) row[name] = step.*part;
    steps.push_back(std::move(row));
  }
  const Json json{{"micro_batch", trial.form.micro_batch},
                  {"micro_batches", trial.form.micro_batches},
                  {"lanes", trial.form.lanes},
                  {"took_s", trial.took_seconds},
                  {"start_s", trial.start_seconds},
                  {"load_wall_s", trial.load_wall},
                  {"load_cpu_s", trial.load_cpu},
                  {"evaluation_s", trial.evaluation_seconds},
                  {"evaluation_lanes", trial.evaluation_lanes},
                  {"others_cores", trial.others_cores},
                  {"steps", steps},
                  {"node_ends_s", Json(trial.node_ends)}};
  return json.dump();
}

std::optional<train::Trial> parse_trial(const std::string& text) {
  try {
    return read_trial(JsonReader(text, {"a kept trial"}));
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

std::string to_text(const std::vector<train::LayerTimes>& layers) {
  Json rows = Json::array();
  for (const train::LayerTimes& layer : layers) {
    Json kernels = Json::array();
    for (const train::KernelTimes& kernel : layer.kernels) {
      kernels.push_back({{"name", kernel.name},
                         {"scratch_bytes", kernel.scratch_bytes},
                         {"seconds", Json(kernel.seconds)}});
    }
    rows.push_back({{"layer", layer.layer}, {"nodes", layer.nodes}, {"kernels", kernels}});
  }
  return rows.dump();
}

std::vector<train::LayerTimes> parse_layers(const std::string& text) {
  try {
    std::vector<train::LayerTimes> layers;
    for (const JsonReader& row : JsonReader(text, {"kept times of kernels"}).items()) {
      layers.push_back(read_layer(row));
    }
    return layers;
  } catch (const FormatError&) {
    return {};
  }
}

}  // namespace winnow::app
