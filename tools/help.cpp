#include "tools/help.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <memory>
#include <utility>

#include "common/row_called.h"
#include "tools/reference/text.h"

namespace winnow::tools {
namespace {

// A verb's help, made from its reference.
class Help final : public CLI::Formatter {
 public:
  Help(std::vector<std::string> usual, std::string examples)
      : usual_(std::move(usual)), examples_(std::move(examples)) {}

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode mode) const override {
    const ReferenceVerb verb = reference_of(*app);
    const bool is_short = mode == CLI::AppFormatMode::Normal && !usual_.empty();
    if (is_short) return short_help_text(verb, usual_, examples_);
    std::string text = help_text(verb);
    if (mode != CLI::AppFormatMode::All) return text;
    for (const ReferenceVerb& below : verb.verbs) text += "\n\n" + help_text(below);
    return text;
  }

 private:
  std::vector<std::string> usual_;
  std::string examples_;
};

// Flags of the verb and of its groups.
std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const CLI::App* group : verb.get_subcommands({})) {
    if (!group->get_name().empty()) continue;
    const std::vector<std::string> more = flags_of(*group);
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_name().empty()) verbs.push_back(verb->get_name());
  }
  return verbs;
}

// A sentence about the first verb or flag that `app` does not know. `called`: name of `app`.
std::string unknown_to(const CLI::App& app, const std::string& called) {
  const std::vector<std::string> verbs = verbs_of(app);
  for (const std::string& given : app.remaining()) {
    const std::string word = given.substr(0, given.find('='));
    const bool is_flag = word.starts_with('-') && word.size() > 1;
    if (!is_flag && verbs.empty()) continue;
    const std::string meant = nearest_word(word, is_flag ? flags_of(app) : verbs);
    return fmt::format("{} is no {} of {}; {}see {} --help", word, is_flag ? "option" : "verb",
                       called, meant.empty() ? "" : "did you mean " + meant + "? Otherwise ",
                       called);
  }
  return "";
}

void bring_config_forward(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const bool alone = words[i] == "--config" && i + 1 < words.size();
    if (!alone && !words[i].starts_with("--config=")) continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(words.begin() + 1, at, at + (alone ? 2 : 1));
    return;
  }
}

// Variables of the options of `app` and of everything below it.
void add_variables(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_envname().empty()) names.push_back(option->get_envname());
  }
  for (const CLI::App* below : app.get_subcommands({})) add_variables(*below, names);
}

}  // namespace

std::string unknown_variable(const CLI::App& program) {
  const auto prefix_of = [](const CLI::App& verb) {
    std::string prefix = "WINNOW_" + verb.get_name() + "_";
    for (char& c : prefix) {
      c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return prefix;
  };
  if (program.get_subcommands().empty()) return "";
  const CLI::App& called = *program.get_subcommands().front();
  std::vector<std::string> known;
  add_variables(called, known);
  std::vector<std::string> others;  // verbs with longer names: tune and tune-lr
  for (const CLI::App* verb : program.get_subcommands({})) {
    if (verb != &called && prefix_of(*verb).starts_with(prefix_of(called))) {
      others.push_back(prefix_of(*verb));
    }
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string name(text.substr(0, text.find('=')));
    const auto is_of = [&](const std::string& prefix) { return name.starts_with(prefix); };
    if (!is_of(prefix_of(called)) || std::ranges::any_of(others, is_of)) continue;
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string meant = nearest_word(name, known);
    return fmt::format("the environment has {}, which is no option of winnow {}; {}unset it", name,
                       called.get_name(), meant.empty() ? "" : "did you mean " + meant + "? Else ");
  }
  return "";
}

void describe_by_reference(CLI::App& program) {
  program.formatter(std::make_shared<Help>(std::vector<std::string>(), ""));
}

void shorten_help(Verb verb, std::vector<std::string> flags, const std::string& examples) {
  for (const std::string& flag : flags) verb.flag(flag);  // throws if there is no such flag
  flags.insert(flags.end(), {"--help", "--help-all"});
  verb.app().formatter(std::make_shared<Help>(std::move(flags), examples));
}

std::vector<std::string> in_flags(std::vector<std::string> words) {
  if (words.size() < 2) return words;
  bring_config_forward(words);
  if (words[1] == "version" && words.size() == 2) {
    words[1] = "--version";
  } else if (words[1] == "help") {
    words.erase(words.begin() + 1);
    words.emplace_back("--help");
  }
  return words;
}

std::string unknown_word(const CLI::App& program) {
  std::string called = "winnow";
  for (const CLI::App* app = &program;;) {
    std::string sentence = unknown_to(*app, called);
    if (!sentence.empty() || app->get_subcommands().empty()) return sentence;
    app = app->get_subcommands().front();
    if (!app->get_name().empty()) called += " " + app->get_name();
  }
}

std::string parsed_verb(const CLI::App& program) {
  std::string verb = "winnow";
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    if (!app->get_name().empty()) verb += " " + app->get_name();
  }
  return verb;
}

}  // namespace winnow::tools
