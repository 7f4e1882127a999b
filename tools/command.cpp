#include "tools/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <ctime>

namespace winnow::tools {

void say(const Session& session, const std::string& sentence) {
  if (session.comm.rank() == 0) fmt::print(stderr, "{}\n", printable(sentence));
}

std::vector<std::string> words_of(const CLI::App& verb) {
  std::vector<std::string> words{"winnow", verb.get_name()};
  std::vector<std::string> named;
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (values.empty()) continue;
    const bool positional = option->get_lnames().empty();
    std::vector<std::string>& to = positional ? words : named;
    if (!positional) to.push_back("--" + option->get_lnames().front());
    if (!positional && option->get_expected_max() == 0) continue;  // a flag
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool joined = i > 0 && option->get_delimiter() != '\0';
      if (joined) {
        to.back() += option->get_delimiter() + values[i];
      } else {
        to.push_back(values[i]);
      }
    }
  }
  words.insert(words.end(), named.begin(), named.end());
  return words;
}

ThreadPlan thread_plan(const Session& session, int cores) {
  ThreadPlanInputs inputs = session.threads;
  inputs.requested = cores;
  return plan_threads(inputs);
}

std::string made_here() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> when{};
  const std::size_t length =
      std::strftime(when.data(), when.size(), "%Y-%m-%d %H:%M:%S %z", &local);
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("{}, winnow {}{}{}", std::string_view(when.data(), length), WINNOW_VERSION,
                     host[0] != '\0' ? ", on " : "", host.data());
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
  constexpr std::size_t kBegin = 6000;
  constexpr std::size_t kEnd = 1000;
  if (text.size() <= kBegin + kEnd) return printable(text);
  const auto inside = [&](std::size_t at) {  // a character of several bytes
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t begin = kBegin;
  std::size_t end = text.size() - kEnd;
  while (begin > kBegin - 3 && inside(begin)) --begin;
  while (end < text.size() - kEnd + 3 && inside(end)) ++end;
  return printable(text.substr(0, begin)) + " ... " + printable(text.substr(end));
}

}  // namespace winnow::tools
