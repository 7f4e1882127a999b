#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// What the command line takes, as data: pages, man pages and completions are made of it.
namespace winnow::tools {

// An option, a flag or a positional.
struct ReferenceArgument {
  std::vector<std::string> names{};    // "-b", "--bytes"; of a positional one name without dashes
  std::string value{};                 // "TEXT", "INT", "K"; empty: a flag, which takes none
  std::vector<std::string> choices{};  // the values it takes; empty where these are not listed
  std::string range{};                 // "FLOAT in [0 - 1]", "POSITIVE"; empty: any
  std::string default_value{};         // empty: none, or the description says what happens
  std::string environment{};           // the variable that can give it; empty: none
  std::string group{};                 // its heading in --help-all; empty: none
  std::string description{};
  std::vector<std::string> needs{};     // options that must be given too
  std::vector<std::string> excludes{};  // options that must not
  bool required = false;
  bool repeated = false;  // takes several values
};

// The program, a verb, or a verb of a verb.
struct ReferenceVerb {
  std::vector<std::string> words{};  // {"winnow", "index", "add"}
  std::string group{};               // its heading in the list of verbs
  std::string description{};
  std::string usage{};  // "winnow index add [OPTIONS] index inputs..."
  std::vector<ReferenceArgument> positionals{};
  std::vector<ReferenceArgument> options{};
  std::string notes{};     // the text below the options, without examples
  std::string examples{};  // lines as they stand there, not indented
  std::vector<ReferenceVerb> verbs{};
};

// What texts are made of.
struct Reference {
  std::string version{};   // "0.1.0"
  std::string released{};  // "2026-11-24"
  ReferenceVerb program{};
};

// In:  `app`, the program or a verb of it, with all options and verbs; hidden ones are left out,
// groups of options are gone through. Out: everything its --help-all shows, in that order.
ReferenceVerb reference_of(const CLI::App& app);

// One sentence for each condition on an argument: "Needs --augment.", "Given once or more.".
std::vector<std::string> conditions_of(const ReferenceArgument& argument);

// "winnow-index-add" with `-` between.
std::string joined(const std::vector<std::string>& words, const std::string& between);

// A verb's place below the program, as shells look for it: "" for the program, "/index/add".
std::string path_of(const ReferenceVerb& verb);
// `program`, its verbs and theirs, each before those below it.
std::vector<const ReferenceVerb*> all_verbs(const ReferenceVerb& program);
// The text with each `what` as `with`.
std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace winnow::tools
