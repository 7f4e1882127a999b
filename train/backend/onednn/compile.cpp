#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "train/backend/onednn/compiled_internal.h"
#include "train/backend/onednn/primitives_internal.h"
#include "train/graph/arena_layout.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/linear.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train::onednn {
namespace {

using kernels::Element;

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t bytes_of(Element element) { return element == Element::kF32 ? 4 : 2; }

// (N,C,H,W), with H = W = 1 for (N,D).
struct Extents {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  explicit Extents(const Shape& shape) {
    n = shape.at(0);
    c = shape.at(1);
    if (shape.size() == 4) {
      h = shape[2];
      w = shape[3];
    }
  }
  std::int64_t rows() const { return n * h * w; }
};

class Compiler {
 public:
  Compiler(const Graph& graph, const CompileOptions& options, const kernels::Table& table)
      : graph_(graph),
        table_(table),
        threads_(options.threads),
        compute_(options.compute == DType::kF32 ? Element::kF32 : Element::kBf16),
        plan_(lay_out_arena(graph, options.compute)),
        out_(std::make_unique<Compiled>(plan_.arena_bytes)),
        homes_(graph.values.size()),
        producers_(graph.values.size(), nullptr) {}

  std::unique_ptr<Compiled> run() {
    place_values();
    for (const Node& node : graph_.nodes) {
      out_->slots.next_node();
      now_.clear();
      after_.clear();
      compile(node);
      std::move(after_.begin(), after_.end(), std::back_inserter(now_));
      out_->nodes.push_back(std::move(now_));
    }
    out_->slots.allocate();
    return std::move(out_);
  }

 private:
  using Slot = Slots::Id;

  // Where a value is and of what type, for those who read it.
  struct Home {
    Slot slot = 0;
    Element element = Element::kF32;  // of u8 values: not used
    bool is_loaded = false;           // inputs in bf16: the copy is made, by the first reader
  };

  const Value& value(ValueId id) const { return graph_.value(id); }
  std::int64_t count(ValueId id) const { return element_count(value(id).shape); }
  static bool is_bytes(const Value& v) { return v.storage == Storage::kU8; }
  bool is_bf16(const Value& v) const {
    return compute_ == Element::kBf16 && v.storage == Storage::kCompute;
  }
  const std::optional<Slot>& outside(ValueId id) const { return out_->outside[position(id)]; }

