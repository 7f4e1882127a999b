#include "tools/progress_bar.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "common/to_stderr.h"

namespace winnow::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 80;
}

class Bar {
 public:
  Bar(std::string title, std::string unit)
      : title_(std::move(title)), unit_(std::move(unit)), terminal_(isatty(STDERR_FILENO) == 1) {}
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  ~Bar() {
    if (terminal_ && drawn_) to_stderr("\n");
  }

  void show(const Progress& progress) {
    const auto now = Clock::now();
    if (!started_ || progress.done < last_done_) {  // or a new phase
      started_ = true;
      begin_ = now;
      first_done_ = progress.done;
    }
    last_done_ = progress.done;
    const bool finished = progress.total > 0 && progress.done >= progress.total;
    const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(15);
    if (now - last_ < pause && !(finished && terminal_)) return;
    if (!drawn_ && !terminal_ && now - begin_ < pause) return;
    last_ = now;
    drawn_ = true;
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const double rate =
        elapsed > 0 ? static_cast<double>(progress.done - first_done_) / elapsed : 0;
    std::string line = title_;
    if (progress.total > 0) {
      const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
      constexpr int kWidth = 24;
      const int full = std::clamp(static_cast<int>(share * kWidth), 0, kWidth);
      if (terminal_) {
        line += " [" + std::string(static_cast<std::size_t>(full), '=') +
                std::string(static_cast<std::size_t>(kWidth - full), ' ') + "]";
      }
      line += fmt::format(" {:3.0f} %", 100 * share);
    } else {
      line += fmt::format(" {}", progress.done);
    }
    if (rate > 0) line += fmt::format("  {:.0f} {}/s", rate, unit_);
    if (rate > 0 && progress.total > progress.done) {
      line += "  " + duration(static_cast<double>(progress.total - progress.done) / rate) + " left";
    }
    if (!progress.note.empty()) line += "  " + progress.note;
    if (terminal_) {
      line.resize(static_cast<std::size_t>(terminal_columns() - 1), ' ');
      to_stderr('\r' + line);
    } else {
      say_line(line);
    }
  }

 private:
  std::string title_;
  std::string unit_;
  bool terminal_;
  bool started_ = false;
  bool drawn_ = false;
  Clock::time_point begin_{};
  Clock::time_point last_{};
  std::uint64_t first_done_ = 0;
  std::uint64_t last_done_ = 0;
};

}  // namespace

ProgressSink make_progress_bar(const std::string& title, const std::string& unit) {
  return [bar = std::make_shared<Bar>(title, unit)](const Progress& p) { bar->show(p); };
}

}  // namespace winnow::tools
