#include "app/metrics/exposition.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "common/utf8.h"

namespace winnow::app {
namespace {

using train::RankFigures;

// A metric of the whole run, by its name in metrics.jsonl.
struct RunMetric {
  std::string_view key;
  std::string_view name;
  std::string_view help;
  bool is_counter = false;
};
constexpr std::array<RunMetric, 8> kRunMetrics{{
    {"train.lr", "winnow_learning_rate", "Learning rate of the last step"},
    {"train.total_ips", "winnow_images_per_second",
     "Images per second in the last interval, all ranks together"},
    {"train.gradient_norm", "winnow_gradient_norm", "L2 norm of the gradients of the last step"},
    {"train.weight_norm", "winnow_weight_norm", "L2 norm of all parameters"},
    {"train.loss_scale", "winnow_loss_scale", "What gradients of the next step are computed times"},
    {"ranks.slowest", "winnow_slowest_rank",
     "Rank whose own part of the steps took longest in the last interval"},
    {"checkpoint.held_time", "winnow_checkpoint_held_seconds_total",
     "Seconds that steps were held up by checkpoints", true},
    {"checkpoint.cpu_time", "winnow_checkpoint_cpu_seconds_total",
     "Seconds of one core that writing checkpoints took beside the steps", true},
}};

// A metric of a split: train.loss, val_ema.top1.
struct SplitMetric {
  std::string_view key;  // name after the split
  std::string_view name;
  std::string_view help;
};
constexpr std::array<SplitMetric, 5> kSplitMetrics{{
    {"loss", "winnow_loss", "Loss of a split; of train the mean over the last interval"},
    {"top1", "winnow_top1_ratio", "Accuracy on a split"},
    {"top5", "winnow_top5_ratio", "Share whose label is among the five largest logits"},
    {"map", "winnow_mean_average_precision_ratio", "Mean average precision over the classes"},
    {"top1_leak_free", "winnow_top1_leak_free_ratio",
     "Accuracy without images that have a duplicate in training"},
}};
constexpr std::array<std::string_view, 5> kSplits{"train", "val", "test", "val_ema", "test_ema"};

struct RankMetric {
  double RankFigures::*value;
  bool is_counter;
  std::string_view name;
  std::string_view help;
};
constexpr std::array<RankMetric, 7> kRankMetrics{{
    {&RankFigures::compute, true, "winnow_rank_compute_seconds_total",
     "Seconds that steps took a rank, without its waits for others"},
    {&RankFigures::data_wait, true, "winnow_rank_data_wait_seconds_total",
     "Seconds that steps of a rank waited for their batch"},
    {&RankFigures::exposed, true, "winnow_rank_exposed_communication_seconds_total",
     "Seconds that steps of a rank waited for other ranks"},
    {&RankFigures::reduction, true, "winnow_rank_reduction_seconds_total",
     "Seconds that a rank added up and moved what all-reduces brought"},
    {&RankFigures::received, true, "winnow_rank_received_bytes_total",
     "Bytes of messages that a rank got: gradients, and records from other machines"},
    {&RankFigures::sent, true, "winnow_rank_sent_bytes_total",
     "Bytes of messages that a rank sent"},
    {&RankFigures::memory, false, "winnow_rank_memory_peak_bytes",
     "Bytes of memory that a rank held at most"},
}};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : to_utf8(text)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

// Writes metrics in order, all series of one together.
class Writer {
 public:
  explicit Writer(const std::string& run) : run_(escaped(run)) {}

  void begin(std::string_view name, bool is_counter, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                         is_counter ? "counter" : "gauge");
  }
  // `labels` begin with a comma.
  void series(double value, const std::string& labels = {}) {
    text_ += fmt::format("{}{{run=\"{}\"{}}} {}\n", name_, run_, labels, number(value));
  }
  void one(std::string_view name, bool is_counter, std::string_view help, double value) {
    begin(name, is_counter, help);
    series(value);
  }
  std::string take() { return std::move(text_); }

 private:
  const std::string run_;
  std::string_view name_;
  std::string text_;
};

void write_run(Writer& out, const MetricsState& state) {
  out.one("winnow_steps_total", true, "Steps that the run has done",
          static_cast<double>(state.last.step));
  out.one("winnow_epochs", false, "Epochs that the run has done", state.last.epoch);
  out.one("winnow_training_seconds_total", true, "Seconds that the run has trained",
          state.last.wall);
  out.one("winnow_last_line_timestamp_seconds", false,
          "When the run last wrote its metrics, Unix time", state.unix_time);
  for (const RunMetric& metric : kRunMetrics) {
    const auto value = state.newest.find(std::string(metric.key));
    if (value != state.newest.end())
      out.one(metric.name, metric.is_counter, metric.help, value->second);
  }
}

void write_splits(Writer& out, const MetricsState& state) {
  for (const SplitMetric& metric : kSplitMetrics) {
    bool begun = false;
    for (const std::string_view split : kSplits) {
      const auto value = state.newest.find(fmt::format("{}.{}", split, metric.key));
      if (value == state.newest.end()) continue;
      if (!std::exchange(begun, true)) out.begin(metric.name, false, metric.help);
      out.series(value->second, fmt::format(",split=\"{}\"", split));
    }
  }
}

void write_ranks(Writer& out, const MetricsState& state) {
  const auto labels = [&](std::size_t rank) {
    return fmt::format(",rank=\"{}\",host=\"{}\"", rank, escaped(state.hosts[rank]));
  };
  if (state.ranks.empty()) return;
  for (const RankMetric& metric : kRankMetrics) {
    out.begin(metric.name, metric.is_counter, metric.help);
    for (std::size_t rank = 0; rank < state.ranks.size(); ++rank) {
      out.series(state.ranks[rank].*metric.value, labels(rank));
    }
  }
  bool begun = false;
  for (std::size_t rank = 0; rank < state.ranks.size(); ++rank) {
    const std::optional<double> temperature = state.ranks[rank].temperature;
    if (!temperature) continue;
    if (!std::exchange(begun, true)) {
      out.begin("winnow_rank_temperature_celsius", false, "Temperature of the card of a rank");
    }
    out.series(*temperature, labels(rank));
  }
}

}  // namespace

void enter(MetricsState& state, const train::LoggedLine& line, double unix_time) {
  if (line.run != state.run) state = {.run = line.run};
  state.last = {.step = line.row.step, .epoch = line.row.epoch, .wall = line.row.wall};
  state.unix_time = unix_time;
  for (const auto& [name, value] : line.row.values) state.newest[name] = value;
  if (line.ranks == nullptr) return;
  state.hosts = line.ranks->hosts;
  state.ranks.resize(line.ranks->figures.size());
  for (std::size_t rank = 0; rank < state.ranks.size(); ++rank) {
    const RankFigures& figures = line.ranks->figures[rank];
    for (const RankMetric& metric : kRankMetrics) {
      double& value = state.ranks[rank].*metric.value;
      value = (metric.is_counter ? value : 0) + figures.*metric.value;
    }
    state.ranks[rank].temperature = figures.temperature;
  }
}

std::string exposition(const MetricsState& state) {
  if (state.run.empty()) return "# winnow: no step has been measured yet\n";
  Writer out(state.run);
  write_run(out, state);
  write_splits(out, state);
  write_ranks(out, state);
  return out.take();
}

}  // namespace winnow::app
