#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tools/reference/formats.h"

// Pages for Python-Markdown with definition lists and attributes (def_list, attr_list).
namespace winnow::tools {
namespace {

// Text between backquotes, whatever it contains.
std::string code(const std::string& text) {
  std::string fence = "`";
  while (text.find(fence) != std::string::npos) fence += '`';
  const std::string space = text.starts_with('`') || text.ends_with('`') ? " " : "";
  return fence + space + text + space + fence;
}

// Text with all markup of Markdown and HTML escaped.
std::string plain_markdown(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_{}[]#|~";
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kMarkup.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The end of the code that begins at `at`: words between backquotes, or a flag. `at` if there is no
// code.
std::size_t end_of_code(std::string_view text, std::size_t at) {
  if (text[at] == '`') {
    const std::size_t end = text.find('`', at + 1);
    return end == std::string_view::npos || end == at + 1 ? at : end + 1;
  }
  const bool is_flag = text.substr(at, 2) == "--" && at + 2 < text.size() &&
                       is_word(text[at + 2]) &&
                       (at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '-'));
  if (!is_flag) return at;
  std::size_t end = at + 2;
  while (end < text.size() && (is_word(text[end]) || text[end] == '-')) ++end;
  return end;
}

// A sentence on one line, with the flags that it names as code. `|` would end a cell of a table.
std::string sentence(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_code(text, at);
    if (end == at) {
      out += plain_markdown(text.substr(at++, 1));
    } else {
      const bool is_quoted = text[at] == '`';
      out += code(text.substr(at + is_quoted, end - at - 2 * is_quoted));
      at = end;
    }
  }
  return replaced(out, "\\|", "&#124;");
}

// A block of literal lines.
std::string block(const std::string& language, const std::string& text) {
  const std::string fence = text.find("```") == std::string::npos ? "```" : "~~~~~~";
  return fmt::format("{}{}\n{}\n{}\n\n", fence, language, text, fence);
}

// Paragraphs as text; tables and other indented lines literally.
std::string notes_of(const ReferenceVerb& verb) {
  if (verb.notes.empty()) return "";
  std::string text = "## Notes\n\n";
  for (std::size_t at = 0; at < verb.notes.size();) {
    const std::size_t end = std::min(verb.notes.find("\n\n", at), verb.notes.size());
    const std::string part = verb.notes.substr(at, end - at);
    const bool is_laid_out = part.starts_with(' ') || part.find("\n ") != std::string::npos;
    text += is_laid_out ? block("text", part) : sentence(part) + "\n\n";
    at = end + 2;
  }
  return text;
}

std::string list_of(const std::vector<std::string>& words) {
  std::vector<std::string> spans;
  for (const std::string& word : words) spans.push_back(code(word));
  return fmt::format("{}", fmt::join(spans, ", "));
}

// "--image-size"; for a verb's verb "add--image-size", because options of several share a page.
std::string anchor_of(const ReferenceVerb& verb, const std::string& name) {
  return (verb.words.size() > 2 ? verb.words.back() : "") + name;
}

std::string links_to(const ReferenceVerb& verb, const std::vector<std::string>& names) {
  std::vector<std::string> links;
  for (const std::string& name : names) {
    const bool is_option = std::ranges::any_of(
        verb.options, [&name](const auto& option) { return option.names.back() == name; });
    links.push_back(is_option ? fmt::format("[{}](#{})", code(name), anchor_of(verb, name))
                              : code(name));
  }
  return fmt::format("{}", fmt::join(links, ", "));
}

// The conditions of conditions_of(), with code and links.
std::string conditions(const ReferenceVerb& verb, const ReferenceArgument& argument) {
  std::vector<std::string> said;
  if (argument.required) said.emplace_back("Required.");
  if (argument.repeated) said.emplace_back("Takes several values.");
  if (!argument.choices.empty()) said.push_back("One of: " + list_of(argument.choices) + ".");
  if (!argument.range.empty()) said.push_back("Range: " + code(argument.range) + ".");
  if (!argument.default_value.empty()) {
    said.push_back("Default: " + code(argument.default_value) + ".");
  }
  if (!argument.needs.empty()) said.push_back("Needs " + links_to(verb, argument.needs) + ".");
  if (!argument.excludes.empty()) {
    said.push_back("Not with " + links_to(verb, argument.excludes) + ".");
  }
  if (!argument.environment.empty()) {
    said.push_back("Environment: " + code(argument.environment) + ".");
  }
  return fmt::format("{}", fmt::join(said, " "));
}

std::string entry_of(const ReferenceVerb& verb, const ReferenceArgument& argument) {
  std::string text = list_of(argument.names);
  const bool is_option = argument.names.front().starts_with('-');
  if (is_option && !argument.value.empty()) {
    text += fmt::format(" *{}*{}", plain_markdown(argument.value), argument.repeated ? " ..." : "");
  }
  if (is_option) text += fmt::format(" {{ #{} }}", anchor_of(verb, argument.names.back()));
  std::string body = sentence(argument.description);
  if (!body.empty() && !body.ends_with('.')) body += '.';
  const std::string more = conditions(verb, argument);
  text += "\n:   " + (body.empty() ? more : body) + "\n";
  if (!body.empty() && !more.empty())
    text += fmt::format("\n    {}\n    {{: .conditions }}\n", more);
  return text + "\n";
}

// Options without a heading come first; groups in their order.
std::string markdown_arguments(const ReferenceVerb& verb, const std::string& level) {
  std::string text;
  if (!verb.positionals.empty()) text += level + " Arguments\n\n";
  for (const ReferenceArgument& positional : verb.positionals) text += entry_of(verb, positional);
  text += level + " Options\n\n";
  std::string group;
  for (const ReferenceArgument& option : verb.options) {
    if (option.group != group) text += fmt::format("{}# {}\n\n", level, sentence(option.group));
    group = option.group;
    text += entry_of(verb, option);
  }
  return text;
}

std::string file_of(const ReferenceVerb& verb) { return verb.words.back() + ".md"; }

// Verbs of a verb are below on its page, those of the program on pages of their own.
std::string table_of_verbs(const ReferenceVerb& verb, bool is_program) {
  std::string text = "| command | what it does |\n|---|---|\n";
  for (const ReferenceVerb& below : verb.verbs) {
    text += fmt::format("| [{}]({}) | {} |\n", code(joined(below.words, " ")),
                        is_program ? file_of(below) : "#" + joined(below.words, "-"),
                        sentence(below.description));
  }
  return text + "\n";
}

std::string ended(std::string text) { return text.ends_with('.') ? text : text + '.'; }

std::string head_of(const ReferenceVerb& verb, const std::string& level) {
  return fmt::format("{} {}\n\n{}\n\n{}", level, joined(verb.words, " "),
                     ended(sentence(verb.description)), block("text", verb.usage));
}

std::string page_of(const ReferenceVerb& verb) {
  std::string text = head_of(verb, "#");
  if (!verb.examples.empty()) text += "## Examples\n\n" + block("sh", verb.examples);
  if (!verb.verbs.empty()) text += table_of_verbs(verb, false);
  text += markdown_arguments(verb, "##");
  text += notes_of(verb);
  for (const ReferenceVerb& below : verb.verbs) {
    text += head_of(below, "##") + markdown_arguments(below, "###");
  }
  return text;
}

std::string page_of_program(const Reference& reference) {
  const ReferenceVerb& program = reference.program;
  const std::string title = program.words.front() + ": ";  // its description begins with its name
  const std::string what =
      program.description.substr(program.description.starts_with(title) ? title.size() : 0);
  std::string text = fmt::format(
      "# Commands\n\nEvery command and option of {} {}, as the program describes itself: {}.\n\n",
      program.words.front(), plain_markdown(reference.version), sentence(what));
  text += block("text", program.usage) + table_of_verbs(program, true);
  return text + markdown_arguments(program, "##") + notes_of(program);
}

}  // namespace

std::vector<ReferenceFile> reference_as_markdown(const Reference& reference) {
  std::vector<ReferenceFile> pages{{file_of(reference.program), page_of_program(reference)}};
  for (const ReferenceVerb& verb : reference.program.verbs)
    pages.push_back({file_of(verb), page_of(verb)});
  return pages;
}

}  // namespace winnow::tools
