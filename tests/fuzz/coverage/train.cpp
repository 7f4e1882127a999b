// The files that a run writes, and weights from elsewhere.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "common/checksum.h"
#include "common/error.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"
#include "tests/fuzz/coverage/seal.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/safetensors.h"
#include "train/nets/net_file.h"
#include "train/plan/run_plan.h"
#include "train/run/evaluations/out_of_fold.h"
#include "train/run/log/metrics.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/run_state.h"
#include "train/run/record/setup.h"

namespace winnow::fuzz {

using namespace train;

int fuzz_safetensors(BytesView input) {
  const std::vector<NamedTensor> tensors = parse_safetensors(input, "weights");
  std::size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) {
    bytes += tensor.data.size();
    try {
      f32_values(tensor);
    } catch (const FormatError&) {
      // The tensor is of another type.
    }
  }
  expect(bytes <= input.size(), "tensors are parts of the file");
  const Bytes written = to_safetensors(tensors, {});
  expect(to_safetensors(parse_safetensors(written, "again"), {}) == written,
         "weights are read as they were written");
  return 0;
}

int fuzz_run_state(BytesView input) {
  const RunState state = parse_state(std::string(as_text(input)), "state.json");
  const std::string text = to_text(state);
  expect(to_text(parse_state(text, "again")) == text, "a state is read as it was written");
  return 0;
}

int fuzz_plan(BytesView input) {
  const RunPlan plan = parse_plan(std::string(as_text(input)), "plan.json");
  if (plan.version > 1) {
    const std::string text = to_text(plan);
    expect(to_text(parse_plan(text, "again")) == text, "a plan is read as it was written");
  }
  compare_plans(plan, plan, true);
  return 0;
}

int fuzz_config(BytesView input) {
  const std::string text = seal_json(input);
  const StoredConfig config = parse_config(text, "config.json");
  config_facts(text);
  for (const int side_px : {config.setup.options.height_px, config.setup.options.width_px}) {
    expect(side_px >= 1 && side_px <= kMostSidePx, "sides of images are in their range");
  }
  geometry_of(config.setup);
  eval_recipe(config.eval_resize_px);
  trained_graph(config.setup);
  return 0;
}

int fuzz_net_file(BytesView input) {
  NetOptions images;
  images.mean = images.stddev = {0.5F, 0.5F, 0.5F};
  const Graph graph = make_net(parse_net(as_text(input), "my.toml"), images);
  expect(count(graph).parameters <= kMostParameters, "parameters are bounded");
  std::set<std::string> names;
  for (const ValueKind kind : {ValueKind::kParameter, ValueKind::kBuffer}) {
    for (const ValueId id : graph.of_kind(kind)) {
      expect(names.insert(graph.value(id).name).second, "tensors have names of their own");
    }
  }
  return 0;
}

int fuzz_metrics(BytesView input) {
  static const Folder folder;
  MetricsLog log(folder.write("metrics.jsonl", input), 100);
  expect(log.wall_before() >= 0, "a run took no time before it began");
  return 0;
}

// A checkpoint's manifest, next to files without tensors, as save_checkpoint() writes them.
int fuzz_checkpoint(BytesView input) {
  static const Folder folder;
  const Bytes nothing = to_safetensors({}, {});
  folder.write("step-2/model.safetensors", to_safetensors({}, {{"format", "pt"}}));
  folder.write("step-2/optimizer.safetensors", nothing);
  folder.write("step-2/state.json", nothing);
  folder.write("step-2/manifest.json", as_bytes(seal_json(input)));
  load_checkpoint(folder / "step-2");
  return 0;
}

// The .npy and .csv files, each preceded by its length, and the .json file, whose digests are
// corrected.
int fuzz_out_of_fold(BytesView input) {
  static const Folder folder;
  std::vector<BytesView> files;
  for (int i = 0; i < 2; ++i) {
    if (input.size() < 2) throw FormatError("it is cut short");
    const auto size = static_cast<std::size_t>(input[0]) + 256 * static_cast<std::size_t>(input[1]);
    input = input.subspan(2);
    files.push_back(input.first(std::min(size, input.size())));
    input = input.subspan(files.back().size());
  }
  std::string json(as_text(input));
  for (const std::string ending : {"npy", "csv"}) {
    const BytesView bytes = files[ending == "npy" ? 0 : 1];
    folder.write("out-of-fold." + ending, bytes);
    const std::string before = '"' + ending + "_xxh3_128\":\"";
    const std::size_t at = json.find(before);
    if (at != json.npos) json.replace(at + before.size(), 32, to_hex(xxh3_128(bytes)));
  }
  folder.write("out-of-fold.json", as_bytes(json));
  const OutOfFold predicted = read_out_of_fold(folder.path());
  const std::size_t classes = predicted.classes.size();
  expect(predicted.probabilities.size() == predicted.ids.size() * classes, "each has a row");
  for (std::size_t i = 0; i < predicted.ids.size(); ++i) {
    const auto row = predicted.row(i);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    expect(predicted.about.sigmoid ? sum <= static_cast<double>(classes) : std::abs(sum - 1) < 1e-3,
           "a row is of probabilities");
    expect(predicted.prediction(i) < static_cast<std::int64_t>(classes), "one of them is largest");
  }
  return 0;
}

}  // namespace winnow::fuzz
