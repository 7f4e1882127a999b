#include "train/backend/reference/reference.h"

#include <string>
#include <utility>

#include "train/backend/reference/interpret.h"

namespace winnow::train {
namespace {

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

// Memory outside; at most one of the two spans is set.
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

class ReferenceProgram final : public Program {
 public:
  explicit ReferenceProgram(const Graph& graph)
      : graph_(graph),
        values_(graph.values.size()),
        bound_(graph.values.size()),
        is_outside_(graph.values.size(), false) {
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
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i].resize(position(element_count(graph_.values[i].shape)));
    }
  }

  const Graph& graph() const noexcept override { return graph_; }

  void bind(ValueId id, std::span<float> data) override {
    check_binding(id, data.size(), false);
    bound_[position(id)] = {data, {}};
  }
  void bind(ValueId id, std::span<std::uint8_t> data) override {
    check_binding(id, data.size(), true);
    bound_[position(id)] = {{}, data};
  }

  void load_parameters() override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ValueKind kind = graph_.values[i].kind;
      if ((kind == ValueKind::kParameter || kind == ValueKind::kState) && !bound_[i].empty()) {
        bound_[i].read(values_[i]);
      }
    }
    loaded_ = true;
  }

  void run(std::size_t first_node, std::size_t last_node) override {
    check_ready(first_node, last_node);
    for (std::size_t i = first_node; i < last_node; ++i) {
      const Node& node = graph_.nodes[i];
      for (const ValueId id : node.inputs) {
        if (graph_.value(id).kind == ValueKind::kInput)
          bound_[position(id)].read(values_[position(id)]);
      }
      interpret_node(graph_, node, values_);
      for (const ValueId id : node.outputs) {
        if (is_outside_[position(id)]) bound_[position(id)].write(values_[position(id)]);
      }
    }
    next_node_ = last_node;
  }

  std::size_t arena_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& numbers : values_) bytes += numbers.size() * sizeof(double);
    return bytes;
  }

 private:
  std::string quoted(ValueId id) const { return "'" + graph_.value(id).name + "'"; }

  void check_binding(ValueId id, std::size_t size, bool bytes) const {
    if (id < 0 || position(id) >= values_.size()) {
      throw Error("cannot bind value %" + std::to_string(id) + ": the graph has none");
    }
    const Value& value = graph_.value(id);
    if (value.kind == ValueKind::kComputed && !is_outside_[position(id)]) {
      throw Error("cannot bind " + quoted(id) + ": it is neither read from outside nor an output");
    }
    if ((value.storage == Storage::kU8) != bytes) {
      throw Error("cannot bind " + quoted(id) + ": it consists of " + (bytes ? "floats" : "bytes"));
    }
    if (size != values_[position(id)].size()) {
      throw Error("cannot bind " + quoted(id) + ": got " + std::to_string(size) +
                  " elements, its shape is " + to_string(value.shape));
    }
  }

  void check_ready(std::size_t first_node, std::size_t last_node) const {
    if (first_node != 0 && first_node != next_node_) {
      throw Error("nodes are to be run in order: expected a range from " +
                  std::to_string(next_node_) + ", got one from " + std::to_string(first_node));
    }
    if (last_node < first_node || last_node > graph_.nodes.size()) {
      throw Error("the graph has " + std::to_string(graph_.nodes.size()) +
                  " nodes, cannot run up to " + std::to_string(last_node));
    }
    if (!loaded_) throw Error("load_parameters must be called before the first run");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_outside_[i] && bound_[i].empty()) {
        throw Error(quoted(static_cast<ValueId>(i)) + " is not bound to memory");
      }
    }
  }

  const Graph graph_;
  std::vector<std::vector<double>> values_;
  std::vector<Bound> bound_;
  std::vector<bool> is_outside_;  // bound memory is needed to run
  bool loaded_ = false;
  std::size_t next_node_ = 0;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "reference"; }
  std::string instruction_set() const override { return "float64"; }
  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions&) override {
    return std::make_unique<ReferenceProgram>(graph);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace winnow::train
