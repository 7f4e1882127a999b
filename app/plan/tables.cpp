#include "app/plan/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/plan/plan_toml.h"
#include "common/json.h"

namespace winnow::app {
namespace {

char letter(How how) { return how_name(how)[0]; }

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6);
}

double kibibytes(std::size_t bytes) { return static_cast<double>(bytes) / 1024; }

// "1 h 23 min", "12.3 s", "45.6 ms".
std::string duration(double seconds) {
  if (seconds >= 48 * 3600) return fmt::format("{:.1f} days", seconds / 86'400);
  if (seconds >= 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} ms", 1e3 * seconds);
}

std::string row_head(const PlanReport& report, std::size_t i) {
  const PlanRow& row = report.rows[i];
  return fmt::format("{} {:>6} {:>7}", report.best == i ? "*" : " ", row.micro_batch,
                     fmt::format("{}x{}", row.memory.lanes, row.lane_threads));
}

std::string memory_table(const PlanReport& report) {
  std::string text = fmt::format("memory in MB, computed; there are {} MB for a rank\n",
                                 megabytes(report.available));
  text += fmt::format("  {:>6} {:>7} {:>8}  {:<10}", "micro", "lanes", "peak", "at");
  for (const auto& [name, bytes] : report.rows.front().parts.parts) {
    text += fmt::format(" {:>10}", name);
  }
  text += "\n";
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    text += fmt::format("{} {:>8}  {:<10}", row_head(report, i), megabytes(row.memory.peak),
                        row.fits ? std::string(train::peak_name(row.parts.at)) : "too much");
    for (const auto& [name, bytes] : row.parts.parts) {
      text += fmt::format(" {:>10}", megabytes(bytes));
    }
    text += "\n";
  }
  return text;
}

bool has_times(const PlanReport& report) {
  for (const PlanRow& row : report.rows) {
    if (row.step) return true;
  }
  return false;
}

std::string time_table(const PlanReport& report) {
  std::string text =
      fmt::format("a step of {} images in ms; m measured, s scaled\n", report.rank_images);
  text += fmt::format("  {:>6} {:>7} {:>9}   {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}\n",
                      "micro", "lanes", "step", "forward", "backward", "sums", "update", "data",
                      "ranks", "idle", "images/s");
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    if (!row.step) continue;
    const train::StepSeconds& s = *row.step;
    text += fmt::format(
        "{} {:>9.1f} {} {:>9.1f} {:>9.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} "
        "{:>9.1f}{}\n",
        row_head(report, i), 1e3 * s.total(), letter(row.step_how), 1e3 * s.forward,
        1e3 * s.backward, 1e3 * s.sums, 1e3 * s.update, 1e3 * s.data, 1e3 * s.ranks, 1e3 * s.idle,
        row.images_per_second(report.rank_images * report.ranks),
        row.remark.empty() ? "" : "  " + row.remark);
  }
  return text;
}

std::string run_lines(const PlanTime& time) {
  return fmt::format(
      "an epoch: {} of steps, {} of evaluation, {} of checkpoints\n"
      "the run: {} epochs and {} to start, {} ({} to {})\n",
      duration(time.steps), duration(time.evaluation), duration(time.checkpoint),
      fmt::format("{:g}", time.epochs), duration(time.start), duration(time.run()),
      duration(time.range.least), duration(time.range.most));
}

