#include <algorithm>
#include <string>

#include "tests/gpu/stages.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/cudnn/program.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

using Compare = std::vector<Deviation> (*)(Backend&, const CompileOptions&);

// The worst row of a table, as a share of its tolerance.
void add_table(Report& report, const std::string& item, const std::vector<Deviation>& rows) {
  const auto share = [](const Deviation& d) {
    return d.limit > 0 ? d.error / d.limit : d.error > 0 ? 1e9 : 0;
  };
  const auto worst = std::ranges::max_element(rows, {}, share);
  const auto outside =
      std::ranges::count_if(rows, [](const Deviation& d) { return !d.is_within(); });
  std::string note;
  for (const Deviation& row : rows) {
    if (row.is_within() || note.size() > 2000) continue;
    note += (note.empty() ? "" : "; ") + row.what + " " + std::to_string(row.error);
  }
  report.add(item, outside == 0 && !rows.empty(),
             {{"compared", static_cast<double>(rows.size())},
              {"outside", static_cast<double>(outside)},
              {"worst_share_of_tolerance", rows.empty() ? 0 : share(*worst)}},
             note);
}

// Two programs and two runs of each: with deterministic plans the same bits.
bool repeats_to_the_bit(Backend& backend, DType dtype) {
  const Graph graph = training_graph("resnet20", 32, 32, 3);
  const Inputs inputs = random_inputs(graph, 21);
  const CompileOptions options{.compute = dtype, .deterministic = true};
  Running first(backend, graph, inputs, options);
  first.run();
  const auto want = first.outputs();
  for (int i = 0; i < 5; ++i) {
    first.run();
    if (first.outputs() != want) return false;
  }
  Running second(backend, graph, inputs, options);
  second.run();
  return second.outputs() == want;
}

}  // namespace

void operations_stage(std::shared_ptr<cudnn::Device> device, Report& report) {
  const auto backend = make_cudnn_backend(device);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const std::string item = std::string(dtype_name(dtype)) + " operations";
    report.run(item,
               [&] { add_table(report, item, compare_operations(*backend, {.compute = dtype})); });
  }
}

void conformance_stage(std::shared_ptr<cudnn::Device> device, Report& report) {
  const auto backend = make_cudnn_backend(device);
  const std::pair<const char*, Compare> tables[] = {{"operations", compare_operations},
                                                    {"wide layers", compare_wide_layers},
                                                    {"storages", compare_storages},
                                                    {"nets", compare_nets}};
  for (const DType dtype : {DType::kF32, DType::kTf32, DType::kBF16, DType::kF16}) {
    for (const bool deterministic : {false, true}) {
      const CompileOptions options{.compute = dtype, .deterministic = deterministic};
      const std::string kind =
          std::string(dtype_name(dtype)) + (deterministic ? " deterministic " : " ");
      for (const auto& [name, compare] : tables) {
        const std::string item = kind + name;
        report.run(item,
                   [&, compare = compare] { add_table(report, item, compare(*backend, options)); });
      }
    }
    const std::string item = std::string(dtype_name(dtype)) + " the same bits twice";
    report.run(item, [&] { report.add(item, repeats_to_the_bit(*backend, dtype), {}, ""); });
  }
}

}  // namespace winnow::gpu
