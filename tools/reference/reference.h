#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// The command line as data, from which help, pages, man pages and shell completions are made.
namespace winnow::tools {

// An option, a switch or a positional argument.
struct ReferenceArgument {
  // "-b", "--bytes"; a positional argument has one name without dashes.
  std::vector<std::string> names{};
  std::string value{};                 // type of the value: "TEXT", "INT", "K"; empty: a switch
  std::vector<std::string> choices{};  // allowed values; empty: any, or they are not listed
  std::string range{};                 // allowed range: "FLOAT in [0 - 1]", "POSITIVE"; empty: any
  std::string default_value{};         // default; empty: none, or the description says it
  std::string environment{};           // environment variable that can set it; empty: none
  std::string group{};                 // heading in --help-all; empty: none
  std::string description{};
  std::vector<std::string> needs{};     // options that must be given, too
  std::vector<std::string> excludes{};  // options that must not be given with it
  bool required = false;
  bool repeated = false;  // whether it takes several values
};

// The program, a verb, or a verb of a verb.
struct ReferenceVerb {
  std::vector<std::string> words{};  // {"winnow", "index", "add"}
  std::string group{};               // heading in the list of verbs
  std::string description{};
  std::string usage{};  // "winnow index add [OPTIONS] index inputs..."
  std::vector<ReferenceArgument> positionals{};
  std::vector<ReferenceArgument> options{};
  std::string notes{};     // text below the options, without examples
  std::string examples{};  // examples as literal lines, not indented
  std::vector<ReferenceVerb> verbs{};
};

// The whole reference of the program, from which all texts are made.
struct Reference {
  std::string version{};   // "0.1.0"
  std::string released{};  // "2026-11-24"
  ReferenceVerb program{};
};

// The reference of `app`: the program, or a verb of it, with all its options and verbs. It has
// everything that --help-all shows, in that order, without hidden options. Groups of options are
// included.
ReferenceVerb reference_of(const CLI::App& app);

// One sentence for each condition on an argument: "Needs --augment.", "Given once or more.".
std::vector<std::string> conditions_of(const ReferenceArgument& argument);

// Joins words: "winnow-index-add" with `-` between them.
std::string joined(const std::vector<std::string>& words, const std::string& between);

// A verb's path below the program, for completions: "" for the program, "/index/add".
std::string path_of(const ReferenceVerb& verb);
// `program`, its verbs, and the verbs of these; each before the verbs below it.
std::vector<const ReferenceVerb*> all_verbs(const ReferenceVerb& program);
// `text` with each occurrence of `what` replaced by `with`.
std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace winnow::tools