std::string hosts_table(const PlanScaling& scaling) {
  std::string text =
      fmt::format("machines with one rank each, by {} ({:.2f} Gbit/s, {:.1f} us); computed\n",
                  scaling.network.source, 8e-9 * scaling.network.bytes_per_second,
                  1e6 * scaling.network.latency_seconds);
  text += fmt::format("  {:>6} {:>10} {:>9} {:>11} {:>10} {:>7} {:>7} {:>12} {:>9} {:>8}\n",
                      "hosts", "images/s", "step", "all-reduce", "exposed", "eff.", "lemma", "run",
                      "price", "servers");
  for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
    const PlanHosts& row = scaling.rows[i];
    const char* const mark = i == scaling.knee ? "*" : " ";
    if (!row.step) {
      text += fmt::format("{} {:>6} more machines than micro-batches\n", mark, row.hosts);
      continue;
    }
    text += fmt::format(
        "{} {:>6} {:>10.1f} {:>9} {:>11} {:>10} {:>6.1f}% {:>6.1f}% {:>12} {:>9} {:>8}\n", mark,
        row.hosts, row.images_per_second, duration(row.step->total()),
        duration(row.all_reduce_seconds), duration(row.step->ranks), 100 * row.efficiency,
        100 * row.lemma_efficiency, duration(row.run_seconds),
        row.price ? fmt::format("{:.2f}", *row.price) : "-", row.parameter_servers);
  }
  text += fmt::format("overhead of one machine R_O = {:.4f}; ", scaling.overhead);
  text += scaling.most ? fmt::format("by the lemma {:.0f} % allow {} machines",
                                     100 * scaling.wished_efficiency, *scaling.most)
                       : std::string("by the lemma any number of machines is efficient");
  if (scaling.needed_overhead) {
    text +=
        fmt::format("; {} need R_O = {:.5f}", scaling.rows.back().hosts, *scaling.needed_overhead);
  }
  text += "\n";
  if (scaling.network.hiding_bytes_per_second) {
    text +=
        fmt::format("on {} machines {:.2f} Gbit/s would hide all communication but a hundredth\n",
                    scaling.network.hiding_hosts, 8e-9 * *scaling.network.hiding_bytes_per_second);
  } else if (scaling.network.hiding_hosts > 1) {
    text +=
        fmt::format("on {} machines no rate would hide all communication: latency alone shows\n",
                    scaling.network.hiding_hosts);
  }
  return text;
}

std::string target_table(const PlanTarget& target) {
  std::string text = fmt::format(
      "steps to {} by the batch B: S_min {:.0f} ({:.0f} to {:.0f}) + E_min {:.0f} ({:.0f} to "
      "{:.0f}) / B\n",
      target.target, target.fit.least_steps, target.fit.steps_range.least,
      target.fit.steps_range.most, target.fit.least_examples, target.fit.examples_range.least,
      target.fit.examples_range.most);
  text += std::isfinite(target.critical_batch)
              ? fmt::format("critical batch E_min / S_min = {:.0f}\n", target.critical_batch)
              : std::string("no critical batch: steps fall as fast as the batch grows\n");
  text += fmt::format("  {:>8} {:>9} {:>21} {:>12} {:>9}\n", "batch", "steps", "range", "time",
                      "price");
  for (const PlanBatch& row : target.rows) {
    text +=
        fmt::format("  {:>8} {:>9.0f} {:>21} {:>12} {:>9}\n", row.batch, row.steps,
                    fmt::format("{:.0f} to {:.0f}", row.steps_range.least, row.steps_range.most),
                    row.seconds ? duration(*row.seconds) : "-",
                    row.price ? fmt::format("{:.2f}", *row.price) : "-");
  }
  return text;
}

std::string kernel_table(const PlanKernels& kernels) {
  std::size_t width = 0;
  for (const PlanLayer& row : kernels.layers) {
    width = std::max({width, row.own.name.size(), row.chosen.name.size()});
  }
  std::string text = fmt::format(
      "kernels of the best row, for a micro-batch on one lane; {}\n"
      "  {:>5}  {:<{}} {:>9} {:>9}  {:<{}} {:>9} {:>9}  {}\n",
      kernels.kept ? "measured by an earlier plan" : "measured", "nodes", "library's", width, "ms",
      "KiB", "chosen", width, "ms", "KiB", "layer and pass");
  const auto cells = [&](const PlanKernel& kernel) {
    return fmt::format("{:<{}} {:>9.3f} {:>9.1f}", kernel.name, width, 1e3 * kernel.seconds,
                       kibibytes(kernel.scratch_bytes));
  };
  for (const PlanLayer& row : kernels.layers) {
    text += fmt::format("{} {:>5}  {}  {}  {}\n", row.chosen.name != row.own.name ? "*" : " ",
                        row.nodes, cells(row.own), cells(row.chosen), row.layer);
  }
  const auto sum = [&](PlanKernel PlanLayer::*which) {
    return PlanKernel{"", kernels.seconds(which), kernels.scratch_bytes(which)};
  };
  text += fmt::format(
      "  {:>5}  {}  {}  all layers; they share scratch memory, at most {:.1f} KiB\n", "sum",
      cells(sum(&PlanLayer::own)), cells(sum(&PlanLayer::chosen)), kibibytes(kernels.room_bytes));
  return text;
}

