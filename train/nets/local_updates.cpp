#include "train/nets/local_updates.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string_view>

#include "common/error.h"
#include "train/graph/borders.h"
#include "train/nets/local_heads.h"

namespace winnow::train {
namespace {

constexpr std::string_view kTime = "time";
constexpr std::string_view kMemory = "memory";
constexpr std::string_view kOverlapping = "overlapping";

// The number of stages that `stages` requests; 0 if it names their ends.
std::size_t stage_count(const std::string& stages) {
  std::size_t count = 0;
  const char* const end = stages.data() + stages.size();
  const auto [rest, error] = std::from_chars(stages.data(), end, count);
  if (rest != end || stages.empty()) return 0;
  return error == std::errc() ? count : static_cast<std::size_t>(-1);
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string_view balance_of(const LocalOptions& options) {
  return options.balance.empty() ? kTime : std::string_view(options.balance);
}

std::string_view head_of(const LocalOptions& options) {
  return options.head.empty() ? kUsualLocalHead : std::string_view(options.head);
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    names.push_back(std::string(trimmed(std::string_view(text).substr(begin, comma - begin))));
    begin = comma + 1;
  }
  return names;
}

std::vector<ValueId> named_ends(const std::string& stages, const Graph& forward) {
  std::vector<Border> ends;
  for (const std::string& name : split_names(stages)) {
    ends.push_back(border_called(forward, name));
    if (ends.size() < 2 || ends[ends.size() - 2].nodes < ends.back().nodes) continue;
    throw UsageError("--stages " + stages + ": " + name +
                     " does not come after the stage before it; list the ends of stages in the "
                     "order of the net");
  }
  std::vector<ValueId> values;
  for (const Border& end : ends) values.push_back(end.value);
  return values;
}

double cost_of(const Load& load, std::string_view balance) {
  return balance == kMemory ? load.bytes : load.multiply_adds;
}

// Cost of a head at `end`.
double cost_of_head(const LocalOptions& options, const Graph& forward, const NetOptions& net,
                    ValueId end) {
  const Graph graph = with_local_heads(forward, {end}, find_local_head(head_of(options)), net);
  return cost_of(load_of(graph, forward.nodes.size(), graph.nodes.size()), balance_of(options));
}

// Costs of all stages between two ends, in the form that choose_ends() takes.
std::vector<std::vector<double>> stage_costs(const LocalOptions& options, const Graph& forward,
                                             const NetOptions& net,
                                             const std::vector<Border>& ends) {
  std::vector<double> pieces;
  std::size_t node = 0;
  for (const Border& end : ends) {
    pieces.push_back(cost_of(load_of(forward, node, end.nodes), balance_of(options)));
    node = end.nodes;
  }
  pieces.push_back(cost_of(load_of(forward, node, forward.nodes.size()), balance_of(options)));
  std::vector<double> heads;
  for (const Border& end : ends) {
    heads.push_back(cost_of_head(options, forward, net, end.value));
  }
  heads.push_back(0);
  std::vector<std::vector<double>> cost(pieces.size());
  for (std::size_t first = 0; first < pieces.size(); ++first) {
    double sum = 0;
    for (std::size_t last = first; last < pieces.size(); ++last) {
      sum += pieces[last];
      cost[first].push_back(sum + heads[last]);
    }
  }
  return cost;
}

std::vector<ValueId> counted_ends(const LocalOptions& options, const Graph& forward,
                                  const NetOptions& net) {
  const std::vector<Border> ends = stage_ends(forward);
  const std::size_t count = stage_count(options.stages);
  if (count > ends.size() + 1) {
    std::string where;
    for (const Border& end : ends) {
      where += (where.empty() ? "" : ", ") + forward.value(end.value).name;
    }
    throw UsageError("--stages " + options.stages + ": the net can be cut at " +
                     std::to_string(ends.size()) + " places, so it can have at most " +
                     std::to_string(ends.size() + 1) + " stages; the places are " + where);
  }
  // Overlapping stages are computed one at a time, and the values of two are held at once.
  const bool holds_two = options.updates == kOverlapping && balance_of(options) == kMemory;
  const auto choose = holds_two ? choose_ends_of_neighbours : choose_ends;
  std::vector<ValueId> values;
  for (const std::size_t end : choose(stage_costs(options, forward, net, ends), count)) {
    values.push_back(ends[end].value);
  }
  return values;
}

std::string bytes_in_words(double bytes) {
  char text[32];
  const bool small = bytes < 1e6;
  std::snprintf(text, sizeof text, bytes < 1e8 ? "%.1f %s" : "%.0f %s", bytes / (small ? 1e3 : 1e6),
                small ? "kB" : "MB");
  return text;
}

std::string count_in_words(double count) {
  char text[32];
  const bool small = count < 1e5;
  std::snprintf(text, sizeof text, "%.2f %s", count / (small ? 1e3 : 1e6), small ? "k" : "M");
  return text;
}

// "for one image"
std::string of_images(const Graph& forward) {
  const std::int64_t images = forward.value(forward.find("pixels")).shape[0];
  return images == 1 ? "for one image"
                     : "for a micro-batch of " + std::to_string(images) + " images";
}

// Channels of the widest value with an mlp-sr head, if its linear layers are narrower than the
// published ones because of that; else 0.
std::int64_t narrowed_channels(const LocalSetup& local, const Graph& graph) {
  std::int64_t most = 0;
  if (local.head != "mlp-sr") return 0;
  for (const std::string& end : local.ends) {
    most = std::max(most, graph.value(graph.find(end)).shape[1]);
  }
  return 4 * most > kMostHeadWidth ? most : 0;
}

}  // namespace

void check_local(const LocalOptions& options, const LossOptions& loss) {
  const auto is_one_of = [](const std::string& word, std::string_view a, std::string_view b) {
    return word == a || word == b;
  };
  if (options.updates.empty()) {
    const std::string_view given = !options.stages.empty()    ? "--stages cuts the net"
                                   : !options.head.empty()    ? "--local-head chooses heads"
                                   : !options.balance.empty() ? "--balance cuts the net"
                                                              : "";
    if (given.empty()) return;
    throw UsageError(std::string(given) +
                     " for --local; add --local greedy or overlapping, and --stages");
  }
  if (!is_one_of(options.updates, "greedy", kOverlapping)) {
    throw UsageError("--local " + options.updates + " is neither greedy nor overlapping");
  }
  if (!options.balance.empty() && !is_one_of(options.balance, kTime, kMemory)) {
    throw UsageError("--balance " + options.balance + " is neither time nor memory");
  }
  find_local_head(head_of(options));
  if (!find_loss(loss.name).reads_labels()) {
    throw UsageError("--local trains each stage on labels, but --loss " + loss.name +
                     " uses none; leave out --local");
  }
  if (options.stages.empty()) {
    throw UsageError("--local " + options.updates +
                     " needs stages; give --stages 2, or names as --stages layer1,layer3");
  }
  const bool is_number = options.stages.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && stage_count(options.stages) < 2) {
    throw UsageError("--local with --stages " + options.stages +
                     " is plain backpropagation; leave out --local, or use 2 stages or more");
  }
  if (!is_number && !options.balance.empty()) {
    throw UsageError("--balance needs a number of stages, but --stages " + options.stages +
                     " names where stages end; leave out --balance");
  }
}