  void place_values() {
    Slots& slots = out_->slots;
    out_->outside.resize(graph_.values.size());
    const auto needs_binding = [&](ValueId id) {
      if (!out_->outside[position(id)]) out_->outside[position(id)] = slots.bound();
    };
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) {
        if (value(id).kind != ValueKind::kComputed) needs_binding(id);
      }
      for (const ValueId id : node.outputs) producers_[position(id)] = &node;
    }
    for (const Output& output : graph_.outputs) {
      if (value(output.value).kind != ValueKind::kComputed) {
        throw Error("output '" + value(output.value).name + "' is not computed by the graph");
      }
      needs_binding(output.value);
    }
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Value& v = value(id);
      const bool is_leaf = v.kind != ValueKind::kComputed;
      Home& home = homes_[i];
      home.element =
          is_bf16(v) && (!is_leaf || v.kind == ValueKind::kInput) ? Element::kBf16 : Element::kF32;
      const std::size_t bytes = position(count(id)) * (is_bytes(v) ? 1 : bytes_of(home.element));
      if (outside(id)) {
        home.slot = home.element == Element::kBf16 ? slots.own(bytes) : *outside(id);
      } else if (!is_leaf) {
        home.slot = plan_.offsets[i] != ArenaLayout::kOutside ? slots.arena(plan_.offsets[i])
                                                             : slots.own(bytes);
      }
    }
  }

  // ---- Operands of the node being compiled.

  void step(Step s) { now_.push_back(std::move(s)); }
  void step_after(Step s) { after_.push_back(std::move(s)); }

  Step convert(Slot from, Element from_type, Slot to, Element to_type, std::int64_t elements) {
    return [this_slots = &out_->slots, table = &table_, threads = threads_, from, from_type, to,
            to_type, elements] {
      table->convert({this_slots->at(from), from_type, this_slots->at(to), to_type, elements},
                     threads);
    };
  }

  // Where `id` can be read as `wanted` when this node runs.
  Slot read(ValueId id, Element wanted) {
    Home& home = homes_[position(id)];
    if (outside(id) && value(id).kind == ValueKind::kInput && home.element == Element::kBf16) {
      if (wanted == Element::kF32) return *outside(id);
      if (!home.is_loaded) {
        step(convert(*outside(id), Element::kF32, home.slot, Element::kBf16, count(id)));
        home.is_loaded = true;
      }
      return home.slot;
    }
    if (home.element == wanted) return home.slot;
    const Slot copy = out_->slots.scratch(position(count(id)) * bytes_of(wanted));
    step(convert(home.slot, home.element, copy, wanted, count(id)));
    return copy;
  }

  // Where this node may write `id` as `wanted`; what is bound or of another type is written after.
  Slot write(ValueId id, Element wanted) {
    const Home& home = homes_[position(id)];
    Slot to = home.slot;
    if (home.element != wanted) {
      to = out_->slots.scratch(position(count(id)) * bytes_of(wanted));
      step_after(convert(to, wanted, home.slot, home.element, count(id)));
    }
    if (outside(id) && *outside(id) != home.slot) {
      step_after(convert(home.slot, home.element, *outside(id), Element::kF32, count(id)));
    }
    return to;
  }

  Slot bytes(ValueId id) const { return homes_[position(id)].slot; }
  Element element(ValueId id) const { return homes_[position(id)].element; }

  // A kernel of the table on arguments that are filled in when it runs, as bound memory may move.
  template <class Fill, class Arguments>
  void kernel(void (*function)(const Arguments&, int), Fill fill) {
    step([slots = &out_->slots, function, threads = threads_, fill] {
      function(fill(*slots), threads);
    });
  }

  // ---- oneDNN.

  dnnl::memory memory_in(Slot slot, const dnnl::memory::desc& description) {
    dnnl::memory memory(description, out_->engine, DNNL_MEMORY_NONE);
    out_->slots.attach(slot, memory);
    return memory;
  }

  // Executes by the C interface, as the C++ one builds a new list of arguments in every call.
  Step execution(const dnnl::primitive& call,
                 const std::vector<std::pair<int, dnnl::memory>>& arguments) {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> list;
    for (const auto& [name, memory] : arguments) {
      memories.push_back(memory);
      list.push_back({name, memory.get()});
    }
    return [call, stream = out_->stream, memories = std::move(memories), list = std::move(list)] {
      const dnnl_status_t status = dnnl_primitive_execute(
          call.get(), stream.get(), static_cast<int>(list.size()), list.data());
      if (status != dnnl_success) {
        throw Error("oneDNN failed to execute a primitive, status " + std::to_string(status));
      }
    };
  }

  Step reorder(const dnnl::memory& from, const dnnl::memory& to) {
    const Reorder made = make_reorder(out_->engine, from.get_desc(), to.get_desc());
    std::vector<std::pair<int, dnnl::memory>> arguments = {{DNNL_ARG_FROM, from},
                                                           {DNNL_ARG_TO, to}};
    add_scratchpad(made.scratchpad, arguments);
    return execution(made.call, arguments);
  }

  void add_scratchpad(const dnnl::memory::desc& description,
                      std::vector<std::pair<int, dnnl::memory>>& arguments) {
    if (description.get_size() == 0) return;
    const Slot slot = out_->slots.scratch(description.get_size());
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, memory_in(slot, description));
  }

  // The filter `id` in the layout `wanted`: parameters are packed when loaded, once for all who
  // want the same, others before each use.
  dnnl::memory filter(ValueId id, const dnnl::memory::desc& plain,
                      const dnnl::memory::desc& wanted) {
    const Slot source = read(id, Element::kF32);
    if (wanted == plain) return memory_in(source, plain);
    const bool is_parameter =
        value(id).kind == ValueKind::kParameter || value(id).kind == ValueKind::kBuffer;
    if (!is_parameter) {
      const dnnl::memory packed = memory_in(out_->slots.scratch(wanted.get_size()), wanted);
      step(reorder(memory_in(source, plain), packed));
      return packed;
    }
    for (const Pack& pack : packs_) {
      if (pack.parameter == id && pack.memory.get_desc() == wanted) return pack.memory;
    }
    dnnl::memory packed = memory_in(out_->slots.own(wanted.get_size()), wanted);
    out_->load.push_back(reorder(memory_in(source, plain), packed));
    packs_.push_back({id, packed});
    return packed;
  }

  // The operands of a convolution or linear layer: -1 for a bias that is not there.
  struct Layer {
    Pass pass;
    ValueId data, filter, bias, result;
  };

  void layer(const Layer& operands, const Primitive& made, const dnnl::memory::desc& plain) {
    const Element type = made.type;
    const bool forward = operands.pass == Pass::kForward;
    const bool filter_pass = operands.pass == Pass::kBackwardFilter;
    std::vector<std::pair<int, dnnl::memory>> arguments;

    const Slot data = operands.pass == Pass::kBackwardData ? write(operands.data, type)
                                                           : read(operands.data, type);
    arguments.emplace_back(made.data_argument, memory_in(data, made.data));
    const Slot result = forward ? write(operands.result, type) : read(operands.result, type);
    arguments.emplace_back(made.result_argument, memory_in(result, made.result));
    if (!filter_pass) {
      arguments.emplace_back(made.filter_argument, filter(operands.filter, plain, made.filter));
    } else if (made.filter == plain) {
      arguments.emplace_back(made.filter_argument,
                             memory_in(write(operands.filter, Element::kF32), plain));
    } else {
      const dnnl::memory packed =
          memory_in(out_->slots.scratch(made.filter.get_size()), made.filter);
      arguments.emplace_back(made.filter_argument, packed);
      // Before what write() adds for after.
      const std::size_t at = after_.size();
      const Slot to = write(operands.filter, Element::kF32);
      after_.insert(after_.begin() + static_cast<std::ptrdiff_t>(at),
                    reorder(packed, memory_in(to, plain)));
    }
    if (operands.bias >= 0) {
      const Slot bias =
          forward ? read(operands.bias, Element::kF32) : write(operands.bias, Element::kF32);
      arguments.emplace_back(made.bias_argument, memory_in(bias, made.bias));
    }
    add_scratchpad(made.scratchpad, arguments);
    step(execution(made.call, arguments));
  }

  void convolution(const Node& node, Pass pass) {
    const auto& attributes = attributes_of<ConvAttributes>(node);
    const auto& in = node.inputs;
    const auto& out = node.outputs;
    const bool bias = attributes.bias && pass != Pass::kBackwardData;
    Layer operands{pass, in[0], in[1], bias ? in.back() : -1, out[0]};
    if (pass == Pass::kBackwardData) operands = {pass, out[0], in[1], -1, in[0]};
    if (pass == Pass::kBackwardFilter) operands = {pass, in[0], out[0], bias ? out[1] : -1, in[1]};

    const Shape& filter = value(operands.filter).shape;
    const Extents x(value(operands.data).shape);
    const Extents y(value(operands.result).shape);
    const ConvExtents extents{x.n,           x.c,          x.h, x.w, y.c,
                              filter.at(2),  filter.at(3), y.h, y.w, attributes.stride,
                              attributes.pad};
    layer(operands, make_convolution(out_->engine, pass, extents, bias, compute_),
          plain_filter(extents));
  }

  void linear(const Node& node, Pass pass) {
    const auto& in = node.inputs;
    const auto& out = node.outputs;
    const bool bias =
        attributes_of<LinearAttributes>(node).bias && pass != Pass::kBackwardData;
    Layer operands{pass, in[0], in[1], bias ? in.back() : -1, out[0]};
    if (pass == Pass::kBackwardData) operands = {pass, out[0], in[1], -1, in[0]};
    if (pass == Pass::kBackwardFilter) operands = {pass, in[0], out[0], bias ? out[1] : -1, in[1]};

    const Extents x(value(operands.data).shape);
    const LinearExtents extents{x.n, x.c, x.h, x.w, value(operands.result).shape.at(1)};
    layer(operands, make_linear(out_->engine, pass, extents, bias, compute_),
          plain_filter(extents));
  }

  // ---- Own kernels.

  void normalize(const Node& node) {
    const auto& attributes = attributes_of<NormalizeAttributes>(node);
    const std::size_t channels = attributes.mean.size();
    const std::size_t pattern = std::lcm(channels, std::size_t{kernels::kLanes});
    std::vector<float> table(2 * pattern);
    for (std::size_t i = 0; i < pattern; ++i) {
      const double mean = attributes.mean[i % channels];
      const double deviation = attributes.stddev[i % channels];
      table[i] = static_cast<float>(1 / (255 * deviation));
      table[pattern + i] = static_cast<float>(-mean / deviation);
    }
    const Element type = element(node.outputs[0]);
    const Slot x = bytes(node.inputs[0]);
    const Slot y = write(node.outputs[0], type);
    kernel(table_.normalize, [=, elements = count(node.outputs[0]),
                              table = std::move(table)](const Slots& at) {
      return kernels::Normalize{at.as<std::uint8_t>(x),   type, at.at(y), elements, table.data(),
                                static_cast<int>(pattern)};
    });
  }

  std::size_t floats(std::int64_t count) const { return position(count) * sizeof(float); }

  void batch_norm(const Node& node, bool inference) {
    const auto& attributes = attributes_of<NormAttributes>(node);
    const auto& in = node.inputs;
    const Element type = element(node.outputs[0]);
    const Extents extents(value(in[0]).shape);
    const std::int64_t coefficient_count = kernels::batch_norm_coefficients(extents.c);
    const Slot x = read(in[0], type);
    const Slot scale = read(in[1], Element::kF32);
    const Slot shift = read(in[2], Element::kF32);
    std::optional<Slot> residual;
    if (attributes.residual) residual = read(in.back(), type);
    const Slot y = write(node.outputs[0], type);
    Slot mean = 0;
    Slot variance = 0;
    Slot coefficients = 0;
    if (inference) {
      mean = read(in[3], Element::kF32);
      variance = read(in[4], Element::kF32);
      coefficients = out_->slots.scratch(floats(coefficient_count));
    } else {
      mean = write(node.outputs[1], Element::kF32);
      variance = write(node.outputs[2], Element::kF32);
      coefficients = out_->slots.own(floats(coefficient_count));
      coefficients_.push_back({&node, coefficients});
    }
    const Slot scratch =
        out_->slots.scratch(inference ? 0 : position(kernels::batch_norm_scratch_bytes(extents.c)));
    kernel(inference ? table_.batch_norm_inference : table_.batch_norm, [=](const Slots& at) {
      kernels::BatchNorm a{};
      a.type = type;
      a.x = at.at(x);
      a.residual = residual ? at.at(*residual) : nullptr;
      a.y = at.at(y);
      a.rows = extents.rows();
      a.channels = extents.c;
      a.scale = at.as<float>(scale);
      a.shift = at.as<float>(shift);
      a.epsilon = attributes.epsilon;
      a.relu = attributes.relu;
      a.mean = at.as<float>(mean);
      a.variance = at.as<float>(variance);
      a.coefficients = at.as<float>(coefficients);
      a.scratch = at.at(scratch);
      return a;
    });
  }

  // The coefficients of the forward whose ReLU `node` goes back through, when they alone tell where
  // it was open.
  std::optional<Slot> forward_coefficients(const Node& node) const {
    const auto& attributes = attributes_of<NormAttributes>(node);
    if (!attributes.relu || attributes.residual) return std::nullopt;
    const Node* forward = producers_[position(node.inputs[5])];
    if (forward == nullptr || op_name(forward->op) != "batch_norm" ||
        forward->inputs[0] != node.inputs[0] || forward->outputs[0] != node.inputs[5]) {
      return std::nullopt;
    }
    const auto& before = attributes_of<NormAttributes>(*forward);
    if (!before.relu || before.residual) return std::nullopt;
    for (const auto& [made_by, slot] : coefficients_) {
      if (made_by == forward) return slot;
    }
    return std::nullopt;
  }

  void batch_norm_backward(const Node& node) {
    const auto& attributes = attributes_of<NormAttributes>(node);
    const auto& in = node.inputs;
    const Element type = element(node.outputs[0]);
    const Extents extents(value(in[0]).shape);
    const Slot x = read(in[0], type);
    const Slot scale = read(in[1], Element::kF32);
    const Slot mean = read(in[2], Element::kF32);
    const Slot variance = read(in[3], Element::kF32);
    const Slot dy = read(in[4], type);
    const std::optional<Slot> coefficients = forward_coefficients(node);
    std::optional<Slot> y;
    if (attributes.relu && !coefficients) y = read(in[5], type);
    const Slot dx = write(node.outputs[0], type);
    const Slot dscale = write(node.outputs[1], Element::kF32);
    const Slot dshift = write(node.outputs[2], Element::kF32);
    std::optional<Slot> dresidual;
    if (node.outputs.size() > 3) dresidual = write(node.outputs[3], type);
    const Slot scratch =
        out_->slots.scratch(position(kernels::batch_norm_scratch_bytes(extents.c)));
    kernel(table_.batch_norm_backward, [=](const Slots& at) {
      kernels::BatchNormBackward a{};
      a.type = type;
      a.x = at.at(x);
      a.dy = at.at(dy);
      a.y = y ? at.at(*y) : nullptr;
      a.coefficients = coefficients ? at.as<float>(*coefficients) : nullptr;
      a.dx = at.at(dx);
      a.dresidual = dresidual ? at.at(*dresidual) : nullptr;
      a.rows = extents.rows();
      a.channels = extents.c;
      a.scale = at.as<float>(scale);
      a.mean = at.as<float>(mean);
      a.variance = at.as<float>(variance);
      a.epsilon = attributes.epsilon;
      a.dscale = at.as<float>(dscale);
      a.dshift = at.as<float>(dshift);
      a.scratch = at.at(scratch);
      return a;
    });
  }

  void elementwise(const Node& node, void (*function)(const kernels::Elementwise&, int)) {
    const Element type = element(node.outputs[0]);
    const Slot a = read(node.inputs[0], type);
    const Slot b = read(node.inputs.back(), type);
    const Slot y = write(node.outputs[0], type);
    kernel(function, [=, elements = count(node.outputs[0])](const Slots& at) {
      return kernels::Elementwise{type, at.at(a), at.at(b), at.at(y), elements};
    });
  }

  void pool(const Node& node, void (*function)(const kernels::Pool&, int), bool backward,
            std::optional<ValueId> index) {
    const auto& attributes = attributes_of<PoolAttributes>(node);
    const Element type = element(node.outputs[0]);
    const Slot from = read(node.inputs[0], type);
    const Slot to = write(node.outputs[0], type);
    std::optional<Slot> place;
    if (index) place = bytes(*index);
    const Extents x(value(backward ? node.outputs[0] : node.inputs[0]).shape);
    const Extents y(value(backward ? node.inputs[0] : node.outputs[0]).shape);
    kernel(function, [=](const Slots& at) {
      kernels::Pool a{};
      a.type = type;
      a.from = at.at(from);
      a.to = at.at(to);
      a.index = place ? at.as<std::uint8_t>(*place) : nullptr;
      a.batch = x.n;
      a.channels = x.c;
      a.height = x.h;
      a.width = x.w;
      a.out_height = y.h;
      a.out_width = y.w;
      a.kernel_h = attributes.kernel_h;
      a.kernel_w = attributes.kernel_w;
      a.stride = attributes.stride;
      a.pad = attributes.pad;
      return a;
    });
  }

  void loss(const Node& node, bool backward) {
    const Element type = element(node.inputs[0]);
    const Extents extents(value(node.inputs[0]).shape);
    const double smoothing = attributes_of<LossAttributes>(node).label_smoothing;
    const Slot logits = read(node.inputs[0], type);
    const Slot targets = read(node.inputs[1], Element::kF32);
    const Slot weights = read(node.inputs[2], Element::kF32);
    const auto arguments = [=](const Slots& at) {
      kernels::Loss a{};
      a.type = type;
      a.logits = at.at(logits);
      a.targets = at.as<float>(targets);
      a.weights = at.as<float>(weights);
      a.batch = extents.n;
      a.classes = extents.c;
      a.smoothing = smoothing;
      return a;
    };
    if (backward) {
      const Slot dlogits = write(node.outputs[0], type);
      kernel(table_.loss_backward, [=](const Slots& at) {
        kernels::Loss a = arguments(at);
        a.dlogits = at.at(dlogits);
        return a;
      });
    } else {
      const Slot sum = write(node.outputs[0], Element::kF32);
      const Slot per_sample = write(node.outputs[1], Element::kF32);
      kernel(table_.loss, [=](const Slots& at) {
        kernels::Loss a = arguments(at);
        a.loss = at.as<float>(sum);
        a.per_sample = at.as<float>(per_sample);
        return a;
      });
    }
  }

  void compile(const Node& node) {
    const std::string_view op = op_name(node.op);
    if (op == "normalize_input") return normalize(node);
    if (op == "conv2d") return convolution(node, Pass::kForward);
    if (op == "conv2d_backward_data") return convolution(node, Pass::kBackwardData);
    if (op == "conv2d_backward_filter") return convolution(node, Pass::kBackwardFilter);
    if (op == "batch_norm") return batch_norm(node, false);
    if (op == "batch_norm_backward") return batch_norm_backward(node);
    if (op == "batch_norm_inference") return batch_norm(node, true);
    if (op == "relu") return elementwise(node, table_.relu);
    if (op == "relu_backward") return elementwise(node, table_.relu_backward);
    if (op == "add") return elementwise(node, table_.add);
    if (op == "max_pool") return pool(node, table_.max_pool, false, node.outputs[1]);
    if (op == "max_pool_backward") return pool(node, table_.max_pool_backward, true, node.inputs[1]);
    if (op == "avg_pool") return pool(node, table_.avg_pool, false, std::nullopt);
    if (op == "avg_pool_backward") return pool(node, table_.avg_pool_backward, true, std::nullopt);
    if (op == "linear") return linear(node, Pass::kForward);
    if (op == "linear_backward_data") return linear(node, Pass::kBackwardData);
    if (op == "linear_backward_weight") return linear(node, Pass::kBackwardFilter);
    if (op == "softmax_cross_entropy") return loss(node, false);
    if (op == "softmax_cross_entropy_backward") return loss(node, true);
    throw Error("onednn: node '" + node.name + "' is of a kind it does not know");
  }

  struct Pack {
    ValueId parameter;
    dnnl::memory memory;
  };

  const Graph& graph_;
  const kernels::Table& table_;
  int threads_;
  Element compute_;
  ArenaLayout plan_;
  std::unique_ptr<Compiled> out_;
  std::vector<Home> homes_;
  std::vector<const Node*> producers_;
  std::vector<Pack> packs_;
  std::vector<std::pair<const Node*, Slot>> coefficients_;
  std::vector<Step> now_;    // of the node being compiled
  std::vector<Step> after_;  // and what follows them
};

}  // namespace

std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        const kernels::Table& table) {
  return Compiler(graph, options, table).run();
}

}  // namespace winnow::train::onednn
