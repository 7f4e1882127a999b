#include <algorithm>
#include <functional>
#include <string>

#include "tests/gpu/plans.h"
#include "tests/gpu/stages.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/cudnn/program.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

using Compare = std::function<std::vector<Deviation>(Backend&, const CompileOptions&)>;

constexpr DType kTypes[] = {DType::kF32, DType::kTf32, DType::kBF16, DType::kF16};

double share_of(const Deviation& d) {
  return d.limit > 0 ? d.error / d.limit : d.error > 0 ? 1e9 : 0;
}

// The largest share that a row takes of its tolerance.
double worst_share(const std::vector<Deviation>& rows) {
  double worst = 0;
  for (const Deviation& row : rows) worst = std::max(worst, share_of(row));
  return worst;
}

// A table by some kind of plans.
struct Compared {
  std::vector<Deviation> rows;
  Plans plans;

  double outside() const {
    return static_cast<double>(
        std::ranges::count_if(rows, [](const Deviation& d) { return !d.is_within(); }));
  }
  std::string note() const {
    std::string text;
    for (const Deviation& row : rows) {
      if (row.is_within() || text.size() > 2000) continue;
      text += (text.empty() ? "" : "; ") + row.what + " " + std::to_string(row.error);
    }
    return text;
  }
};

class Conformance {
 public:
  Conformance(std::shared_ptr<cudnn::Device> device, Report& report)
      : device_(std::move(device)),
        recorder_(std::make_shared<RecordingDevice>(device_)),
        backend_(make_cudnn_backend(recorder_)),
        report_(report) {}

  // One item: by any plans, and by deterministic ones.
  void table(const std::string& name, DType dtype, const Compare& compare) {
    const std::string item = std::string(dtype_name(dtype)) + " " + name;
    report_.run(item, [&] {
      const Compared any = run(compare, dtype, false);
      const Compared same = run(compare, dtype, true);
      report_.add(item, any.outside() + same.outside() == 0 && !any.rows.empty(),
                  {{"compared", static_cast<double>(any.rows.size())},
                   {"outside", any.outside() + same.outside()},
                   {"worst_share_of_tolerance", worst_share(any.rows)},
                   {"deterministic_worst_share", worst_share(same.rows)}},
                  any.note() + same.note(),
                  {{"plans", in_words(any.plans)},
                   {"deterministic_plans", compared(any.plans, same.plans)}});
    });
  }

  void tf32() {
    const std::string item = "tf32 rounds on tensor cores";
    report_.run(item, [&] {
      const std::vector<RoundedLayer> layers = tf32_layers(device_);
      const Verdict verdict = judge_tf32(layers);
      Figures figures{{"layers", static_cast<double>(layers.size())},
                      {"on_tensor_cores", static_cast<double>(std::ranges::count_if(
                                              layers, &RoundedLayer::tensor_cores))}};
      for (const RoundedLayer& layer : layers) {
        figures.emplace_back(layer.name + " f32", layer.f32_error);
        figures.emplace_back(layer.name + (layer.tensor_cores ? " tf32" : " tf32, no tensor cores"),
                             layer.tf32_error);
      }
      report_.add(item, verdict.passed, figures, verdict.note);
    });
  }

  // Two programs and two runs of each: with deterministic plans the same bits.
  void repeats(DType dtype) {
    const std::string item = std::string(dtype_name(dtype)) + " the same bits twice";
    report_.run(item, [&] { report_.add(item, repeats_to_the_bit(dtype), {}, ""); });
  }

 private:
  Compared run(const Compare& compare, DType dtype, bool deterministic) {
    recorder_->take();
    Compared result;
    result.rows = compare(*backend_, {.compute = dtype, .deterministic = deterministic});
    result.plans = plans_of(recorder_->take());
    return result;
  }

  bool repeats_to_the_bit(DType dtype) {
    const Graph graph = training_graph("resnet20", 32, 32, 3);
    const Inputs inputs = random_inputs(graph, 21);
    const CompileOptions options{.compute = dtype, .deterministic = true};
    Running first(*backend_, graph, inputs, options);
    first.run();
    const auto want = first.outputs();
    for (int i = 0; i < 5; ++i) {
      first.run();
      if (first.outputs() != want) return false;
    }
    Running second(*backend_, graph, inputs, options);
    second.run();
    return second.outputs() == want;
  }

  std::shared_ptr<cudnn::Device> device_;
  std::shared_ptr<RecordingDevice> recorder_;
  std::unique_ptr<Backend> backend_;
  Report& report_;
};

}  // namespace

void operations_stage(std::shared_ptr<cudnn::Device> device, Report& report,
                      std::span<const DType> types) {
  const auto backend = make_cudnn_backend(device);
  for (const DType dtype : types) {
    const std::string item = std::string(dtype_name(dtype)) + " operations";
    report.run(item, [&] {
      const Compared found{.rows = compare_operations(*backend, {.compute = dtype}), .plans = {}};
      report.add(item, found.outside() == 0 && !found.rows.empty(),
                 {{"compared", static_cast<double>(found.rows.size())},
                  {"outside", found.outside()},
                  {"worst_share_of_tolerance", worst_share(found.rows)}},
                 found.note());
    });
  }
}

// Checks that never ran before come first, because the time may be up before the last.
void conformance_stage(std::shared_ptr<cudnn::Device> device, Report& report) {
  Conformance conformance(std::move(device), report);
  conformance.tf32();
  for (const DType dtype : kTypes) {
    conformance.table("wide products", dtype, compare_wide_products);
  }
  for (const NetCase& net : kDeepNets) {
    std::unique_ptr<DeepNet> deep;  // made when first needed, as the reference takes its time
    const Compare compare = [&](Backend& backend, const CompileOptions& options) {
      if (deep == nullptr) deep = std::make_unique<DeepNet>(net);
      return deep->deviations(backend, options);
    };
    for (const DType dtype : kTypes) conformance.table(net.net, dtype, compare);
  }
  const std::pair<const char*, Compare> tables[] = {{"operations", compare_operations},
                                                    {"wide layers", compare_wide_layers},
                                                    {"storages", compare_storages},
                                                    {"nets", compare_nets}};
  for (const DType dtype : kTypes) {
    for (const auto& [name, compare] : tables) conformance.table(name, dtype, compare);
    conformance.repeats(dtype);
  }
}

}  // namespace winnow::gpu
