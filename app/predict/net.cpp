#include "app/predict/net.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_reader.h"
#include "common/list_text.h"
#include "common/utf8.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/views.h"
#include "pipeline/store/cache.h"
#include "train/checkpoint/safetensors.h"
#include "train/evaluate/test_augmentation.h"
#include "train/model/class_names.h"
#include "train/nets/losses.h"
#include "train/rewrites/for_features.h"
#include "train/run/record/setup.h"
#include "train/step/feed.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using Note = std::function<void(std::string)>;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// For the folder of a checkpoint: its run and its name.
NetOptions with_run_of_checkpoint(NetOptions options) {
  std::error_code ignored;
  fs::path given = options.run.lexically_normal();
  if (!given.has_filename()) given = given.parent_path();  // "step-4/"
  if (!is_file(given / "model.safetensors") || is_file(given / "config.json")) return options;
  const fs::path folder = fs::absolute(given, ignored).parent_path();
  if (folder.filename() != "checkpoints") return options;
  if (!options.checkpoint.name.empty()) {
    throw UsageError(options.run.string() + " is a checkpoint; leave --checkpoint " +
                     options.checkpoint.name + " out, or name the run");
  }
  options.checkpoint.name = given.filename().string();
  options.run = folder.parent_path();
  return options;
}

// Class names given besides the net; nullopt: none.
std::optional<std::vector<std::string>> given_classes(const NetOptions& options) {
  if (!options.classes.empty() && !options.cache.empty()) {
    throw UsageError(
        "--classes and --cache both name the classes of the net; leave out one of the two flags");
  }
  if (!options.classes.empty()) return read_classes(options.classes);
  if (options.cache.empty()) return std::nullopt;
  const auto cache = pipeline::Cache::open(options.cache, pipeline::OpenOptions::without_shards());
  const std::vector<std::string>& classes = cache.manifest().classes;
  if (classes.empty()) {
    throw UsageError(options.cache.string() +
                     " has no labels and so names no classes; name the cache that the net was "
                     "trained on, or give --classes");
  }
  return train::class_names(classes);
}

std::string source_of_names(const NetOptions& options) {
  return options.cache.empty() ? options.classes.string() : options.cache.string();
}

void check_number(const NetOptions& options, std::size_t outputs, std::size_t named) {
  if (outputs == named) return;
  throw UsageError(options.run.string() + " has " + std::to_string(outputs) + " classes, and " +
                   source_of_names(options) + " names " + std::to_string(named) +
                   "; name the classes that it was trained for");
}

[[noreturn]] void throw_unnamed(const NetOptions& options) {
  throw UsageError(options.run.string() +
                   " does not name its classes; give --classes FILE, with one name a line, or "
                   "--cache CACHE, the cache it was trained on");
}

Net of_run(const NetOptions& options, const Note& note) {
  if (!options.file.net.name.empty() || options.file.image_side_px > 0 ||
      options.file.eval_resize_px) {
    throw UsageError(options.run.string() +
                     " is a run, which knows its net and image size; leave out --net, --image-size "
                     "and --eval-resize");
  }
  train::StoredRun run = train::load_run(options.run, options.checkpoint, note);
  if (!train::find_loss(run.config.setup.options.loss.name).reads_labels()) {
    throw UsageError(
        options.run.string() +
        " was trained without labels and predicts no classes; get its features with winnow embed");
  }
  Net net{.config = std::move(run.config),
          .graph = std::move(run.graph),
          .model = std::move(run.model),
          .classes = {},
          .checkpoint = std::move(run.checkpoint),
          .ema = run.ema};
  const auto given = given_classes(options);
  const std::vector<std::string>& trained = net.model.classes;
  if (given)
    check_number(options, static_cast<std::size_t>(net.config.setup.options.classes),
                 given->size());
  if (given && !trained.empty()) {
    const std::string other =
        train::first_other_class(trained, options.run.string(), *given, source_of_names(options));
    if (!other.empty()) {
      throw UsageError("the run was trained for other classes, as " + other +
                       "; its classes are stored with it, so leave out --classes and --cache");
    }
  }
  net.classes = !trained.empty() ? trained : given.value_or(std::vector<std::string>());
  if (net.classes.empty()) throw_unnamed(options);
  return net;
}

