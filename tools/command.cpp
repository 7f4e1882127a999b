#include "tools/command.h"

#include <fmt/core.h>

#include <cstdio>

namespace winnow::tools {

void say(const Session& session, const std::string& sentence) {
  if (session.comm.rank() == 0) fmt::print(stderr, "{}\n", printable(sentence));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    const unsigned char next = i + 1 < out.size() ? static_cast<unsigned char>(out[i + 1]) : 0;
    if (byte < 0x20 || byte == 0x7F) out[i] = '?';
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) out.replace(i, 2, "?");  // U+0080..U+009F
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

}  // namespace winnow::tools
