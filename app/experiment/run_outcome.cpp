#include "app/experiment/run_outcome.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "common/checksum.h"
#include "common/file.h"
#include "common/json.h"
#include "common/simd.h"
#include "common/system_field.h"
#include "train/run/log/metrics.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

RunCost cost_by(const std::vector<train::MetricsRow>& rows) {
  RunCost cost;
  for (const train::MetricsRow& row : rows) {
    cost.seconds = std::max(cost.seconds, row.wall);
    const auto peak = row.values.find("memory.peak");
    if (peak == row.values.end()) continue;
    cost.peak_bytes = std::max(cost.peak_bytes, static_cast<std::uint64_t>(peak->second));
  }
  return cost;
}

// For each class: number of correct images, number of images.
Json hits_by_class(const train::StoredEvaluation& evaluation) {
  std::vector<std::array<std::uint64_t, 2>> hits(evaluation.classes.size());
  for (const auto& cell : evaluation.confusion) {
    auto& [right, images] = hits.at(static_cast<std::size_t>(cell.label));
    images += cell.samples;
    if (cell.label == cell.prediction) right += cell.samples;
  }
  return hits;
}

std::string machine() {
  constexpr std::array kNames{"no vectors", "AVX2", "AVX-512"};
  return fmt::format("{}, {} cores, {}", processor_name(), ::sysconf(_SC_NPROCESSORS_ONLN),
                     kNames.at(static_cast<std::size_t>(widest_simd())));
}

}  // namespace

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code gone;  // a run that ends removes its last checkpoint but one
  for (fs::recursive_directory_iterator file(folder, gone), end; !gone && file != end;
       file.increment(gone)) {
    std::error_code unknown;
    const std::uint64_t size = file->is_regular_file(unknown) ? file->file_size(unknown) : 0;
    if (!unknown) bytes += size;
  }
  return bytes;
}

Outcome outcome_of_run(const Claim& claim, const JsonReader& printed) {
  const fs::path run = claim.folder() / "run";
  const std::vector<train::MetricsRow> rows = train::read_metrics(run / "metrics.jsonl");
  // A row leaves out values that are not finite.
  const auto judged = std::ranges::find_if(
      rows.rbegin(), rows.rend(),
      [](const train::MetricsRow& row) { return row.values.contains("val.top1"); });
  if (judged == rows.rend() || !judged->values.contains("val.loss")) {
    return {.failed = true, .text = "the loss on the hold-out is not finite"};
  }
  const RunCost cost = cost_by(rows);
  Json json{{"top1", printed.at("top1").real(0, 1)},
            {"loss", judged->values.at("val.loss")},
            {"steps", judged->step},
            {"seconds", cost.seconds},
            {"peak_bytes", cost.peak_bytes},
            {"disk_bytes", bytes_below(run)}};
  const fs::path evaluation = run / "evaluation.json";
  const train::StoredEvaluation stored =
      train::parse_evaluation(read_text(evaluation), evaluation.string());
  json["classes"] = hits_by_class(stored);
  json["right"] = stored.right;
  json["program"] = to_hex(xxh3_128(InputFile("/proc/self/exe")));
  json["machine"] = machine();
  return {.failed = false, .text = json.dump()};
}

std::optional<RunCost> cost_of(const Outcome& outcome) {
  if (outcome.failed) return std::nullopt;
  const JsonReader result(outcome.text, {.name = "the result of a run"});
  if (!result.has("disk_bytes")) return std::nullopt;
  return RunCost{.seconds = result.at("seconds").real_from_0(),
                 .peak_bytes = result.at("peak_bytes").number(),
                 .disk_bytes = result.at("disk_bytes").number()};
}

}  // namespace winnow::app