Json figure(double value, How how) { return {{"value", value}, {"how", how_name(how)}}; }

Json json_of(const train::StepSeconds& s, How how) {
  return {{"how", how_name(how)},     {"total_s", s.total()}, {"forward_s", s.forward},
          {"backward_s", s.backward}, {"sums_s", s.sums},     {"update_s", s.update},
          {"data_s", s.data},         {"ranks_s", s.ranks},   {"idle_s", s.idle}};
}

Json json_of(const PlanReport& report, const PlanRow& row) {
  Json parts = Json::object();
  for (const auto& [name, bytes] : row.parts.parts) parts[std::string(name)] = bytes;
  Json json{{"micro_batch", row.micro_batch},
            {"lanes", row.memory.lanes},
            {"lane_threads", row.lane_threads},
            {"batches_ahead", row.memory.batches_ahead},
            {"fits", row.fits},
            {"allowed", row.is_allowed},
            {"memory",
             {{"how", "computed"},
              {"peak_bytes", row.memory.peak},
              {"at", train::peak_name(row.parts.at)},
              {"parts", parts}}},
            {"step", nullptr},
            {"images_per_second", nullptr}};
  if (row.step) {
    json["step"] = json_of(*row.step, row.step_how);
    json["images_per_second"] =
        figure(row.images_per_second(report.rank_images * report.ranks), row.step_how);
  }
  if (!row.remark.empty()) json["remark"] = row.remark;
  return json;
}

Json json_of(const PlanTime& time) {
  return {{"start_s", figure(time.start, How::kMeasured)},
          {"steps_s", figure(time.steps, How::kScaled)},
          {"evaluation_s", figure(time.evaluation, How::kScaled)},
          {"checkpoint_s", figure(time.checkpoint, How::kComputed)},
          {"epoch_s", figure(time.epoch(), How::kScaled)},
          {"epochs", time.epochs},
          {"run_s", figure(time.run(), How::kScaled)},
          {"run_range_s", {time.range.least, time.range.most}}};
}

Json json_of(const PlanHosts& row) {
  Json json{{"hosts", row.hosts}, {"step", nullptr}};
  if (!row.step) return json;
  json["step"] = json_of(*row.step, How::kComputed);
  json["images_per_second"] = row.images_per_second;
  json["efficiency"] = row.efficiency;
  json["lemma_efficiency"] = row.lemma_efficiency;
  json["overhead"] = row.overhead;
  json["all_reduce_s"] = row.all_reduce_seconds;
  json["bucket_bytes"] = row.bucket_bytes;
  json["run_s"] = row.run_seconds;
  json["price"] = row.price;
  json["parameter_servers"] = row.parameter_servers;
  return json;
}

Json json_of(const PlanScaling& scaling) {
  Json rows = Json::array();
  for (const PlanHosts& row : scaling.rows) rows.push_back(json_of(row));
  return {{"network",
           {{"source", scaling.network.source},
            {"bytes_per_second", scaling.network.bytes_per_second},
            {"latency_s", scaling.network.latency_seconds}}},
          {"overhead", scaling.overhead},
          {"wished_efficiency", scaling.wished_efficiency},
          {"most_machines", scaling.most},
          {"needed_overhead", scaling.needed_overhead},
          {"hiding_hosts", scaling.network.hiding_hosts},
          {"hiding_bytes_per_second", scaling.network.hiding_bytes_per_second},
          {"knee", scaling.knee},
          {"rows", rows}};
}

