#include "tools/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <ctime>

#include "common/host_name.h"
#include "common/to_stderr.h"

namespace winnow::tools {
namespace {

// The first bytes of a text and the last ones, unless that is all of it; no character is cut.
std::string shortened(std::string_view text, std::size_t first, std::size_t last) {
  if (text.size() <= first + last) return std::string(text);
  const auto inside = [&](std::size_t at) {  // a character of several bytes
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t begin = first;
  std::size_t end = text.size() - last;
  while (begin > first - 3 && inside(begin)) --begin;
  while (end < text.size() - last + 3 && inside(end)) ++end;
  return std::string(text.substr(0, begin)) + " ... " + std::string(text.substr(end));
}

// What stands in quotes shortened: names of images, and lines of files, may be of any length. A
// quote within a word, as in "one's", is none.
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

void say(const Session& session, const std::string& sentence) {
  if (session.comm.rank() == 0) say_line(printable(sentence));
}

std::string list_for_terminal(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += printable(lines.substr(0, end));
    if (end < lines.size()) out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

void print_list(std::string_view lines) {
  static const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  fmt::print("{}", is_terminal ? list_for_terminal(lines) : std::string(lines));
}

ThreadPlan thread_plan(const Session& session, int cores) {
  ThreadPlanInputs inputs = session.threads;
  inputs.requested = cores;
  return plan_threads(inputs);
}

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &local)};
}

std::string made_here() {
  const std::string host = host_name();
  return fmt::format("{}, winnow {}{}{}", local_time("%Y-%m-%d %H:%M:%S %z"), WINNOW_VERSION,
                     host.empty() ? "" : ", on ", host);
}

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

}  // namespace winnow::tools