// Size and statistics of the images of a weights file's net: from the cache that it was trained on,
// else those of torchvision's nets, with the mean and deviation of ImageNet.
pipeline::DatasetInfo images_of_file(const NetOptions& options,
                                     const std::vector<std::string>& classes) {
  pipeline::DatasetInfo info;
  if (!options.cache.empty()) {
    info = pipeline::describe(
        pipeline::Cache::open(options.cache, pipeline::OpenOptions::without_shards()));
  } else {
    const pipeline::Levels levels;
    info.channels = 3;
    for (std::size_t c = 0; c < 3; ++c) {
      info.mean[c] = levels.mean[c] / 255;
      info.deviation[c] = levels.deviation[c] / 255;
    }
  }
  info.classes.clear();
  for (const std::string& name : classes) info.classes.push_back(from_utf8(name));
  return info;
}

Net of_file(const NetOptions& options, const Note& note) {
  const std::string file = options.run.string();
  if (!options.checkpoint.name.empty() || options.checkpoint.ema) {
    throw UsageError(
        file + " is a file of weights, which has no checkpoints; leave out --checkpoint and --ema");
  }
  std::vector<std::string> classes = given_classes(options).value_or(std::vector<std::string>());
  if (classes.empty()) {
    classes = train::classes_in(train::safetensors_metadata(read_file(options.run), file));
  }
  if (classes.empty()) throw_unnamed(options);
  train::StoredWeights stored =
      train::load_weights(options.run, options.file, options.cache,
                          images_of_file(options, classes), train::FileUse::kClasses);
  if (!stored.from.other.empty()) {
    throw UsageError(file + " is " + stored.from.other + "; name its classes");
  }
  if (!stored.from.kept.empty()) {
    throw UsageError(file + " has another number of classes than the " +
                     std::to_string(classes.size()) + " that are named: see its tensor " +
                     stored.from.kept.front());
  }
  if (stored.from.unnamed) {
    note(file + " does not name its classes; they are assumed to be those of " +
         source_of_names(options) + " in the same order");
  }
  return {.config = std::move(stored.config),
          .graph = std::move(stored.graph),
          .model = std::move(stored.model),
          .classes = std::move(classes)};
}

// Turns logits into probabilities in place, (size, classes).
void to_probabilities(bool sigmoid, std::size_t classes, std::span<float> values) {
  for (std::size_t first = 0; first < values.size(); first += classes) {
    const std::span<float> row = values.subspan(first, classes);
    if (sigmoid) {
      for (float& value : row) value = static_cast<float>(1 / (1 + std::exp(-double{value})));
      continue;
    }
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (const float value : row) sum += std::exp(value - largest);
    for (float& value : row) value = static_cast<float>(std::exp(value - largest) / sum);
  }
}

}  // namespace

std::vector<std::string> read_classes(const fs::path& file) {
  const std::string text = read_list_text(file);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && text[begin] == '[';
  std::vector<std::string> names =
      is_json ? JsonReader(text, {.name = file.string()}).texts() : read_list_lines(file);
  if (!is_json) std::erase(names, "");
  for (std::string& name : names) name = to_utf8(name);
  if (names.empty()) {
    throw UsageError(file.string() + " names no class; write one name a line, or a JSON list");
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    throw UsageError(file.string() + " names the class '" + name + "' twice; name each once");
  }
  return names;
}

std::size_t Net::micro_batch() const {
  return static_cast<std::size_t>(graph.value(graph.find("pixels")).shape[0]);
}

pipeline::Geometry Net::geometry() const { return train::geometry_of(config.setup); }

