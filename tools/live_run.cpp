#include "tools/live_run.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "app/live/live_view.h"
#include "app/live/run_files.h"
#include "app/live/runs_view.h"
#include "app/printable.h"
#include "app/report/read_runs.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/to_stderr.h"
#include "tools/last_words.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/setup.h"

namespace winnow::tools {
namespace {

// Control sequences of xterm: alternate screen, hidden cursor, no line wrap.
constexpr std::string_view kOpen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr const char* kClose = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kEraseToEndOfLine = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";

TerminalSize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row == 0) {
    return {};
  }
  return {.columns = size.ws_col - 1, .rows = size.ws_row};
}

namespace fs = std::filesystem;

fs::path metrics_of(const fs::path& run) { return run / "metrics.jsonl"; }

void draw(LiveScreen& screen, const LiveState& state) {
  screen.draw([&](TerminalSize size) { return live_view(state, size.columns, size.rows); });
}

void print(const std::string& sentence) { say_line(printable(sentence)); }

// A number of config.json, 0 if it has none.
double number(const std::map<std::string, std::string>& settings, const std::string& name) {
  const auto text = settings.find(name);
  double value = 0;
  if (text != settings.end()) {
    std::from_chars(text->second.data(), text->second.data() + text->second.size(), value);
  }
  return std::isfinite(value) ? value : 0;
}

// Progress of a run that is watched from outside, from its last row.
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

// Seconds since a file was written; nullopt: it does not exist.
std::optional<double> age_of(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
}

// The end of a file that another process writes, and may remove.
std::string end_of(const fs::path& path) {
  constexpr std::uint64_t kMost = 4096;
  try {
    const InputFile file(path);
    const std::uint64_t size = std::min(file.size(), kMost);
    std::string text(size, '\0');
    file.read_at(file.size() - size, std::as_writable_bytes(std::span(text)));
    return text;
  } catch (const SystemError&) {
    return {};
  }
}

// Recent messages of the health log about who waits for whom.
std::vector<std::string> said_by_health(const fs::path& run) {
  constexpr double kLately = 600;
  constexpr std::size_t kMost = 2;
  std::vector<std::string> logs;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "health", none)) {
    if (age_of(entry.path()).value_or(kLately) < kLately) logs.push_back(end_of(entry.path()));
  }
  std::vector<std::string> lines = newest_lines(logs, kMost);
  for (std::string& line : lines) line = printable(line);
  return lines;
}

// Reads what a run wrote since the last call.
void look(LiveState& state, train::MetricsTail& tail, const fs::path& run) {
  follow(state, tail);
  std::error_code none;
  if (!fs::exists(run / "ranks.json", none)) return;
  if (auto ranks = parse_ranks(read_text(run / "ranks.json"))) {
    for (std::string& host : ranks->table.hosts) host = printable(host);
    state.ranks = std::move(*ranks);
  }
}

// A run that another process trains.
class WatchedRun {
 public:
  explicit WatchedRun(const fs::path& run)
      : run_(run), tail_(metrics_of(run)), settings_(settings_of(run)) {
    state_.name = printable(name_of_folder(run));
    state_.batch = std::max<std::int64_t>(
        1, std::llround(std::min(1e9, number(settings_, "recipe.batch_size"))));
  }

  const LiveState& look() {
    tools::look(state_, tail_, run_);
    state_.waits = said_by_health(run_);
    take_place(state_, number(settings_, "recipe.epochs"));
    state_.is_over = fs::exists(run_ / "summary.csv");
    // An interval may be long, and so may an evaluation.
    constexpr double kLong = 300;
    const double age = age_of(metrics_of(run_)).value_or(0);
    state_.silent_s = !state_.is_over && age > kLong ? age : 0;
    return state_;
  }

 private:
  static std::map<std::string, std::string> settings_of(const fs::path& run) {
    require_run(run);
    return train::config_settings(read_text(run / "config.json"));
  }

  fs::path run_;
  train::MetricsTail tail_;
  std::map<std::string, std::string> settings_;
  LiveState state_;
};

