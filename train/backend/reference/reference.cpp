#include "train/backend/reference/reference.h"

#include <string>
#include <utility>

#include "train/backend/checks.h"
#include "train/backend/load_state.h"
#include "train/graph/reference.h"

namespace winnow::train {
namespace {

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

// Memory outside. At most one of the two spans is set.
struct Bound {
  std::span<float> floats;
  std::span<std::uint8_t> bytes;

  bool empty() const { return floats.empty() && bytes.empty(); }
  void read(std::vector<double>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = bytes.empty() ? static_cast<double>(floats[i]) : static_cast<double>(bytes[i]);
    }
  }
  void write(const std::vector<double>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (bytes.empty()) {
        floats[i] = static_cast<float>(numbers[i]);
      } else {
        bytes[i] = static_cast<std::uint8_t>(numbers[i]);
      }
    }
  }
};

// The values of several programs. Parameters that one of them loads are loaded for all.
struct Lanes {
  std::vector<std::vector<std::vector<double>>> values;  // by lane, by ValueId
  LoadState loaded;
};

std::size_t bytes_of(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Value& value : graph.values) {
    bytes += position(element_count(value.shape)) * sizeof(double);
  }
  return bytes;
}

class ReferenceProgram final : public Program {
 public:
  ReferenceProgram(const Graph& graph, std::shared_ptr<Lanes> lanes, std::size_t lane)
      : graph_(graph),
        lanes_(std::move(lanes)),
        values_(lanes_->values[lane]),
        bound_(graph.values.size()),
        is_outside_(graph.values.size(), false),
        is_read_back_(graph.values.size(), false) {
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) {
        if (graph_.value(id).kind != ValueKind::kComputed) is_outside_[position(id)] = true;
      }
    }
    for (const Output& output : graph_.outputs) {
      if (graph_.value(output.value).kind != ValueKind::kComputed) {
        throw Error("output '" + graph_.value(output.value).name +
                    "' is not computed by the graph");
      }
      is_outside_[position(output.value)] = true;
      if (is_shared(output)) is_read_back_[position(output.value)] = true;
    }
    values_.resize(graph_.values.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i].resize(position(element_count(graph_.values[i].shape)));
    }
  }

  const Graph& graph() const noexcept override { return graph_; }

  void bind(ValueId id, std::span<float> data) override {
    check_to_bind(id, data.size(), false);
    bound_[position(id)] = {data, {}};
  }
  void bind(ValueId id, std::span<std::uint8_t> data) override {
    check_to_bind(id, data.size(), true);
    bound_[position(id)] = {{}, data};
  }

  void load_parameters(int part, int parts) override {
    check_part(part, parts);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i % position(parts) != position(part)) continue;
      const ValueKind kind = graph_.values[i].kind;
      if ((kind == ValueKind::kParameter || kind == ValueKind::kBuffer) && !bound_[i].empty()) {
        for (auto& values : lanes_->values) bound_[i].read(values[i]);
      }
    }
    lanes_->loaded.mark(part, parts);
  }

  void run(std::size_t first_node, std::size_t last_node) override {
    check_ready(first_node, last_node);
    for (std::size_t i = first_node; i < last_node; ++i) {
      const Node& node = graph_.nodes[i];
      for (const ValueId id : node.inputs) {
        if (graph_.value(id).kind == ValueKind::kInput || is_read_back_[position(id)])
          bound_[position(id)].read(values_[position(id)]);
      }
      interpret_node(graph_, node, values_);
      for (const ValueId id : node.outputs) {
        if (is_outside_[position(id)]) bound_[position(id)].write(values_[position(id)]);
      }
    }
    next_node_ = last_node;
  }

  std::size_t arena_bytes() const noexcept override { return bytes_of(graph_); }

 private:
  void check_to_bind(ValueId id, std::size_t size, bool bytes) const {
    const bool known = id >= 0 && position(id) < values_.size();
    check_binding(graph_, id, known && is_outside_[position(id)], size, bytes);
  }

  void check_ready(std::size_t first_node, std::size_t last_node) const {
    check_range(graph_, next_node_, first_node, last_node);
    if (first_node == 0) lanes_->loaded.check_complete();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_outside_[i] && bound_[i].empty()) throw_unbound(graph_.values[i]);
    }
  }

  const Graph graph_;
  const std::shared_ptr<Lanes> lanes_;
  std::vector<std::vector<double>>& values_;  // for this lane
  std::vector<Bound> bound_;
  std::vector<bool> is_outside_;    // memory must be bound before running
  std::vector<bool> is_read_back_;  // outputs that the caller may change
  std::size_t next_node_ = 0;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "reference"; }
  std::string instruction_set() const override { return "float64"; }
  std::string library() const override { return "winnow"; }
  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) override {
    return std::move(compile_lanes(graph, options, 1).front());
  }
  std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                      const CompileOptions& options,
                                                      int lanes) override {
    check_cpu_dtype(options.compute);
    const auto shared = std::make_shared<Lanes>();
    shared->values.resize(position(lanes));
    std::vector<std::unique_ptr<Program>> programs;
    for (std::size_t lane = 0; lane < position(lanes); ++lane) {
      programs.push_back(std::make_unique<ReferenceProgram>(graph, shared, lane));
    }
    return programs;
  }
  MemoryUse memory_of(const Graph& graph, const CompileOptions&) override {
    return {.lane_bytes = bytes_of(graph)};
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace winnow::train