Net load_net(const NetOptions& given, const Note& note) {
  const NetOptions options = with_run_of_checkpoint(given);
  Net net = is_file(options.run) ? of_file(options, note) : of_run(options, note);
  net.sigmoid = train::find_loss(net.config.setup.options.loss.name).sigmoid;
  if (!options.tta.empty()) {
    net.view_mean = {&train::find_test_augmentation(options.tta), net.sigmoid};
  }
  net.graph = train::for_prediction(net.graph, options.with_features);
  return net;
}

// A program with its input and outputs.
struct Lanes::Lane {
  explicit Lane(train::Program& of, const Net& net)
      : program(of),
        pixels(of.graph().find("pixels")),
        logits(train::bind_output(of, train::OutputKind::kLogits)) {
    const auto& outputs = of.graph().outputs;
    const auto of_features =
        std::ranges::find(outputs, train::OutputKind::kValue, &train::Output::kind);
    if (of_features != outputs.end()) {
      features_shape = of.graph().value(of_features->value).shape;
      features = train::bind_output(of, train::OutputKind::kValue);
    }
    if (net.view_mean.of == nullptr) return;
    const pipeline::Geometry geometry = net.geometry();
    whole.height_px = geometry.height_px;
    whole.width_px = geometry.width_px;
    whole.channels = geometry.channels;
    whole.ids.resize(net.micro_batch());
    of_views.resize(net.view_mean.of->views.size());
  }

  void run(std::span<std::uint8_t> shown) {
    const std::size_t nodes = program.graph().nodes.size();
    program.bind(pixels, shown);
    program.run(0, nodes);
    program.wait(nodes);
  }

  void run_views(std::span<const std::uint8_t> shown, const train::ViewMean& view_mean,
                 std::size_t classes) {
    whole.pixels.assign(shown.begin(), shown.end());
    view.resize(shown.size());
    std::vector<float> features_of_first;
    for (std::size_t v = 0; v < of_views.size(); ++v) {
      pipeline::show(whole, view_mean.of->views[v].view, view);
      run(view);
      of_views[v] = logits;
      if (v == 0) features_of_first = features;
    }
    // Features come from the first view, the unchanged image.
    std::ranges::copy(features_of_first, features.begin());
    train::average_views(view_mean, of_views, classes, logits);
  }

  train::Program& program;
  train::ValueId pixels;
  std::vector<float> logits;
  train::Shape features_shape;
  std::vector<float> features;
  pipeline::Batch whole;
  std::vector<std::uint8_t> view;
  std::vector<std::vector<float>> of_views;
};

Lanes::Lanes(Net& net, train::Backend& backend, train::DType compute, int lanes)
    : net_(net), weights_(train::place_weights(backend, net.model)) {
  programs_ = backend.compile_lanes(net.graph, {compute, 1}, backend.is_on_cpu() ? lanes : 1);
  for (const std::unique_ptr<train::Program>& program : programs_) {
    weights_->bind(*program);
    lanes_.push_back(std::make_unique<Lane>(*program, net));
  }
  weights_->load();
  programs_.front()->load_parameters();  // all lanes share them
}

Lanes::~Lanes() = default;

int Lanes::count() const noexcept { return static_cast<int>(lanes_.size()); }

std::size_t Lanes::dimensions() const noexcept {
  return lanes_.front()->features.size() / net_.micro_batch();
}

Outputs Lanes::compute(int lane, std::span<std::uint8_t> pixels) {
  Lane& on = *lanes_[static_cast<std::size_t>(lane)];
  const std::size_t classes = net_.classes.size();
  if (net_.view_mean.of != nullptr) {
    on.run_views(pixels, net_.view_mean, classes);
  } else {
    on.run(pixels);
  }
  Outputs outputs{.probabilities = on.logits, .features = {}};
  to_probabilities(net_.sigmoid, classes, outputs.probabilities);
  if (on.features.empty()) return outputs;
  for (std::size_t i = 0; i < net_.micro_batch(); ++i) {
    const std::vector<float> one = train::features_of(on.features_shape, on.features, i);
    outputs.features.insert(outputs.features.end(), one.begin(), one.end());
  }
  return outputs;
}

}  // namespace winnow::app
