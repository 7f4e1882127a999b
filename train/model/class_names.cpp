#include "train/model/class_names.h"

#include <algorithm>
#include <set>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"
#include "train/ops/linear.h"

namespace winnow::train {
namespace {

// Names of the parameters of the layer that outputs the logits.
std::vector<std::string> parameters_of_logits(const Graph& graph) {
  const auto logits = std::ranges::find(graph.outputs, OutputKind::kLogits, &Output::kind);
  const auto last = std::ranges::find_if(graph.nodes, [&](const Node& node) {
    return logits != graph.outputs.end() && node.op == &kLinear &&
           node.outputs.front() == logits->value;
  });
  if (last == graph.nodes.end()) {
    throw UsageError(
        "the net does not end in a fully connected layer, so its classes cannot be reordered; use "
        "a cache that lists the classes in the order of training");
  }
  std::vector<std::string> names;
  for (const ValueId id : last->inputs) {
    if (graph.value(id).kind == ValueKind::kParameter) names.push_back(graph.value(id).name);
  }
  return names;
}

// The first of `names` that `others` lacks; nullptr if there is none.
const std::string* first_without(const std::vector<std::string>& names,
                                 const std::vector<std::string>& others) {
  const std::set<std::string_view> known(others.begin(), others.end());
  const auto found =
      std::ranges::find_if(names, [&](const std::string& name) { return !known.contains(name); });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> class_names(const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  names.reserve(classes.size());
  for (const std::string& name : classes) names.push_back(to_utf8(name));
  return names;
}

std::string first_other_class(const std::vector<std::string>& trained, const std::string& run,
                              const std::vector<std::string>& wanted, const std::string& cache) {
  if (const std::string* name = first_without(wanted, trained)) {
    return "'" + *name + "', which is in " + cache + " but not in " + run;
  }
  if (const std::string* name = first_without(trained, wanted)) {
    return "'" + *name + "', which is in " + run + " but not in " + cache;
  }
  return {};
}

std::vector<std::int32_t> places_in(const std::vector<std::string>& names,
                                    const std::vector<std::string>& wanted) {
  std::vector<std::int32_t> places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(wanted, name);
    if (found == wanted.end()) throw Error("there is no class '" + name + "'");
    places.push_back(static_cast<std::int32_t>(found - wanted.begin()));
  }
  return places;
}

ClassOrder find_class_order(const std::vector<std::string>& trained, const Graph& graph,
                            const std::vector<std::string>& wanted) {
  return {.from = places_in(wanted, trained), .parameters = parameters_of_logits(graph)};
}

void order_rows(std::vector<float>& rows, const std::vector<std::int32_t>& from) {
  const std::vector<float> before = rows;
  const std::size_t size = rows.size() / from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy_n(before.begin() + from[i] * static_cast<std::ptrdiff_t>(size), size,
                rows.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
}

void order_classes(Model& model, const Graph& graph, const std::vector<std::string>& wanted) {
  if (model.classes == wanted) return;
  const ClassOrder order = find_class_order(model.classes, graph, wanted);
  for (const std::string& name : order.parameters) order_rows(model.find(name).data, order.from);
  model.classes = wanted;
}

void add_classes(std::map<std::string, std::string>& metadata,
                 const std::vector<std::string>& classes) {
  if (!classes.empty()) metadata[kClassesEntry] = Json(classes).dump();
}

std::vector<std::string> classes_in(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(kClassesEntry);
  if (found == metadata.end()) return {};
  try {
    std::vector<std::string> names =
        JsonReader(found->second, {"the classes of a file's metadata", "", 2}).texts();
    const std::set<std::string_view> different(names.begin(), names.end());
    return different.size() == names.size() ? names : std::vector<std::string>();
  } catch (const FormatError&) {  // another program's entry
    return {};
  }
}

}  // namespace winnow::train