Json json_of(const PlanTarget& target) {
  const auto range = [](const Interval& interval) { return Json{interval.least, interval.most}; };
  Json rows = Json::array();
  for (const PlanBatch& row : target.rows) {
    rows.push_back({{"batch", row.batch},
                    {"steps", row.steps},
                    {"steps_range", range(row.steps_range)},
                    {"seconds", row.seconds},
                    {"price", row.price}});
  }
  const bool finite = std::isfinite(target.critical_batch);
  return {{"target", target.target},
          {"least_steps", target.fit.least_steps},
          {"least_steps_range", range(target.fit.steps_range)},
          {"least_examples", target.fit.least_examples},
          {"least_examples_range", range(target.fit.examples_range)},
          {"critical_batch", finite ? Json(target.critical_batch) : Json()},
          {"rows", rows}};
}

Json json_of(const PlanKernel& kernel) {
  return {{"kernel", kernel.name},
          {"seconds", kernel.seconds},
          {"scratch_bytes", kernel.scratch_bytes}};
}

Json json_of(const PlanKernels& kernels) {
  Json layers = Json::array();
  for (const PlanLayer& row : kernels.layers) {
    layers.push_back({{"layer", row.layer},
                      {"nodes", row.nodes},
                      {"own", json_of(row.own)},
                      {"chosen", json_of(row.chosen)}});
  }
  return {{"how", how_name(How::kMeasured)},
          {"kept", kernels.kept},
          {"layers", layers},
          {"own_seconds", kernels.seconds(&PlanLayer::own)},
          {"seconds", kernels.seconds(&PlanLayer::chosen)},
          {"own_scratch_bytes", kernels.scratch_bytes(&PlanLayer::own)},
          {"scratch_bytes", kernels.scratch_bytes(&PlanLayer::chosen)},
          {"room_bytes", kernels.room_bytes}};
}

}  // namespace

const char* how_name(How how) noexcept {
  switch (how) {
    case How::kMeasured:
      return "measured";
    case How::kScaled:
      return "scaled";
    case How::kComputed:
      return "computed";
  }
  return "";
}

std::string tables_of(const PlanReport& report) {
  std::string text =
      fmt::format("{} at {} px, {} images an epoch, batch {}, {} rank{} with {} core{}\n\n",
                  report.net, report.side_px, report.images, report.batch, report.ranks,
                  report.ranks == 1 ? "" : "s", report.cores, report.cores == 1 ? "" : "s");
  text += memory_table(report);
  if (has_times(report)) text += "\n" + time_table(report);
  if (report.time) text += "\n" + run_lines(*report.time);
  if (report.scaling) text += "\n" + hosts_table(*report.scaling);
  if (report.target) text += "\n" + target_table(*report.target);
  if (report.kernels) text += "\n" + kernel_table(*report.kernels);
  if (!report.flags.empty()) text += "\nflags: " + words_of(report.flags) + "\n";
  return text;
}

Json json_of(const PlanReport& report) {
  Json rows = Json::array();
  for (const PlanRow& row : report.rows) rows.push_back(json_of(report, row));
  Json flags = Json::array();
  for (const auto& [name, value] : report.flags)
    flags.push_back({{"flag", name}, {"value", value}});
  return {{"schema", "winnow.plan/1"},
          {"net", report.net},
          {"side_px", report.side_px},
          {"images", report.images},
          {"evaluation_images", report.evaluation_images},
          {"batch", report.batch},
          {"micro_batch", report.micro_batch},
          {"ranks", report.ranks},
          {"cores", report.cores},
          {"machine", report.machine},
          {"available_bytes", report.available},
          {"others_cores", report.others_cores},
          {"measured_steps", report.measured_steps},
          {"kept_steps", report.kept_steps},
          {"largest_micro_batch", report.largest_micro_batch},
          {"rows", rows},
          {"best", report.best ? Json(*report.best) : Json()},
          {"time", report.time ? json_of(*report.time) : Json()},
          {"scaling", report.scaling ? json_of(*report.scaling) : Json()},
          {"target", report.target ? json_of(*report.target) : Json()},
          {"kernels", report.kernels ? json_of(*report.kernels) : Json()},
          {"flags", flags},
          {"notes", report.notes}};
}

}  // namespace winnow::app
