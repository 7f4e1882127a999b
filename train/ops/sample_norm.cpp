#include "train/ops/sample_norm.h"

#include <utility>
#include <vector>

namespace winnow::train {

void append_sample_norm_gradient(GradientBuilder& builder, const Node& node,
                                 const Operation& backward) {
  const auto made = builder.append(backward, "backward",
                                   {node.inputs[0], node.inputs[1], node.outputs[1],
                                    node.outputs[2], builder.gradient_of(node.outputs[0])},
                                   node.attributes);
  builder.add_gradient(node.inputs[1], made[1]);
  builder.add_gradient(node.inputs[2], made[2]);
  builder.add_gradient(node.inputs[0], made[0]);
}

void add_sample_norm_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                           const SampleNormCase& wanted) {
  const Shape& x = wanted.x;
  const Shape channels = {x[1]};
  const auto named = [&](const Operation& op) { return std::string(op.name) + "_" + wanted.name; };
  CaseMaker made = table.begin();
  const std::vector<ValueId> inputs = {made.data("x", x), made.parameter("scale", channels),
                                       made.parameter("shift", channels)};
  const OpCase first =
      table.keep(std::move(made).finish(named(forward), forward, inputs, wanted.attributes));

  const auto values = computed_values(first);
  const auto value = [&](const char* of) {
    return values[static_cast<std::size_t>(first.graph.find(of))];
  };
  CaseMaker second = table.begin();
  const std::vector<ValueId> second_inputs = {
      second.leaf("x", x, value("x"), ValueKind::kInput, Storage::kCompute),
      second.leaf("scale", channels, value("scale"), ValueKind::kParameter),
      second.leaf("mean", wanted.statistics, as_f32(value("y.mean"))),
      second.leaf("variance", wanted.statistics, as_f32(value("y.variance"))),
      second.data("dy", x)};
  table.keep(std::move(second).finish(named(backward), backward, second_inputs, wanted.attributes));
}

}  // namespace winnow::train
