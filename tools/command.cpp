#include "tools/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/printable.h"
#include "common/to_stderr.h"
#include "tools/progress_bar.h"
#include "tools/stop_signals.h"

namespace winnow::tools {

app::Sinks terminal_sinks() {
  return {.sentence = [](const std::string& sentence) { say_line(app::printable(sentence)); },
          .lines = print_list,
          .flush = [] { std::fflush(stdout); },
          .bar = make_progress_bar,
          .nothing_to_finish = [] { return std::make_shared<NothingToFinish>(); }};
}

std::string list_for_terminal(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += app::printable(lines.substr(0, end));
    if (end < lines.size()) out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

void print_list(std::string_view lines) {
  static const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  fmt::print("{}", is_terminal ? list_for_terminal(lines) : std::string(lines));
}

}  // namespace winnow::tools
