#include "train/backend/reference/reference.h"

#include <string>
#include <utility>

#include "train/backend/checks.h"
#include "train/graph/reference.h"

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
    check_to_bind(id, data.size(), false);
    bound_[position(id)] = {data, {}};
  }
  void bind(ValueId id, std::span<std::uint8_t> data) override {
    check_to_bind(id, data.size(), true);
    bound_[position(id)] = {{}, data};
  }

  void load_parameters() override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ValueKind kind = graph_.values[i].kind;
      if ((kind == ValueKind::kParameter || kind == ValueKind::kBuffer) && !bound_[i].empty()) {
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
  void check_to_bind(ValueId id, std::size_t size, bool bytes) const {
    const bool known = id >= 0 && position(id) < values_.size();
    check_binding(graph_, id, known && is_outside_[position(id)], size, bytes);
  }

  void check_ready(std::size_t first_node, std::size_t last_node) const {
    check_range(graph_, next_node_, first_node, last_node);
    if (!loaded_) throw_not_loaded();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_outside_[i] && bound_[i].empty()) throw_unbound(graph_.values[i]);
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
  std::string library() const override { return "winnow"; }
  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) override {
    check_cpu_dtype(options.compute);
    return std::make_unique<ReferenceProgram>(graph);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace winnow::train
