#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

// Escapes text for roff: no requests, escapes, or hyphens that become typographic ones.
std::string plain(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  text = replaced(replaced(replaced(std::move(text), "'", "\\(aq"), "`", "\\(ga"), "~", "\\(ti");
  text = replaced(replaced(std::move(text), "^", "\\(ha"), "\n.", "\n\\&.");
  return text.starts_with('.') ? "\\&" + text : text;
}

std::string roff_quoted(const std::string& text) {
  return "\"" + replaced(plain(text), "\"", "\\(dq") + "\"";
}

// Lines without filling.
std::string verbatim(const std::string& text) {
  return ".nf\n" + replaced(plain(text), "\n\n", "\n\\&\n") + "\n.fi\n";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string entry_of(const ReferenceArgument& argument) {
  std::string heading = "\\fB" + plain(joined(argument.names, ", ")) + "\\fR";
  if (argument.names.front().starts_with('-') && !argument.value.empty()) {
    heading += " \\fI" + plain(argument.value) + "\\fR" + (argument.repeated ? " ..." : "");
  }
  std::string body = argument.description;
  if (!body.empty() && !body.ends_with('.')) body += '.';
  for (const std::string& sentence : conditions_of(argument))
    body += (body.empty() ? "" : "\n") + sentence;
  return ".TP\n" + heading + "\n" + plain(body) + "\n";
}

// Options without a heading come first; groups in their order.
std::string options_of(const ReferenceVerb& verb) {
  std::string text;
  std::string group;
  for (const ReferenceArgument& option : verb.options) {
    if (option.group != group) text += ".SS " + roff_quoted(option.group) + "\n";
    group = option.group;
    text += entry_of(option);
  }
  return text;
}

std::string arguments_of(const ReferenceVerb& verb, const std::string& macro) {
  std::string text;
  if (!verb.positionals.empty()) text += macro + " ARGUMENTS\n";
  for (const ReferenceArgument& positional : verb.positionals) text += entry_of(positional);
  return text + macro + " OPTIONS\n" + options_of(verb);
}

std::string verbs_of(const ReferenceVerb& verb, bool is_program) {
  if (verb.verbs.empty()) return "";
  std::string text = ".SH VERBS\n";
  for (const ReferenceVerb& below : verb.verbs) {
    if (is_program) {
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}.\n", plain(joined(below.words, "-")),
                          plain(below.description));
      continue;
    }
    text += fmt::format(".SS {}\n{}.\n", roff_quoted(below.usage), plain(below.description));
    for (const ReferenceArgument& positional : below.positionals) text += entry_of(positional);
    text += options_of(below);
  }
  return text;
}

ReferenceFile page_of(const Reference& reference, const ReferenceVerb& verb) {
  const bool is_program = &verb == &reference.program;
  const std::string name = joined(verb.words, "-");
  const std::string program = reference.program.words.front();
  // Neither justified lines nor hyphenated words: both spoil names of variables.
  std::string text = fmt::format(".TH {} 1 \"{}\" {} {}\n.ad l\n.nh\n", roff_quoted(upper(name)),
                                 reference.released, roff_quoted(program + " " + reference.version),
                                 roff_quoted("User Commands"));
  const std::string title = program + ": ";  // the program's own title begins with its name
  text += fmt::format(
      ".SH NAME\n{} \\- {}\n", plain(name),
      plain(verb.description.substr(verb.description.starts_with(title) ? title.size() : 0)));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", plain(verb.usage));
  text += arguments_of(verb, ".SH") + verbs_of(verb, is_program);
  if (!verb.notes.empty()) text += ".SH NOTES\n" + verbatim(verb.notes);
  if (!verb.examples.empty()) text += ".SH EXAMPLES\n" + verbatim(verb.examples);
  text += is_program ? "" : fmt::format(".SH SEE ALSO\n.BR {} (1)\n", plain(program));
  return {name + ".1", text};
}

}  // namespace

std::vector<ReferenceFile> reference_as_man(const Reference& reference) {
  std::vector<ReferenceFile> pages{page_of(reference, reference.program)};
  for (const ReferenceVerb& verb : reference.program.verbs)
    pages.push_back(page_of(reference, verb));
  return pages;
}

}  // namespace winnow::tools
