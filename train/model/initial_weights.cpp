#include "train/model/initial_weights.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/file.h"
#include "train/checkpoint/safetensors.h"
#include "train/model/class_names.h"
#include "train/nets/local_heads.h"
#include "train/nets/projector.h"
#include "train/ops/linear.h"
#include "train/ops/tokens.h"

namespace winnow::train {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

[[noreturn]] void throw_no_match(const std::string& pattern, const Model& model) {
  throw UsageError("no tensor of the net matches '" + pattern + "'; names look like " +
                   model.tensors.front().about.name + ", and * matches any characters");
}

std::string rule_text(const LrScale& rule) {
  return "'" + rule.pattern + "' (factor " + std::to_string(rule.factor) + ")";
}

bool is_of_projector(const std::string& name) { return name.starts_with(kProjectorPrefix); }

// Whether `name` is a tensor of a local head of `graph`.
bool is_of_local_head(const Graph& graph, std::string_view name) {
  return has_local_heads(graph) && is_named_as_local_head(name);
}

// Names of the parameters of the net's last fully connected layer, and of all tensors of a
// projector after it.
std::vector<std::string> head_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& value : graph.values) {
    const bool is_tensor = value.kind == ValueKind::kParameter || value.kind == ValueKind::kBuffer;
    if (is_tensor && is_of_projector(value.name)) names.push_back(value.name);
  }
  const auto last = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), [&](const Node& node) {
    return node.op == &kLinear && !is_of_projector(node.name) &&
           !is_of_local_head(graph, node.name);
  });
  if (last == graph.nodes.rend()) return names;
  for (const ValueId id : last->inputs) {
    if (graph.value(id).kind == ValueKind::kParameter) names.push_back(graph.value(id).name);
  }
  return names;
}

// Advice for the user if `tensor` has another shape in the file.
std::string advice(const Graph& graph, const std::string& tensor) {
  for (const Node& node : graph.nodes) {
    if (node.op == &kTokens && graph.value(node.inputs[2]).name == tensor) {
      return "; it has one row per patch plus one, so use the --image-size of these weights";
    }
  }
  return {};
}

// Compares the file's classes with the classes `wanted`, for a classifier of the right shape.
void judge_classes(const std::vector<std::string>& wanted, const std::vector<std::string>& trained,
                   const std::vector<NamedTensor>& tensors, InitialWeights& result) {
  if (wanted.empty()) return;
  const auto projects = [](const NamedTensor& t) { return is_of_projector(t.name); };
  if (!trained.empty()) {
    const std::string first = first_other_class(trained, "the file", wanted, "the data");
    if (!first.empty()) result.other = "for other classes, as " + first;
  } else if (std::ranges::any_of(tensors, projects)) {
    result.other = "for features, trained without classes";
  } else {
    result.unnamed = true;
  }
}

// How to bring the rows of the file's classifier into the order `wanted`. nullopt if they are in
// that order, or are not used. Throws UsageError if the net has no classifier that could start anew
// or be reordered.
std::optional<ClassOrder> order_of_classes(const std::vector<std::string>& trained,
                                           const std::vector<std::string>& wanted,
                                           const Graph& graph, const std::string& file,
                                           const InitialWeights& judged) {
  if (trained.empty() || trained == wanted) return std::nullopt;
  if (judged.other.empty()) return find_class_order(trained, graph, wanted);
  if (!head_of(graph).empty()) return std::nullopt;
  throw UsageError(file + " is " + judged.other +
                   ", and the net has no final fully connected layer to reinitialise; use weights "
                   "for the classes of the data");
}

// Removes the prefixes that PyTorch adds to the names of a wrapped net: by DataParallel,
// torch.compile, or as a member of a LightningModule.
void strip_wrappers(std::vector<NamedTensor>& tensors) {
  for (const std::string_view prefix : {"module.", "_orig_mod.", "model.", "module."}) {
    const auto has_it = [&](const NamedTensor& t) { return t.name.starts_with(prefix); };
    if (tensors.empty() || !std::ranges::all_of(tensors, has_it)) continue;
    for (NamedTensor& t : tensors) t.name.erase(0, prefix.size());
  }
}

// Whether names of local heads in a file belong to heads, not to layers of the net.
bool names_local_heads(const Graph& graph) {
  return has_local_heads(graph) || std::ranges::none_of(graph.values, [](const Value& value) {
           return is_named_as_local_head(value.name);
         });
}

// Tensors of the file that the net does not use and that the user should know about.
std::vector<std::string> ignored_tensors(
    const Graph& graph, const std::vector<NamedTensor>& tensors,
    const std::map<std::string_view, const NamedTensor*>& left) {
  const bool names_heads = names_local_heads(graph);
  std::vector<std::string> names;
  for (const NamedTensor& t : tensors) {
    if (!left.contains(t.name) || t.name.ends_with("num_batches_tracked")) continue;
    if (names_heads && is_named_as_local_head(t.name)) continue;
    names.push_back(t.name);
  }
  return names;
}

std::vector<float> finite_values(const NamedTensor& tensor, const std::string& file) {
  std::vector<float> values = f32_values(tensor);
  if (std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) return values;
  throw FormatError(file + ": tensor " + tensor.name +
                    " contains NaN or infinity; use weights from an earlier checkpoint");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

// Returns the values of `tensor` and removes it from `stored`, the file's remaining tensors. If the
// file is for another classifier: empty, and adds it to result.kept.
std::vector<float> take_values(const Value& tensor, const Graph& graph, const std::string& file,
                               std::map<std::string_view, const NamedTensor*>& stored,
                               InitialWeights& result) {
  const auto found = stored.find(tensor.name);
  if (found == stored.end()) {
    if (!is_of_projector(tensor.name)) {
      throw UsageError(file + " has no tensor " + tensor.name + "; it belongs to another net");
    }
    result.kept.push_back(tensor.name);
    return {};
  }
  const NamedTensor& values = *found->second;
  stored.erase(found);
  if (values.shape == tensor.shape) return finite_values(values, file);
  if (!contains(head_of(graph), tensor.name)) {
    throw UsageError(file + ": tensor " + tensor.name + " has shape " + to_string(values.shape) +
                     ", the net needs " + to_string(tensor.shape) + advice(graph, tensor.name));
  }
  result.kept.push_back(tensor.name);
  return {};
}

}  // namespace

