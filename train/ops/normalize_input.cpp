#include "train/ops/normalize_input.h"

#include <string>

#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  const auto& normalize = *attributes.find<NormalizeAttributes>();
  return " mean=" + list_text(normalize.mean) + " deviation=" + list_text(normalize.stddev);
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  in.arity(1);
  const auto& normalize = in.attributes<NormalizeAttributes>();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kU8);
  const auto size = [](const std::vector<float>& v) { return static_cast<std::int64_t>(v.size()); };
  in.extent("the number of means", size(normalize.mean), x[1]);
  in.extent("the number of standard deviations", size(normalize.stddev), x[1]);
  for (const float stddev : normalize.stddev) {
    if (!(stddev > 0)) {
      in.fail("a standard deviation is " + std::to_string(stddev) + ", must be > 0");
    }
  }
  return {in.computed(x)};
}

void forward(const ReferenceOperands& o) {
  const auto& normalize = o.attributes<NormalizeAttributes>();
  for (std::size_t i = 0; i < o.in(0).size(); ++i) {
    const std::size_t c = i % normalize.mean.size();
    o.out(0)[i] = (o.in(0)[i] / 255 - normalize.mean[c]) / normalize.stddev[c];
  }
}

void add_case(CaseTable& table, const std::string& name, const Shape& shape) {
  CaseMaker pixels = table.begin();
  NormalizeAttributes a;
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    a.mean.push_back(0.3F + 0.1F * static_cast<float>(c));
    a.stddev.push_back(0.2F + 0.05F * static_cast<float>(c));
  }
  const ValueId x = pixels.leaf("pixels", shape, pixels.whole_numbers(shape, 256),
                                ValueKind::kInput, Storage::kU8);
  table.keep(std::move(pixels).finish("normalize_input_" + name, kNormalizeInput, {x}, a));
}

void cases(CaseTable& table) {
  add_case(table, "colour", {2, 3, 5, 7});
  add_case(table, "grey", {3, 1, 4, 4});
}

}  // namespace

const Operation kNormalizeInput = {.name = "normalize_input",
                                   .infer = infer_forward,
                                   .reference = forward,
                                   .text = text,
                                   .checks = {.cases = cases}};

}  // namespace winnow::train
