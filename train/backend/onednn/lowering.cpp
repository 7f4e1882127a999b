#include <algorithm>

#include "common/error.h"
#include "train/backend/onednn/lowering_internal.h"
#include "train/backend/onednn/unfold_internal.h"

namespace winnow::train::onednn {

OneDnnLowering::OneDnnLowering(const Graph& graph, const CompileOptions& options,
                               const kernels::Table& table, Compiled& out)
    : Lowering(graph, options.compute, Outside::kUsed, out.slots, table.convert),
      table_(table),
      engine_(dnnl::engine::kind::cpu, 0),
      threads_(options.threads),
      imposed_(options.choices),
      stream_(engine_),
      memory_(out.slots),
      out_(out) {}

dnnl::memory OneDnnLowering::memory_in(Slot slot, const dnnl::memory::desc& description) {
  dnnl::memory memory(description, engine_, DNNL_MEMORY_NONE);
  memory_.attach(slot, memory);
  return memory;
}

// Executes through the C interface, because the C++ one builds a new list of arguments in every
// call.
Call OneDnnLowering::execution(const dnnl::primitive& primitive, const dnnl::stream& stream,
                               const Arguments& arguments) {
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> list;
  for (const auto& [name, memory] : arguments) {
    memories.push_back(memory);
    list.push_back({name, memory.get()});
  }
  return [primitive, stream, memories = std::move(memories), list = std::move(list)](int) {
    const dnnl_status_t status = dnnl_primitive_execute(primitive.get(), stream.get(),
                                                        static_cast<int>(list.size()), list.data());
    if (status != dnnl_success) {
      throw Error("oneDNN failed to execute a primitive, status " + std::to_string(status));
    }
  };
}

Call OneDnnLowering::reorder(const dnnl::memory& from, const dnnl::memory& to, Working working) {
  const Reorder made = make_reorder(engine_, from.get_desc(), to.get_desc());
  Arguments arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  add_scratchpad(made.scratchpad, working, arguments);
  const dnnl::stream stream = working == Working::kNode ? stream_ : dnnl::stream(engine_);
  return execution(made.call, stream, arguments);
}

void OneDnnLowering::add_scratchpad(const dnnl::memory::desc& description, Working working,
                                    Arguments& arguments) {
  const std::size_t bytes = description.get_size();
  if (bytes == 0) return;
  const Slot slot = working == Working::kNode ? slots().scratch(bytes) : slots().own(bytes);
  arguments.emplace_back(DNNL_ARG_SCRATCHPAD, memory_in(slot, description));
}

dnnl::memory OneDnnLowering::filter(ValueId id, const dnnl::memory::desc& plain,
                                    const dnnl::memory::desc& wanted) {
  const Slot source = read(id, Element::kF32);
  if (wanted == plain) return memory_in(source, plain);
  if (!is_weight(id)) {
    const dnnl::memory packed = memory_in(slots().scratch(wanted.get_size()), wanted);
    call(reorder(memory_in(source, plain), packed, Working::kNode));
    return packed;
  }
  for (const Packed& packed : packed_) {
    if (packed.parameter == id && packed.memory.get_desc() == wanted) return packed.memory;
  }
  const std::size_t begin = slots().shared_bytes();
  const dnnl::memory packed = memory_in(slots().shared(wanted.get_size()), wanted);
  out_.load.push_back({reorder(memory_in(source, plain), packed, Working::kLoading), begin,
                       slots().shared_bytes()});
  packed_.push_back({id, packed});
  return packed;
}

dnnl::memory OneDnnLowering::filter_gradient(ValueId id, const dnnl::memory::desc& plain,
                                             const dnnl::memory::desc& made) {
  if (made == plain) return memory_in(write(id, Element::kF32), plain);
  const dnnl::memory packed = memory_in(slots().scratch(made.get_size()), made);
  const Slot to = write(id, Element::kF32);  // its home is f32, so nothing must follow the reorder
  call_after(reorder(packed, memory_in(to, plain), Working::kNode));
  return packed;
}

const std::string* OneDnnLowering::imposed(const std::string& name) const {
  if (imposed_ == nullptr) return nullptr;
  const auto found = imposed_->find(name);
  return found == imposed_->end() ? nullptr : &found->second;
}

Primitive OneDnnLowering::pick(const std::string& name, const std::vector<NamedKernel>& all) {
  std::string names;
  for (const NamedKernel& one : all) names += (names.empty() ? "" : ", ") + one.name;
  if (out_.candidates != nullptr) {
    std::vector<std::string>& listed = (*out_.candidates)[name];
    listed.clear();  // the layer may have several nodes
    for (const NamedKernel& one : all) listed.push_back(one.name);
  }
  const std::string* wanted = imposed(name);
  if (wanted == nullptr) return all.front().make();
  const auto found = std::ranges::find(all, *wanted, &NamedKernel::name);
  if (found == all.end()) {
    throw UsageError("'" + name + "' cannot be computed by '" + *wanted +
                     "', which oneDNN does not have here: it has " + names);
  }
  return found->make();
}

void OneDnnLowering::unfolded_layer(const LayerOperands& operands, const Primitive& made,
                                    const dnnl::memory::desc& plain) {
  const ConvExtents extents = *made.unfolds;
  const Slot x = read(operands.data, made.type);
  Slot patches = x;
  if (!is_unfolded(extents)) {
    patches = slots().scratch(patches_bytes(extents, made.type));
    kernel(unfold, [=, type = made.type](const train::Slots& at) {
      return Unfold{extents, type, at.at(x), at.at(patches)};
    });
  }
  const Slot dy = read(operands.result, made.type);
  const Slot product = slots().scratch(made.filter.layout.get_size());
  Arguments arguments{{made.data.argument, memory_in(patches, made.data.layout)},
                      {made.result.argument, memory_in(dy, made.result.layout)},
                      {made.filter.argument, memory_in(product, made.filter.layout)}};
  add_scratchpad(made.scratchpad, Working::kNode, arguments);
  call(execution(made.call, stream_, arguments));
  const Slot dw = write(operands.weight, Element::kF32);
  call(reorder(memory_in(product, filter_of_patches(extents)), memory_in(dw, plain),
               Working::kNode));
  if (operands.bias < 0) return;
  const Slot dbias = write(operands.bias, Element::kF32);
  kernel(table().bias_gradient, [=, type = made.type](const train::Slots& at) {
    return kernels::BiasGradient{type,        at.at(dy), at.as<float>(dbias), extents.y.rows(),
                                 extents.y.c, nullptr};
  });
}

void OneDnnLowering::layer(const LayerOperands& operands, const Primitive& made,
                           const dnnl::memory::desc& plain, const std::string& name) {
  out_.choices[name] = made.implementation;
  layer_ = name;
  if (made.unfolds) return unfolded_layer(operands, made, plain);
  const bool forward = operands.pass == Pass::kForward;
  Arguments arguments;
  const Slot data = operands.pass == Pass::kBackwardData ? write(operands.data, made.type)
                                                         : read(operands.data, made.type);
  arguments.emplace_back(made.data.argument, memory_in(data, made.data.layout));
  const Slot result =
      forward ? write(operands.result, made.type) : read(operands.result, made.type);
  arguments.emplace_back(made.result.argument, memory_in(result, made.result.layout));
  const dnnl::memory weight = operands.pass == Pass::kBackwardFilter
                                  ? filter_gradient(operands.weight, plain, made.filter.layout)
                                  : filter(operands.weight, plain, made.filter.layout);
  arguments.emplace_back(made.filter.argument, weight);
  if (operands.bias >= 0) {
    const Slot bias =
        forward ? read(operands.bias, Element::kF32) : write(operands.bias, Element::kF32);
    arguments.emplace_back(made.bias.argument, memory_in(bias, made.bias.layout));
  }
  add_scratchpad(made.scratchpad, Working::kNode, arguments);
  call(execution(made.call, stream_, arguments));
}

OneDnnLowering::Slot OneDnnLowering::keep(const Node& node, std::size_t bytes) {
  kept_.emplace_back(&node, slots().own(bytes));
  return kept_.back().second;
}

std::optional<OneDnnLowering::Slot> OneDnnLowering::kept(const Node& node) const {
  for (const auto& [made_by, slot] : kept_) {
    if (made_by == &node) return slot;
  }
  return std::nullopt;
}

}  // namespace winnow::train::onednn