std::string how_it_is(const LiveState& run) {
  if (run.is_over) return "the run has ended; Ctrl-C leaves this view";
  if (run.silent_s > 0) {
    return "it has written nothing for " + in_seconds(run.silent_s) +
           ": it evaluates, waits, or is no more; Ctrl-C leaves this view";
  }
  return "Ctrl-C leaves this view, not the run";
}

// Waits for that time, or until a stop is requested.
void pause(std::chrono::milliseconds most, const StopRequested& stop) {
  constexpr std::chrono::milliseconds kStep(50);
  for (; most > kStep && !stop(); most -= kStep) std::this_thread::sleep_for(kStep);
}

void draw_runs(std::vector<WatchedRun>& runs, const StopRequested& stop) {
  LiveScreen screen;
  while (!stop()) {
    std::vector<LiveState> states;
    for (WatchedRun& run : runs) states.push_back(run.look());
    if (states.size() == 1) {
      states.front().sentences = {how_it_is(states.front())};
      draw(screen, states.front());
    } else {
      screen.draw([&](TerminalSize size) { return runs_view(states, size.columns, size.rows); });
    }
    pause(std::chrono::milliseconds(500), stop);
  }
}

// Prints a line for each run with news.
void print_runs(std::vector<WatchedRun>& runs, bool once, const StopRequested& stop) {
  std::vector<std::string> before(runs.size());
  std::set<std::string> said;
  for (bool all_over = false; !all_over && !stop();) {
    all_over = true;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const LiveState& run = runs[i].look();
      all_over = all_over && run.is_over;
      for (const std::string& wait : run.waits) {
        std::string sentence = run.name + ": " + wait;
        if (said.insert(sentence).second) fmt::print("{}\n", sentence);
      }
      std::string line = run_line(run);
      if (run.silent_s > 0) line += "; it wrote nothing for minutes";
      if (line != before[i]) fmt::print("{}\n", line);
      before[i] = std::move(line);
    }
    if (std::fflush(stdout) != 0 || once) return;  // the reader is gone
    if (!all_over) pause(std::chrono::seconds(1), stop);
  }
}

}  // namespace

bool can_show_live() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

void LiveScreen::close() noexcept {
  if (!open_) return;
  open_ = false;
  to_stderr(kClose);
  set_last_words(nullptr);
}

void LiveScreen::draw(const std::function<std::vector<std::string>(TerminalSize)>& make) {
  std::string frame;
  if (!open_) {
    set_last_words(kClose);
    open_ = true;
    frame = kOpen;
  }
  frame += kHome;
  bool first = true;
  for (const std::string& line : make(size_of_terminal())) {
    if (!first) frame += "\r\n";
    first = false;
    frame += line;
    frame += kEraseToEndOfLine;
  }
  frame += kEraseBelow;
  to_stderr(frame);
}

LiveRun::LiveRun(const fs::path& run, std::int64_t batch, StopRequested stop)
    : run_(run),
      stop_(std::move(stop)),
      tail_(metrics_of(run)),
      state_{.name = printable(name_of_folder(run)), .batch = batch} {}

LiveRun::~LiveRun() {
  screen_.close();
  for (const std::string& sentence : shown_.sentences) print(sentence);
}

void LiveRun::show(const Progress& progress) {
  constexpr std::chrono::milliseconds kPause(250);
  const auto now = Clock::now();
  const bool first = !screen_.is_open();  // changed only here
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
  look(state_, tail_, run_);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> sentences = std::move(shown_.sentences);
  shown_ = state_;
  shown_.sentences = std::move(sentences);
  draw(screen_, shown_);
}

void LiveRun::say(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (!screen_.is_open()) return print(sentence);
  shown_.sentences.push_back(printable(sentence));
  draw(screen_, shown_);
}

void watch_runs(const WatchOptions& options, const StopRequested& stop) {
  std::vector<WatchedRun> runs(options.runs.begin(), options.runs.end());
  if (!options.once && can_show_live()) return draw_runs(runs, stop);
  print_runs(runs, options.once, stop);
}

}  // namespace winnow::tools
