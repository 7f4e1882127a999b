#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// The command line as data, for pages, man pages and completions.
namespace winnow::tools {

// An option, a switch or a positional.
struct ReferenceArgument {
  std::vector<std::string> names{};    // "-b", "--bytes"; one name without dashes for a positional
  std::string value{};                 // "TEXT", "INT", "K"; empty: a switch, without a value
  std::vector<std::string> choices{};  // allowed values; empty if they are not listed
  std::string range{};                 // "FLOAT in [0 - 1]", "POSITIVE"; empty: any
  std::string default_value{};         // empty: none, or the description tells it
  std::string environment{};           // the variable that can set it; empty: none
  std::string group{};                 // heading in --help-all; empty: none
  std::string description{};
  std::vector<std::string> needs{};     // options that must be given too
  std::vector<std::string> excludes{};  // options that must not be given
  bool required = false;
  bool repeated = false;  // takes several values
};

// The program, a verb, or a verb of a verb.
struct ReferenceVerb {
  std::vector<std::string> words{};  // {"winnow", "index", "add"}
  std::string group{};               // heading in the list of verbs
  std::string description{};
  std::string usage{};  // "winnow index add [OPTIONS] index inputs..."
  std::vector<ReferenceArgument> positionals{};
  std::vector<ReferenceArgument> options{};
  std::string notes{};     // the text below the options, without examples
  std::string examples{};  // literal lines, not indented
  std::vector<ReferenceVerb> verbs{};
};

// Input of all texts.
struct Reference {
  std::string version{};   // "0.1.0"
  std::string released{};  // "2026-11-24"
  ReferenceVerb program{};
};

// The reference of `app` and its verbs. In: `app`, the program or a verb of it, with all options
// and verbs. Out: everything that its --help-all shows, in that order, without hidden ones; groups
// of options are included.
ReferenceVerb reference_of(const CLI::App& app);

// One sentence for each condition on an argument: "Needs --augment.", "Given once or more.".
std::vector<std::string> conditions_of(const ReferenceArgument& argument);

// "winnow-index-add" with `-` between.
std::string joined(const std::vector<std::string>& words, const std::string& between);

// A verb's path below the program, for completions: "" for the program, "/index/add".
std::string path_of(const ReferenceVerb& verb);
// `program`, its verbs and theirs, each before those below it.
std::vector<const ReferenceVerb*> all_verbs(const ReferenceVerb& program);
// The text with each `what` replaced by `with`.
std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace winnow::tools