void apply_lr_scales(Model& model, const std::vector<LrScale>& rules) {
  for (const LrScale& rule : rules) {
    if (!std::isfinite(rule.factor) || rule.factor < 0) {
      throw UsageError("the learning rate of " + rule_text(rule) + " must be 0 or more");
    }
    bool any = false;
    for (Model::Tensor& t : model.tensors) {
      if (!matches(rule.pattern, t.about.name)) continue;
      any = true;
      const bool parameter = t.about.kind == ValueKind::kParameter;
      t.lr_scale = parameter || rule.factor == 0 ? rule.factor : 1;
    }
    if (!any) throw_no_match(rule.pattern, model);
  }
  const bool trained = std::any_of(model.tensors.begin(), model.tensors.end(), [](const auto& t) {
    return t.about.kind == ValueKind::kParameter && t.lr_scale > 0;
  });
  if (!trained)
    throw UsageError("every parameter of the net is frozen; leave some of them trainable");
}

void apply_no_decay(Model& model, const std::vector<std::string>& patterns) {
  for (Model::Tensor& t : model.tensors) t.about.decay = t.about.kind == ValueKind::kParameter;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (Model::Tensor& t : model.tensors) {
      if (t.about.kind != ValueKind::kParameter || !matches(pattern, t.about.name)) continue;
      any = true;
      t.about.decay = false;
    }
    if (!any) throw_no_match(pattern, model);
  }
}

std::vector<std::string> frozen_tensors(const Model& model) {
  std::vector<std::string> names;
  for (const Model::Tensor& t : model.tensors) {
    if (t.lr_scale == 0) names.push_back(t.about.name);
  }
  return names;
}

InitialWeights load_initial_weights(Model& model, const Graph& graph,
                                    const std::filesystem::path& file) {
  const Bytes bytes = read_file(file);
  std::vector<NamedTensor> tensors = parse_safetensors(bytes, file.string());
  strip_wrappers(tensors);
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& t : tensors) by_name.emplace(t.name, &t);
  InitialWeights result;
  std::vector<std::vector<float>> values;  // for each tensor of the model; empty: keeps its values
  for (const Model::Tensor& t : model.tensors) {
    values.push_back(is_of_local_head(graph, t.about.name)
                         ? std::vector<float>()
                         : take_values(t.about, graph, file.string(), by_name, result));
  }
  const std::vector<std::string> head = head_of(graph);
  std::optional<ClassOrder> order;
  if (result.kept.empty() && !model.classes.empty()) {
    const auto trained = classes_in(safetensors_metadata(bytes, file.string()));
    judge_classes(model.classes, trained, tensors, result);
    order = order_of_classes(trained, model.classes, graph, file.string(), result);
  }
  // A classifier is one unit: if one of its parameters is for other classes, none is taken.
  if (!result.kept.empty() || !result.other.empty()) result.kept = head;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Model::Tensor& t = model.tensors[i];
    if (is_of_local_head(graph, t.about.name) || contains(result.kept, t.about.name)) continue;
    t.data = std::move(values[i]);
  }
  if (order) {
    for (const std::string& name : order->parameters) {
      order_rows(model.find(name).data, order->from);
    }
  }
  result.ignored = ignored_tensors(graph, tensors, by_name);
  return result;
}

Model outline_model(const Graph& graph, const StartOptions& options, comm::Communicator& comm) {
  Model model = make_model(graph, [](const Value&) { return std::vector<float>(); });
  on_all(comm, [&] {
    apply_lr_scales(model, options.lr_scales);
    if (options.no_decay) apply_no_decay(model, *options.no_decay);
  });
  return model;
}

void begin_model(Model& model, const Graph& graph, std::uint64_t seed, const StartOptions& options,
                 comm::Communicator& comm, const std::function<void(std::string)>& note) {
  for (Model::Tensor& t : model.tensors) t.data = initial_value(t.about, seed);
  if (options.init_from.empty()) return;
  InitialWeights weights;
  on_root(comm, [&] { weights = load_initial_weights(model, graph, options.init_from); });
  const std::string file = options.init_from.string();
  if (!weights.other.empty()) {
    note(file + " is " + weights.other + ": " + listed(weights.kept) +
         " keep their initial values");
  } else if (!weights.kept.empty()) {
    const bool projects = is_of_projector(weights.kept.front());
    note(file + " is for another " + (projects ? "projection: " : "number of classes: ") +
         listed(weights.kept) + " keep their initial values");
  } else if (weights.unnamed) {
    note(file +
         " does not name its classes: its classifier is kept, assuming the classes of the data in "
         "the same order");
  }
  if (!weights.ignored.empty()) {
    note(file + " has tensors that the net lacks; they are ignored: " + listed(weights.ignored));
  }
}

std::string digest_of_weights(const std::filesystem::path& file, comm::Communicator& comm) {
  if (file.empty()) return {};
  std::string digest;
  on_root(comm, [&] {
    if (!std::filesystem::is_regular_file(file)) {
      throw UsageError("there is no file " + file.string() + " to start from");
    }
    digest = to_hex(xxh3_128(read_file(file)));
  });
  return comm::broadcast_text(comm, digest);
}

}  // namespace winnow::train
