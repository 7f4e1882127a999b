#include "train/graph/borders.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/row_called.h"

namespace winnow::train {
namespace {

std::size_t position(ValueId id) { return static_cast<std::size_t>(id); }

bool any_of(const std::vector<ValueId>& ids, const std::vector<bool>& marked) {
  return std::ranges::any_of(ids, [&](ValueId id) { return marked[position(id)]; });
}

// Whether each value is on a path from the pixels to the loss.
std::vector<bool> find_paths(const Graph& graph) {
  const auto loss = std::ranges::find(graph.outputs, OutputKind::kLoss, &Output::kind);
  if (loss == graph.outputs.end()) throw Error("a graph without a loss cannot be cut into stages");
  std::vector<bool> leads(graph.values.size(), false);
  leads[position(loss->value)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!any_of(graph.nodes[i].outputs, leads)) continue;
    for (const ValueId id : graph.nodes[i].inputs) leads[position(id)] = true;
  }
  std::vector<bool> comes(graph.values.size(), false);
  comes[position(graph.find("pixels"))] = true;
  for (const Node& node : graph.nodes) {
    if (!any_of(node.inputs, comes)) continue;
    for (const ValueId id : node.outputs) comes[position(id)] = true;
  }
  for (std::size_t i = 0; i < leads.size(); ++i) leads[i] = leads[i] && comes[i];
  return leads;
}

double multiply_adds_of(const Graph& graph, const Node& node) {
  return node.op->multiply_adds == nullptr ? 0 : node.op->multiply_adds(graph, node);
}

// Multiply-adds of the nodes before each border; then of all nodes.
std::vector<double> multiply_adds_before(const Graph& graph, const std::vector<Border>& borders) {
  std::vector<double> before;
  double sum = 0;
  std::size_t node = 0;
  for (const Border& border : borders) {
    for (; node < border.nodes; ++node) sum += multiply_adds_of(graph, graph.nodes[node]);
    before.push_back(sum);
  }
  for (; node < graph.nodes.size(); ++node) sum += multiply_adds_of(graph, graph.nodes[node]);
  before.push_back(sum);
  return before;
}

bool is_in_module(std::string_view name, std::string_view module) {
  return name == module || (name.starts_with(module) && name[module.size()] == '.');
}

// Number of nodes up to and including the last one of that name; nullopt if the graph has none.
std::optional<std::size_t> nodes_to(const Graph& graph, std::string_view name) {
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const bool is_it = is_in_module(graph.nodes[i].name, name) ||
                       graph.value(graph.nodes[i].outputs.front()).name == name;
    if (is_it) return i + 1;
  }
  if (graph.value(graph.find("pixels")).name == name) return 0;
  return std::nullopt;
}

// Why no stage can end after this many nodes.
std::string_view why_no_end(const Graph& graph, std::optional<std::size_t> nodes) {
  if (!nodes) return "which is not a value of the net";
  const auto is_counted = [&](const Node& node) { return multiply_adds_of(graph, node) > 0; };
  const std::span all(graph.nodes);
  if (std::ranges::none_of(all.first(*nodes), is_counted)) {
    return "because nothing is computed before it";
  }
  if (std::ranges::none_of(all.subspan(*nodes), is_counted)) {
    return "because nothing is computed after it";
  }
  return "because a connection bypasses it";
}

// Throws UsageError: says why no stage can end at `name`, and where one can.
[[noreturn]] void throw_no_border(const Graph& graph, std::string_view name) {
  std::vector<std::string> known;
  const std::vector<Border> ends = stage_ends(graph);
  for (const Border& end : ends) known.push_back(graph.value(end.value).name);
  const std::optional<std::size_t> nodes = nodes_to(graph, name);
  std::string nearest = nearest_word(name, known);
  if (nodes && !ends.empty()) {
    const auto end = std::ranges::find_if(ends, [&](const Border& e) { return e.nodes >= *nodes; });
    nearest = graph.value(end == ends.end() ? ends.back().value : end->value).name;
  }
  std::string where = known.empty()
                          ? "; the net has no borders"
                          : "; the first is " + known.front() + ", the last is " + known.back();
  if (!nearest.empty()) where = "; the nearest is " + nearest;
  throw UsageError("no stage can end at '" + std::string(name) + "', " +
                   std::string(why_no_end(graph, nodes)) + where + "; --net NAME --show lists all");
}

// Borders with multiply-adds before and after them. `last`: if nothing is computed between several
// of them, only the last one.
std::vector<Border> inner_borders(const Graph& forward, bool last) {
  const std::vector<Border> borders = find_borders(forward);
  const std::vector<double> before = multiply_adds_before(forward, borders);
  std::vector<Border> inner;
  for (std::size_t i = 0; i < borders.size(); ++i) {
    const double behind = last ? before[i + 1] : before.back();
    if (before[i] > 0 && before[i] < behind) inner.push_back(borders[i]);
  }
  return inner;
}

// A cut of pieces [0, last) into stages, whose last stage is the pieces [first, last): the cost of
// the costliest two neighbours, and where the stage before the last begins.
struct NeighbourCut {
  double most = std::numeric_limits<double>::infinity();
  std::size_t before = 0;
};
using NeighbourCuts = std::vector<std::vector<NeighbourCut>>;  // indexed by [first][last]

// The best cuts with one more stage.
NeighbourCuts with_another_stage(const std::vector<std::vector<double>>& cost,
                                 const NeighbourCuts& cuts) {
  const std::size_t pieces = cost.size();
  NeighbourCuts more(pieces, std::vector<NeighbourCut>(pieces + 1));
  for (std::size_t before = 0; before < pieces; ++before) {
    for (std::size_t first = before + 1; first < pieces; ++first) {
      const double most = cuts[before][first].most;
      const double stage = cost[before][first - before - 1];
      for (std::size_t last = first + 1; last <= pieces; ++last) {
        const double both = std::max(most, stage + cost[first][last - first - 1]);
        if (both < more[first][last].most) more[first][last] = {both, before};
      }
    }
  }
  return more;
}

}  // namespace

