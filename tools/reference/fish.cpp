#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

std::string quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string line_of(const std::string& path, const ReferenceArgument& option) {
  std::string line = fmt::format("complete -c winnow -n '__winnow_at \"{}\"'", path);
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (!option.choices.empty()) {
    line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  } else if (!option.value.empty()) {
    line += " -r -F";
  }
  return line + " -d " + quoted(option.description) + "\n";
}

std::string lines_of(const ReferenceVerb& verb) {
  const std::string path = path_of(verb);
  std::string lines;
  for (const ReferenceVerb& below : verb.verbs) {
    lines += fmt::format("complete -c winnow -n '__winnow_at \"{}\"' -f -a {} -d {}\n", path,
                         below.words.back(), quoted(below.description));
  }
  for (const ReferenceArgument& option : verb.options) lines += line_of(path, option);
  return lines;
}

constexpr const char* kFishScript = R"(# Completion of winnow's command line for fish.
function __winnow_at --description 'Whether the words so far are those of this verb'
    set -l words (commandline -opc)
    set -e words[1]
    set -l verb ''
    for word in $words
        switch "$verb/$word"
            case {verbs}
                set verb "$verb/$word"
        end
    end
    test "$verb" = "$argv[1]"
end
{lines})";

}  // namespace

std::vector<ReferenceFile> completion_for_fish(const Reference& reference) {
  std::vector<std::string> paths;
  std::string lines;
  for (const ReferenceVerb* verb : all_verbs(reference.program)) {
    if (verb != &reference.program) paths.push_back(path_of(*verb));
    lines += lines_of(*verb);
  }
  return {{"winnow.fish", fmt::format(kFishScript, fmt::arg("verbs", fmt::join(paths, " ")),
                                      fmt::arg("lines", lines))}};
}

}  // namespace winnow::tools
