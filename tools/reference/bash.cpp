#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

// 'no', 'cosine': words and flags contain nothing else that a shell would interpret.
std::string patterns(const std::string& path, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " | ", path, name);
  return text;
}

// Completions of an option's value: its choices, else files.
std::string values_of(const ReferenceVerb& verb) {
  const std::string path = path_of(verb);
  std::string text;
  for (const ReferenceArgument& option : verb.options) {
    if (option.value.empty()) continue;
    const std::string what = option.choices.empty()
                                 ? "return"
                                 : fmt::format("words='{}'", fmt::join(option.choices, " "));
    text += fmt::format("    {}) {} ;;\n", patterns(path, option.names), what);
  }
  return text;
}

std::string words_of(const ReferenceVerb& verb) {
  std::vector<std::string> flags;
  for (const ReferenceArgument& option : verb.options) {
    flags.insert(flags.end(), option.names.begin(), option.names.end());
  }
  std::vector<std::string> verbs;
  for (const ReferenceVerb& below : verb.verbs) verbs.push_back(below.words.back());
  return fmt::format("    '{}') flags='{}' words='{}' ;;\n", path_of(verb), fmt::join(flags, " "),
                     fmt::join(verbs, " "));
}

constexpr const char* kBashScript = R"(# Completion of winnow's command line for bash.
_winnow() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local verb='' flags='' words='' word
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $verb/$word in
      {verbs}) verb+=/$word ;;
    esac
  done
  case $verb in
{words}  esac
  [[ $current == -* ]] && words=$flags
  case $verb:$before in
{values}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _winnow winnow
)";

}  // namespace

std::vector<ReferenceFile> completion_for_bash(const Reference& reference) {
  std::vector<std::string> paths;
  std::string words;
  std::string values;
  for (const ReferenceVerb* verb : all_verbs(reference.program)) {
    if (verb != &reference.program) paths.push_back(path_of(*verb));
    words += words_of(*verb);
    values += values_of(*verb);
  }
  return {{"winnow", fmt::format(kBashScript, fmt::arg("verbs", fmt::join(paths, " | ")),
                                 fmt::arg("words", words), fmt::arg("values", values))}};
}

}  // namespace winnow::tools