LocalSetup choose_stages(const LocalOptions& options, const Graph& forward, const NetOptions& net) {
  if (options.updates.empty()) return {};
  const std::vector<ValueId> ends = stage_count(options.stages) > 0
                                        ? counted_ends(options, forward, net)
                                        : named_ends(options.stages, forward);
  LocalSetup local{.updates = options.updates, .ends = {}, .head = std::string(head_of(options))};
  for (const ValueId end : ends) local.ends.push_back(forward.value(end).name);
  return local;
}

Graph with_heads(const LocalSetup& local, const Graph& forward, const NetOptions& net) {
  if (local.updates.empty()) return forward;
  std::vector<ValueId> ends;
  std::size_t nodes = 0;
  for (const std::string& name : local.ends) {
    const std::optional<Border> end = find_border(forward, name);
    if (!end) throw UsageError("no stage of the net can end at a value '" + name + "'");
    if (end->nodes <= nodes) {
      throw UsageError("the stage ends must be in the order of the net, but " + name +
                       " does not come after the end before it");
    }
    nodes = end->nodes;
    ends.push_back(end->value);
  }
  return with_local_heads(forward, ends, find_local_head(local.head), net);
}

std::string heads_in_words(const LocalSetup& local, const Graph& with_heads) {
  std::int64_t parameters = 0;
  double bytes = 0;
  for (const Value& value : with_heads.values) {
    if (!is_named_as_local_head(value.name)) continue;
    const auto elements = element_count(value.shape);
    if (value.kind == ValueKind::kParameter) parameters += elements;
    if (value.kind == ValueKind::kComputed) bytes += static_cast<double>(elements) * 4;
  }
  std::string ends;
  for (const std::string& end : local.ends) ends += (ends.empty() ? "" : ", ") + end;
  std::string text = "local updates, " + local.updates + ": " + std::to_string(local.stages()) +
                     " stages that end at " + ends + " and the loss; heads " + local.head + " of " +
                     count_in_words(static_cast<double>(parameters)) + " parameters, " +
                     bytes_in_words(static_cast<double>(parameters) * 4) + ", and values of " +
                     bytes_in_words(bytes) + " " + of_images(with_heads);
  if (const std::int64_t channels = narrowed_channels(local, with_heads); channels > 0) {
    text += "; their linear layers are " + std::to_string(kMostHeadWidth) +
            " wide instead of the published " + std::to_string(4 * channels) +
            " (for that: --local-head mlp-sr-full)";
  }
  return text;
}

std::string borders_in_words(const Graph& forward) {
  std::string text;
  char line[256];
  const auto add = [&](const char* name, const Load& load) {
    std::snprintf(line, sizeof line, "%s%-42s%12.2f M%12.1f kB%12.2f k", text.empty() ? "" : "\n",
                  name, load.multiply_adds / 1e6, load.bytes / 1e3,
                  static_cast<double>(load.parameters) / 1e3);
    text += line;
  };
  std::snprintf(line, sizeof line, "%-42s%14s%15s%14s",
                ("before the border, " + of_images(forward)).c_str(), "multiply-adds", "values",
                "parameters");
  text = line;
  for (const Border& end : stage_ends(forward)) {
    add(forward.value(end.value).name.c_str(), load_of(forward, 0, end.nodes));
  }
  add("(the whole net)", load_of(forward, 0, forward.nodes.size()));
  return text;
}

}  // namespace winnow::train
