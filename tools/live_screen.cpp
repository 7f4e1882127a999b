#include "tools/live_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "common/to_stderr.h"
#include "tools/last_words.h"

namespace winnow::tools {
namespace {

// As xterm's control sequences: the alternate screen, no cursor, lines that end at the edge.
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

}  // namespace winnow::tools
