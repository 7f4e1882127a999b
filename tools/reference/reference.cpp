#include "tools/reference/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

namespace winnow::tools {
namespace {

constexpr const char* kProgram = "winnow";
constexpr std::string_view kExamples = "Examples:\n";

std::vector<std::string> names_of(const CLI::Option& option) {
  if (!option.nonpositional()) return {option.get_name(true, false)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(names_of(*option).back());
  std::ranges::sort(names);  // the set is ordered by addresses
  return names;
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Parses CLI11's "INT:POSITIVE", "TEXT:{stay,keep}" and "FLOAT".
void read_type(const std::string& type, ReferenceArgument& argument) {
  const std::size_t colon = std::min(type.find(':'), type.size());
  argument.value = colon == 0 ? "TEXT" : type.substr(0, colon);  // --config has none
  const std::string rest = type.substr(std::min(colon + 1, type.size()));
  if (rest.starts_with('{') && rest.ends_with('}')) {
    argument.choices = split_at(std::string_view(rest).substr(1, rest.size() - 2), ',');
  } else {
    argument.range = rest;
  }
}

ReferenceArgument argument_of(const CLI::Option& option, const std::string& group) {
  ReferenceArgument argument{.names = names_of(option),
                             .default_value = option.get_default_str(),
                             .environment = option.get_envname(),
                             .group = group,
                             .description = option.get_description(),
                             .needs = names_of(option.get_needs()),
                             .excludes = names_of(option.get_excludes()),
                             .required = option.get_required(),
                             .repeated = option.get_expected_max() > 1};
  if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), argument);
  return argument;
}

// The heading of an option: its own, else that of its group.
std::string heading_of(const CLI::Option& option, const std::string& group) {
  static const std::string unnamed = CLI::App().add_flag("--any")->get_group();
  return option.get_group() == unnamed ? group : option.get_group();
}

// The arguments of `app` itself, or of a group of its options, whose help flags are those of the
// verb.
void add_arguments(const CLI::App& app, const std::string& group, ReferenceVerb& to) {
  for (const CLI::Option* option : app.get_options()) {
    const bool is_help = option == app.get_help_ptr() || option == app.get_help_all_ptr();
    if (option->get_group().empty() || (is_help && !group.empty())) continue;
    (option->nonpositional() ? to.options : to.positionals)
        .push_back(argument_of(*option, heading_of(*option, group)));
  }
}

// Options without a heading come first, then headings in order of appearance.
void sort_by_heading(std::vector<ReferenceArgument>& options) {
  std::vector<std::string> headings{""};
  for (const ReferenceArgument& option : options) {
    if (std::ranges::find(headings, option.group) == headings.end()) {
      headings.push_back(option.group);
    }
  }
  std::ranges::stable_sort(options, {}, [&headings](const ReferenceArgument& option) {
    return std::ranges::find(headings, option.group) - headings.begin();
  });
}

// Examples come last.
void split_footer(const std::string& footer, ReferenceVerb& to) {
  const std::size_t at = std::min(footer.rfind(kExamples), footer.size());
  to.notes = footer.substr(0, at);
  while (to.notes.ends_with('\n')) to.notes.pop_back();
  if (at == footer.size()) return;
  for (const std::string& line : split_at(footer.substr(at + kExamples.size()), '\n')) {
    to.examples += line.substr(std::min<std::size_t>(2, line.size())) + "\n";
  }
  while (to.examples.ends_with('\n')) to.examples.pop_back();
}

ReferenceVerb verb_of(const CLI::App& app, std::vector<std::string> words) {
  ReferenceVerb verb{.words = std::move(words), .description = app.get_description()};
  verb.group = app.get_group();
  constexpr std::string_view kUsage = "Usage: ";
  verb.usage = CLI::Formatter{}.make_usage(&app, joined(verb.words, " "));
  verb.usage =
      verb.usage.substr(std::min(verb.usage.find(kUsage) + kUsage.size(), verb.usage.size()));
  while (verb.usage.ends_with('\n')) verb.usage.pop_back();
  split_footer(app.get_footer(), verb);
  add_arguments(app, "", verb);
  for (const CLI::App* part : app.get_subcommands({})) {
    if (part->get_name().empty()) {
      add_arguments(*part, part->get_group(), verb);
    } else if (!part->get_group().empty()) {
      std::vector<std::string> below = verb.words;
      below.push_back(part->get_name());
      verb.verbs.push_back(verb_of(*part, std::move(below)));
    }
  }
  sort_by_heading(verb.options);
  return verb;
}

}  // namespace

ReferenceVerb reference_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* verb = &app; verb != nullptr; verb = verb->get_parent()) {
    words.push_back(verb->get_parent() == nullptr ? kProgram : verb->get_name());
  }
  std::ranges::reverse(words);
  return verb_of(app, std::move(words));
}

std::vector<std::string> conditions_of(const ReferenceArgument& argument) {
  std::vector<std::string> sentences;
  if (argument.required) sentences.emplace_back("Required.");
  if (argument.repeated) sentences.emplace_back("Takes several values.");
  if (!argument.choices.empty()) {
    sentences.push_back(fmt::format("One of: {}.", fmt::join(argument.choices, ", ")));
  }
  if (!argument.range.empty()) sentences.push_back(fmt::format("Range: {}.", argument.range));
  if (!argument.default_value.empty()) {
    sentences.push_back(fmt::format("Default: {}.", argument.default_value));
  }
  if (!argument.needs.empty()) {
    sentences.push_back(fmt::format("Needs {}.", fmt::join(argument.needs, ", ")));
  }
  if (!argument.excludes.empty()) {
    sentences.push_back(fmt::format("Not with {}.", fmt::join(argument.excludes, ", ")));
  }
  if (!argument.environment.empty()) {
    sentences.push_back(fmt::format("Environment: {}.", argument.environment));
  }
  return sentences;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string path_of(const ReferenceVerb& verb) {
  std::string path;
  for (std::size_t i = 1; i < verb.words.size(); ++i) path += "/" + verb.words[i];
  return path;
}

std::vector<const ReferenceVerb*> all_verbs(const ReferenceVerb& program) {
  std::vector<const ReferenceVerb*> all{&program};
  for (const ReferenceVerb& verb : program.verbs)
    std::ranges::copy(all_verbs(verb), std::back_inserter(all));
  return all;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace winnow::tools
