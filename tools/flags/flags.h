#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace winnow::tools {

// Declares verbs (commands) and their flags (options and positional arguments). This is the only
// place that uses CLI11; no verb includes it. Variables bound to flags must live as long as the
// program's command line.

// A condition on the text of a flag's value, in addition to its type. Conditions on numbers are in
// numbers.h.
struct Check {
  std::string shown;  // condition as help shows it: "[1, 100]"
  // Returns why a text is refused; empty: it is accepted.
  std::function<std::string(const std::string&)> refusal;
  bool takes_percent = false;  // whether 0.1 may be written as 10%
};

// A handle to an option of a verb, or to a positional argument. Copies refer to the same one.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  // Conditions on the value. Each function returns this flag.
  Flag required() const;
  Flag check(const Check& check) const;
  Flag one_of(const std::vector<std::string>& words) const;
  Flag needs(Flag other) const;      // refused unless `other` is given
  Flag needs_not(Flag other) const;  // undoes needs()
  Flag excludes(Flag other) const;   // refused if `other` is given

  // How values are read. Each function returns this flag.
  Flag in_bytes() const;  // bytes; also takes 64kb and 4MiB
  Flag in_mib() const;    // MiB; also takes 8G and 512M
  // Makes `word` stand for `value`; `take` is called if the word is given.
  Flag word(const std::string& word, const std::string& value, std::function<void()> take) const;
  // One word may contain several values, separated by `between`.
  Flag delimiter(char between) const;
  Flag expected(int count) const;  // number of values each time
  Flag expected(int least, int most) const;
  Flag repeatable() const;  // one value each time; all are kept
  Flag one_each() const;    // one value each time
  Flag last_holds() const;  // if given several times, the last one counts
  // `look` is called with every given text.
  Flag each(std::function<void(const std::string&)> look) const;
  // Calls the function of on_option() even if the flag is not given.
  Flag even_if_not_given() const;

  // Appearance in the help. Each function returns this flag.
  Flag show_default() const;  // shows the current value of the bound variable
  Flag show_default(const std::string& text) const;  // shows this text
  Flag type_name(const std::string& name) const;     // type shown instead of INT, TEXT and so on
  Flag description(const std::string& text) const;
  Flag group(const std::string& title) const;

  std::string name() const;       // "--threads"; "cache" for a positional argument
  std::string long_name() const;  // "threads"; empty for a positional argument
  bool is_switch() const;         // whether it takes no value

  // The values that were given in words, the environment or the configuration. Valid after parsing.
  bool given() const;
  const std::vector<std::string>& texts() const;
  double number() const;  // first text as a number; 0: none was given, or it is not a number

  // Sets values after parsing, as if the user had given them. A refused value throws as on the
  // command line; refusals_as_usage_errors() converts that.
  void give(const std::vector<std::string>& values) const;

 private:
  CLI::Option* option_;
};

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

// Types of variables that a flag may be bound to.
template <class T>
concept FlagValue =
    OneOf<T, std::string, std::filesystem::path, int, std::int64_t, std::uint32_t, std::uint64_t,
          double, std::optional<int>, std::optional<std::uint32_t>, std::optional<std::uint64_t>,
          std::optional<double>, std::vector<std::string>, std::vector<std::filesystem::path>,
          std::vector<int>, std::vector<std::uint64_t>, std::vector<double>>;

// A handle to a verb, or to a group of a verb's flags. Copies refer to the same verb.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  Verb add_verb(const std::string& name, const std::string& what) const;
  Verb add_group(const std::string& title) const;
  // Returns this verb such that flags added to the result appear under the heading in the help.
  Verb titled(const std::string& heading) const;
  void footer(const std::string& text) const;  // text for the end of the help
  void group(const std::string& title) const;  // heading of the list that shows it
  void require_verb() const;                   // one of its verbs must be given

  // Adds an option, named "--threads" or "-n,--rounds", or a positional argument, "cache".
  template <FlagValue T>
  Flag add_option(const std::string& name, T& value, const std::string& help) const;
  Flag add_flag(const std::string& name, bool& value, const std::string& help) const;

  // Adds an option whose value is passed to a function when the command line is parsed.
  template <class T>
  Flag on_option(const std::string& name, const std::function<void(const T&)>& take,
                 const std::string& help) const;
  Flag on_flag(const std::string& name, const std::function<void()>& take,
               const std::string& help) const;
  // Adds a switch, named "--x", or "--x,!--no-x" if it can be undone.
  Flag on_switch(const std::string& name, const std::function<void(bool)>& take,
                 const std::string& help) const;

  std::string name() const;
  bool called() const;                        // whether it was called; valid after parsing
  Flag flag(const std::string& name) const;   // flag of the verb or of its groups; must exist
  bool has(const std::string& name) const;    // whether the verb has a flag with that name
  bool given(const std::string& name) const;  // whether the user gave that flag
  std::vector<Flag> flags() const;            // flags of the verb itself, in order
  std::vector<Flag> all_flags() const;        // flags of the verb itself, then those of its groups

  // Reads environment variables that CLI11 2.4 skips, or reads after functions of flags: for flags
  // in groups, and those with an invalid value. Works after the verb was called, too. Does not
  // override what was given.
  void take_environment() const;

  CLI::App& app() const { return *app_; }  // for main, help and reference, which use CLI11

 private:
  Flag placed(CLI::Option* option) const;

  CLI::App* app_;
  std::string heading_{};  // heading for new flags; empty: none
};

// The words of an equivalent command line: with options from the command line, the environment and
// the configuration file.
std::vector<std::string> words_of(Verb verb);

// Refuses the value given to `flag`. For functions of flags, while the command line is parsed.
[[noreturn]] void refuse_value(const std::string& flag, const std::string& why);
// Prints `text` and ends the program with exit code 0. For functions of flags, while the command
// line is parsed.
[[noreturn]] void print_and_end(const std::string& text);

// Runs `work`. If a flag refuses a value in it, throws UsageError.
void refusals_as_usage_errors(const std::function<void()>& work);

}  // namespace winnow::tools
