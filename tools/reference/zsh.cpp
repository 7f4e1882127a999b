#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

std::string zsh_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// A description inside a specification of _arguments, where colons and brackets are special.
std::string escaped(std::string text) {
  for (const char* mark : {"\\", "[", "]", ":"})
    text = replaced(std::move(text), mark, std::string("\\") + mark);
  return text;
}

std::string value_of(const ReferenceArgument& argument) {
  if (argument.value.empty()) return "";
  const std::string action =
      argument.choices.empty() ? "_files" : fmt::format("({})", fmt::join(argument.choices, " "));
  return fmt::format(":{}:{}", escaped(argument.value), action);
}

// An option that may be given once is not offered again.
std::string spec_of(const ReferenceArgument& option) {
  std::string specs;
  for (const std::string& name : option.names) {
    const std::string before =
        option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    const bool takes_equals = !option.value.empty() && name.starts_with("--");
    specs += " \\\n    " + zsh_quoted(before + name + (takes_equals ? "=" : "") + "[" +
                                      escaped(option.description) + "]" + value_of(option));
  }
  return specs;
}

std::string function_of(const ReferenceVerb& verb) {
  const std::string name = "_" + joined(verb.words, "_");
  std::string specs;
  for (const ReferenceArgument& option : verb.options) specs += spec_of(option);
  if (verb.verbs.empty())
    return fmt::format("{}() {{\n  _arguments{} \\\n    '*:file:_files'\n}}\n", name, specs);
  std::string verbs;
  std::string cases;
  for (const ReferenceVerb& below : verb.verbs) {
    verbs += "\n    " + zsh_quoted(below.words.back() + ":" + escaped(below.description));
    cases += fmt::format("\n      {}) _{} ;;", below.words.back(), joined(below.words, "_"));
  }
  return fmt::format(R"({name}() {{
  local curcontext=$curcontext state line
  local -A opt_args
  local -a verbs=({verbs}
  )
  _arguments -C{specs} \
    ': :->verb' \
    '*:: :->words' && return
  case $state in
    verb) _describe -t verbs verb verbs ;;
    words)
      case $line[1] in{cases}
      esac
      ;;
  esac
}}
)",
                     fmt::arg("name", name), fmt::arg("verbs", verbs), fmt::arg("specs", specs),
                     fmt::arg("cases", cases));
}

constexpr const char* kEnd = R"(if [[ $funcstack[1] == _winnow ]]; then
  _winnow "$@"
else
  compdef _winnow winnow
fi
)";

}  // namespace

std::vector<ReferenceFile> completion_for_zsh(const Reference& reference) {
  std::string text = "#compdef winnow\n# Completion of winnow's command line for zsh.\n";
  for (const ReferenceVerb* verb : all_verbs(reference.program)) text += function_of(*verb);
  return {{"_winnow", text + kEnd}};
}

}  // namespace winnow::tools