// Nodes are in executable order. A value on a path, computed before the border and read after it,
// would be a path around the border; so there must be none.
std::vector<Border> find_borders(const Graph& forward) {
  const std::vector<bool> on_path = find_paths(forward);
  std::vector<int> readers(forward.values.size(), 0);  // number of readers still to come
  const auto passes = [&](const Node& node) { return any_of(node.outputs, on_path); };
  for (const Node& node : forward.nodes) {
    if (!passes(node)) continue;
    for (const ValueId id : node.inputs) ++readers[position(id)];
  }
  std::vector<Border> borders;
  int open = 1;  // values on paths that have readers to come; at first the pixels
  for (std::size_t i = 0; i < forward.nodes.size(); ++i) {
    const Node& node = forward.nodes[i];
    if (!passes(node)) continue;
    for (const ValueId id : node.inputs) {
      if (--readers[position(id)] == 0 && on_path[position(id)]) --open;
    }
    ValueId made = -1;
    for (const ValueId id : node.outputs) {
      if (!on_path[position(id)] || readers[position(id)] == 0) continue;
      ++open;
      made = id;
    }
    if (open == 1 && made >= 0) borders.push_back({.value = made, .nodes = i + 1});
  }
  return borders;
}

std::vector<Border> stage_ends(const Graph& forward) { return inner_borders(forward, true); }

Load load_of(const Graph& graph, std::size_t first_node, std::size_t last_node) {
  std::vector<bool> read(graph.values.size(), false);
  for (std::size_t i = 0; i < first_node; ++i) {
    for (const ValueId id : graph.nodes[i].inputs) read[position(id)] = true;
  }
  Load load;
  for (std::size_t i = first_node; i < last_node; ++i) {
    const Node& node = graph.nodes[i];
    load.multiply_adds += multiply_adds_of(graph, node);
    for (const ValueId id : node.inputs) {
      const Value& value = graph.value(id);
      if (read[position(id)] || value.kind != ValueKind::kParameter) continue;
      read[position(id)] = true;
      load.parameters += element_count(value.shape);
    }
    for (const ValueId id : node.outputs) {
      const Value& value = graph.value(id);
      load.bytes +=
          static_cast<double>(element_count(value.shape)) * (value.storage == Storage::kU8 ? 1 : 4);
    }
  }
  return load;
}

std::optional<Border> find_border(const Graph& forward, std::string_view value) {
  for (const Border& border : inner_borders(forward, false)) {
    if (forward.value(border.value).name == value) return border;
  }
  return std::nullopt;
}

Border border_called(const Graph& forward, std::string_view name) {
  if (const auto exact = find_border(forward, name)) return *exact;
  Border found;
  for (const Border& border : inner_borders(forward, false)) {
    if (is_in_module(forward.value(border.value).name, name)) found = border;
  }
  const auto goes_on = [&](const Node& node) { return is_in_module(node.name, name); };
  const auto rest = std::span(forward.nodes).subspan(found.nodes);
  if (found.value < 0 || std::ranges::any_of(rest, goes_on)) throw_no_border(forward, name);
  return found;
}

std::vector<std::size_t> choose_ends(const std::vector<std::vector<double>>& cost,
                                     std::size_t stages) {
  const std::size_t pieces = cost.size();
  constexpr double kNone = std::numeric_limits<double>::infinity();
  // best[stages][last] cuts the first `last` pieces into so many stages: the cost of the costliest
  // stage, and where the last stage begins.
  std::vector<std::vector<std::pair<double, std::size_t>>> best(
      stages + 1, std::vector<std::pair<double, std::size_t>>(pieces + 1, {kNone, 0}));
  best[0][0] = {0, 0};
  for (std::size_t k = 1; k <= stages; ++k) {
    for (std::size_t last = k; last <= pieces; ++last) {
      for (std::size_t first = k - 1; first < last; ++first) {
        const double most = std::max(best[k - 1][first].first, cost[first][last - first - 1]);
        if (most < best[k][last].first) best[k][last] = {most, first};
      }
    }
  }
  std::vector<std::size_t> ends;
  std::size_t last = pieces;
  for (std::size_t k = stages; k > 1; --k) {
    last = best[k][last].second;
    ends.push_back(last - 1);
  }
  std::ranges::reverse(ends);
  return ends;
}

std::vector<std::size_t> choose_ends_of_neighbours(const std::vector<std::vector<double>>& cost,
                                                   std::size_t stages) {
  const std::size_t pieces = cost.size();
  std::vector<NeighbourCuts> best = {
      NeighbourCuts(pieces, std::vector<NeighbourCut>(pieces + 1))};  // indexed by stages, from 1
  for (std::size_t last = 1; last <= pieces; ++last) best[0][0][last].most = cost[0][last - 1];
  while (best.size() < stages) best.push_back(with_another_stage(cost, best.back()));
  std::size_t last = pieces;
  const auto most_of = [&](std::size_t first) { return best.back()[first][pieces].most; };
  std::size_t first = 0;
  for (std::size_t i = 1; i < pieces; ++i) {
    if (most_of(i) < most_of(first)) first = i;
  }
  std::vector<std::size_t> ends;
  for (std::size_t k = stages; k > 1; --k) {
    ends.push_back(first - 1);
    const std::size_t before = best[k - 1][first][last].before;
    last = first;
    first = before;
  }
  std::ranges::reverse(ends);
  return ends;
}

}  // namespace winnow::train
