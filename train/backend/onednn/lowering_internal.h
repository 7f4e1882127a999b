#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/backend/lower/layer.h"
#include "train/backend/lower/lowering.h"
#include "train/backend/onednn/compiled_internal.h"
#include "train/backend/onednn/primitives_internal.h"

namespace winnow::train::onednn {

// The interface by which emitters (ops/) make the calls of nodes.
class OneDnnLowering final : public Lowering<int> {
 public:
  OneDnnLowering(const Graph& graph, const CompileOptions& options, const kernels::Table& table,
                 Compiled& out);

  const kernels::Table& table() const { return table_; }
  const dnnl::engine& engine() const { return engine_; }
  int threads() const { return threads_; }  // the number that calls receive

  // The kernel of the layer `name`: the imposed one, which is found among all() by its name;
  // otherwise first().
  // Throws UsageError: this library has no such kernel for the layer.
  template <class First, class All>
  Primitive chosen(const std::string& name, First first, All all) {
    if (out_.candidates == nullptr && imposed(name) == nullptr) return first();
    return pick(name, all());
  }

  // Emits one pass of a layer with a filter, by the primitive `made`. `plain`: the filter's layout
  // as a parameter. `name` identifies the layer for Program::choices().
  void layer(const LayerOperands& operands, const Primitive& made, const dnnl::memory::desc& plain,
             const std::string& name);

  // The name of the layer that was lowered since the last call; empty: none was.
  std::string take_layer() { return std::exchange(layer_, {}); }

  // Reserves memory that the forward node `node` fills for its backward.
  Slot keep(const Node& node, std::size_t bytes);
  std::optional<Slot> kept(const Node& node) const;

 private:
  const std::string* imposed(const std::string& name) const;
  Primitive pick(const std::string& name, const std::vector<NamedKernel>& all);
  void unfolded_layer(const LayerOperands& operands, const Primitive& made,
                      const dnnl::memory::desc& plain);
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;
  // Loads may run in parallel, so each has a stream and a scratchpad of its own.
  enum class Working { kNode, kLoading };
  struct Packed {
    ValueId parameter;
    dnnl::memory memory;
  };

  dnnl::memory memory_in(Slot slot, const dnnl::memory::desc& description);
  static Call execution(const dnnl::primitive& primitive, const dnnl::stream& stream,
                        const Arguments& arguments);
  Call reorder(const dnnl::memory& from, const dnnl::memory& to, Working working);
  void add_scratchpad(const dnnl::memory::desc& description, Working working, Arguments& arguments);
  // The filter `id` in the layout `wanted`. Parameters are packed when loaded, once for all that
  // want the same layout; other values before each use.
  dnnl::memory filter(ValueId id, const dnnl::memory::desc& plain,
                      const dnnl::memory::desc& wanted);
  dnnl::memory filter_gradient(ValueId id, const dnnl::memory::desc& plain,
                               const dnnl::memory::desc& made);

  const kernels::Table& table_;
  const dnnl::engine engine_;
  const int threads_;
  const KernelChoices* const imposed_;
  const dnnl::stream stream_;
  Slots& memory_;
  Compiled& out_;
  std::string layer_;
  std::vector<Packed> packed_;
  std::vector<std::pair<const Node*, Slot>> kept_;
};

}  // namespace winnow::train::onednn
