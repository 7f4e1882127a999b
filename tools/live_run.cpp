#include "tools/live_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "tools/command.h"
#include "tools/live/live_view.h"
#include "tools/report/words.h"
#include "train/run/setup.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

fs::path metrics_of(const fs::path& run) { return run / "metrics.jsonl"; }

void draw(LiveScreen& screen, const LiveState& state) {
  screen.draw([&](TerminalSize size) { return live_view(state, size.columns, size.rows); });
}

void print(const std::string& sentence) { fmt::print(stderr, "{}\n", printable(sentence)); }

// A number of config.json, 0 where it has none.
double number(const std::map<std::string, std::string>& settings, const std::string& name) {
  const auto text = settings.find(name);
  double value = 0;
  if (text != settings.end()) {
    std::from_chars(text->second.data(), text->second.data() + text->second.size(), value);
  }
  return std::isfinite(value) ? value : 0;
}

// Of a run that is watched from outside: what its last line says.
void take_place(LiveState& state, double epochs) {
  const train::MetricsRow& last = state.last;
  if (last.step <= 0 || last.epoch <= 0) return;
  const double done = static_cast<double>(last.step) * static_cast<double>(state.batch);
  const double total = epochs / last.epoch * done;
  constexpr double kMost = 1e18;
  state.pace = {.done = static_cast<std::uint64_t>(std::min(done, kMost)),
                .total = static_cast<std::uint64_t>(std::clamp(total, 0.0, kMost)),
                .seconds = last.wall};
  state.note = fmt::format("epoch {:.2f} of {:.4g}", std::min(last.epoch, epochs), epochs);
}

}  // namespace

LiveRun::LiveRun(const fs::path& run, std::int64_t batch, StopRequested stop)
    : stop_(std::move(stop)),
      tail_(metrics_of(run)),
      state_{.name = printable(name_of_folder(run)), .batch = batch} {}

LiveRun::~LiveRun() {
  screen_.close();
  for (const std::string& sentence : state_.sentences) print(sentence);
}

void LiveRun::show(const Progress& progress) {
  constexpr std::chrono::milliseconds kPause(250);
  const auto now = Clock::now();
  const bool first = !screen_.is_open();
  if (!first && now - drawn_ < kPause && progress.done < progress.total) return;
  drawn_ = now;
  if (first) {
    begin_ = now;
    state_.pace.first = progress.done;
  }
  state_.pace.done = progress.done;
  state_.pace.total = progress.total;
  state_.pace.seconds = std::chrono::duration<double>(now - begin_).count();
  state_.note = printable(progress.note);
  if (stop_ && stop_()) state_.note += ", stopping";
  follow(state_, tail_);
  draw(screen_, state_);
}

void LiveRun::say(const std::string& sentence) {
  if (!screen_.is_open()) return print(sentence);
  state_.sentences.push_back(printable(sentence));
}

void watch_run(const fs::path& run, const StopRequested& stop) {
  if (!can_show_live()) {
    throw UsageError("--live draws in a terminal, and stderr is none; give --out for a page");
  }
  const auto settings = train::config_facts(read_text(run / "config.json"));
  LiveState state{.name = printable(name_of_folder(run)),
                  .batch = std::max<std::int64_t>(
                      1, std::llround(std::min(1e9, number(settings, "recipe.batch_size"))))};
  train::MetricsTail tail(metrics_of(run));
  LiveScreen screen;
  while (!stop()) {
    follow(state, tail);
    take_place(state, number(settings, "recipe.epochs"));
    const bool over = fs::exists(run / "summary.csv");
    state.sentences = {over ? "the run has ended; Ctrl-C leaves this view"
                            : "Ctrl-C leaves this view, not the run"};
    draw(screen, state);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace winnow::tools
