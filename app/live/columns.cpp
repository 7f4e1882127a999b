#include "app/live/columns.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace winnow::app {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

int width_of(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string text, int width) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++columns > width) text.resize(at);
  }
  return text;
}

std::string padded(std::string text, int width) {
  text = cut(std::move(text), width);
  return text + repeated(" ", width - width_of(text));
}

std::string aligned_right(std::string text, int width) {
  text = cut(std::move(text), width);
  return repeated(" ", width - width_of(text)) + text;
}

std::string repeated(std::string_view character, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += character;
  return text;
}

std::vector<std::string> wrapped(std::string_view text, int width, int most) {
  constexpr int kIndent = 2;
  std::vector<std::string> lines;
  std::string before;
  for (int room = width; width_of(text) > room && static_cast<int>(lines.size()) + 1 < most;) {
    // The blank after a line needs no room.
    const std::size_t end = cut(std::string(text), room + 1).rfind(' ');
    if (end == std::string::npos || end == 0) break;
    lines.push_back(before + std::string(text.substr(0, end)));
    text.remove_prefix(end + 1);
    before.assign(kIndent, ' ');
    room = width - kIndent;
  }
  lines.push_back(cut(before + std::string(text), width));
  return lines;
}

std::string ends(const std::string& left, const std::string& right, int width) {
  const int room = width - width_of(left) - width_of(right);
  return room < 2 ? cut(left, width) : left + repeated(" ", room) + right;
}

}  // namespace winnow::app
