#pragma once

#include <functional>
#include <string>
#include <vector>

namespace winnow::tools {

// Whether stderr is a terminal that can move its cursor.
bool can_show_live();

struct TerminalSize {
  int columns = 79;  // without the last one, where a line that is erased to its end loses a letter
  int rows = 24;
};

// The whole screen of the terminal at stderr, from the first frame until it is closed; then what
// was there before is back, also where a signal ends the process meanwhile (stop_signals.h). One at
// a time.
class LiveScreen {
 public:
  LiveScreen() = default;
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen() { close(); }

  bool is_open() const noexcept { return open_; }
  void close() noexcept;

  // Draws a frame of the lines that `make` returns for the terminal as large as it is now. Lines
  // take the place of those before without the screen being emptied, in one write.
  void draw(const std::function<std::vector<std::string>(TerminalSize)>& make);

 private:
  bool open_ = false;
};

}  // namespace winnow::tools
