#include "app/printable.h"

#include <cctype>

namespace winnow::app {
namespace {

// The first and last bytes of a text, or all of it if it is short. No character is cut.
std::string shortened(std::string_view text, std::size_t first, std::size_t last) {
  if (text.size() <= first + last) return std::string(text);
  const auto inside = [&](std::size_t at) {  // a continuation byte of UTF-8
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t begin = first;
  std::size_t end = text.size() - last;
  while (begin > first - 3 && inside(begin)) --begin;
  while (end < text.size() - last + 3 && inside(end)) ++end;
  return std::string(text.substr(0, begin)) + " ... " + std::string(text.substr(end));
}

// Shortens quoted parts: names of images and lines of files may have any length. A quote inside a
// word, as in "one's", does not count.
std::string with_short_quotes(std::string_view text) {
  const auto is_quote = [&](std::size_t at, std::size_t beside) {
    return beside >= text.size() || at == beside ||
           std::isalnum(static_cast<unsigned char>(text[beside])) == 0;
  };
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find('\'', at);
    if (begin == text.npos) break;
    out += text.substr(at, begin + 1 - at);
    at = begin + 1;
    if (!is_quote(begin, begin == 0 ? 0 : begin - 1)) continue;
    std::size_t end = text.find('\'', at);
    while (end != text.npos && !is_quote(end, end + 1)) end = text.find('\'', end + 1);
    if (end == text.npos) break;
    out += shortened(text.substr(at, end - at), 200, 50) + '\'';
    at = end + 1;
  }
  return out + std::string(text.substr(at));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool two = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080..U+009F
    out += byte < 0x20 || byte == 0x7F || two ? '?' : text[i];
    if (two) ++i;
  }
  return out;
}

std::string printable_sentence(std::string_view text) {
  return printable(shortened(with_short_quotes(text), 6000, 1000));
}

}  // namespace winnow::app
