#include "app/plan/plan_toml.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "common/error.h"

namespace winnow::app {
namespace {

bool is_switch(const std::string& value) { return value == "true" || value == "false"; }

// A basic string of TOML. Flags contain no control characters unless a user pasted them.
std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else {
      text += c;
    }
  }
  return text + '"';
}

class Line {
 public:
  Line(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  bool at_end() const { return rest_.empty(); }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string key() {
    const std::size_t end = rest_.find(" = ");
    if (end == std::string_view::npos || end == 0) fail();
    const std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end + 3);
    return name;
  }
  std::string value() {
    for (const std::string_view word : {"true", "false"}) {
      if (take(word)) return std::string(word);
    }
    if (!take("\"")) fail();
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      const bool escaped = rest_.front() == '\\';
      if (escaped) rest_.remove_prefix(1);
      if (rest_.empty()) break;
      const char c = rest_.front();
      text += !escaped ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c;
      rest_.remove_prefix(1);
    }
    if (!take("\"")) fail();
    return text;
  }
  [[noreturn]] void fail() const {
    throw FormatError(where_ + " is no plan that winnow plan wrote: \"" + std::string(rest_) +
                      "\" stands where a flag is due");
  }

 private:
  std::string_view rest_;
  const std::string& where_;
};

}  // namespace

std::string plan_toml(const PlannedFlags& flags, std::string_view about) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, value] : flags) ++counts[name];
  std::string text = "# " + std::string(about) + "\n[train]\n";
  for (auto flag = flags.begin(); flag != flags.end();) {
    const auto& [name, value] = *flag;
    const std::size_t count = counts[name];
    text += name + " = ";
    if (count == 1) {
      text += is_switch(value) ? value : quoted(value);
      ++flag;
    } else {
      for (std::size_t i = 0; i < count && flag != flags.end(); ++i, ++flag) {
        text += (i == 0 ? "[" : ", ") + quoted(flag->second);
      }
      text += "]";
    }
    text += "\n";
  }
  return text;
}

PlannedFlags parse_plan_toml(std::string_view text, const std::string& where) {
  PlannedFlags flags;
  std::istringstream lines{std::string(text)};
  bool begun = false;
  for (std::string words; std::getline(lines, words);) {
    if (words.empty() || words.starts_with('#')) continue;
    Line line(words, where);
    if (!begun) {
      if (words != "[train]") line.fail();
      begun = true;
      continue;
    }
    const std::string name = line.key();
    if (line.take("[")) {
      do {
        flags.emplace_back(name, line.value());
      } while (line.take(", "));
      if (!line.take("]")) line.fail();
    } else {
      flags.emplace_back(name, line.value());
    }
    if (!line.at_end()) line.fail();
  }
  return flags;
}

std::string words_of(const PlannedFlags& flags) {
  std::string words;
  std::string last;
  for (const auto& [name, value] : flags) {
    if (!words.empty()) words += ' ';
    if (is_switch(value)) {
      words += (value == "true" ? "--" : "--no-") + name;
      last.clear();
      continue;
    }
    const bool plain = !value.empty() && value.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                             "WXYZ0123456789_-+=.,:/@%") == std::string::npos;
    std::string word = value;
    if (!plain) {
      word = "'";
      for (const char c : value) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
      word += '\'';
    }
    words += (name == last ? "" : "--" + name + " ") + word;
    last = name;
  }
  return words;
}

}  // namespace winnow::app
