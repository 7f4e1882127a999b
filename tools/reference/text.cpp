#include "tools/reference/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace winnow::tools {
namespace {

constexpr std::size_t kBeside = 26;  // the column in which an option's text begins
constexpr const char* kHeading = "Options";

std::string row_of(const std::string& name, const std::string& text, std::size_t column) {
  const bool fits = name.size() + 4 <= column;
  return fmt::format(
      "  {}{}{}\n", name,
      fits ? std::string(column - name.size() - 2, ' ') : "\n" + std::string(column, ' '), text);
}

bool names_all(const std::string& text, const std::vector<std::string>& words) {
  return std::ranges::all_of(
      words, [&text](const std::string& word) { return text.find(word) != std::string::npos; });
}

// Name and value, then the description and conditions that it does not mention. `brief`: only
// choices and defaults.
std::string row_of(const ReferenceArgument& argument, bool brief) {
  std::string name = joined(argument.names, ",");
  const bool takes_value = argument.names.front().starts_with('-') && !argument.value.empty();
  if (takes_value) name += " " + argument.value + (argument.repeated ? " ..." : "");
  ReferenceArgument here = argument;
  here.environment.clear();  // stated once for all
  if (names_all(here.description, here.choices)) here.choices.clear();
  if (brief) {
    here.range.clear();
    here.needs.clear();
    here.excludes.clear();
    here.repeated = false;
  }
  std::string text = here.description;
  const std::vector<std::string> conditions = conditions_of(here);
  if (!text.empty() && !text.ends_with('.') && !conditions.empty()) text += '.';
  for (const std::string& sentence : conditions) text += (text.empty() ? "" : " ") + sentence;
  return row_of(name, text, kBeside);
}

std::string head_of(const ReferenceVerb& verb) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", verb.description, verb.usage);
  if (!verb.positionals.empty()) text += "\nArguments:\n";
  for (const ReferenceArgument& positional : verb.positionals) text += row_of(positional, false);
  return text;
}

std::string option_rows(const ReferenceVerb& verb) {
  std::string text;
  const std::string* group = nullptr;
  for (const ReferenceArgument& option : verb.options) {
    if (group == nullptr || *group != option.group) {
      text += fmt::format("\n{}:\n", option.group.empty() ? kHeading : option.group);
    }
    group = &option.group;
    text += row_of(option, false);
  }
  return text;
}

// Every option of a verb has a variable, except those that ask for help.
std::string environment_of(const ReferenceVerb& verb) {
  const auto has_one = [](const ReferenceArgument& o) { return !o.environment.empty(); };
  if (verb.words.size() < 2 || std::ranges::none_of(verb.options, has_one)) return "";
  std::string prefix = joined({verb.words.begin() + 1, verb.words.end()}, "_");
  std::ranges::transform(prefix, prefix.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return fmt::format(
      "\nAny option --some-name can also be given as the variable WINNOW_{}_SOME_NAME.\n", prefix);
}

}  // namespace

std::string verbs_text(const ReferenceVerb& verb) {
  std::size_t column = 12;
  for (const ReferenceVerb& below : verb.verbs) {
    column = std::max(column, below.words.back().size() + 4);
  }
  std::string text;
  std::string group;
  for (const ReferenceVerb& below : verb.verbs) {
    if (below.group != group) text += fmt::format("\n{}:\n", below.group);
    group = below.group;
    text += row_of(below.words.back(), below.description, column);
  }
  return text;
}

std::string help_text(const ReferenceVerb& verb) {
  std::string text = head_of(verb) + option_rows(verb) + verbs_text(verb) + environment_of(verb);
  if (!verb.notes.empty()) text += "\n" + verb.notes + "\n";
  if (verb.examples.empty()) return text;
  return text + "\nExamples:\n  " + replaced(verb.examples, "\n", "\n  ") + "\n";
}

std::string short_help_text(const ReferenceVerb& verb, const std::vector<std::string>& usual,
                            const std::string& examples) {
  std::string text = head_of(verb) + "\nUsual options:\n";
  for (const std::string& name : usual) {
    const auto option = std::ranges::find_if(verb.options, [&name](const ReferenceArgument& o) {
      return std::ranges::find(o.names, name) != o.names.end();
    });
    if (option != verb.options.end()) text += row_of(*option, true);
  }
  return text + fmt::format("\n{} more, and what values they take: {} --help-all\n\n{}\n",
                            verb.options.size() - usual.size(), joined(verb.words, " "), examples);
}

}  // namespace winnow::tools
