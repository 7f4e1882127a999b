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

// The one place where verbs and their flags are declared. CLI11 reads the command line; no verb
// includes it. Variables bound to flags must live as long as the program's command line.

// A condition on the text of a value, in addition to its flag's type. Conditions on numbers:
// numbers.h.
struct Check {
  std::string shown;  // in the help: "[1, 100]"
  std::function<std::string(const std::string&)>
      refusal;                 // why a text is refused; empty: it is accepted
  bool takes_percent = false;  // 10% is also 0.1
};

// A handle to a flag of a verb, or to a positional argument. Copies refer to the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  // Conditions on the value. Each returns this flag.
  Flag required() const;
  Flag check(const Check& check) const;
  Flag one_of(const std::vector<std::string>& words) const;
  Flag needs(Flag other) const;      // refused without `other`
  Flag needs_not(Flag other) const;  // undoes needs()
  Flag excludes(Flag other) const;   // refused with `other`

  // How values are read. Each returns this flag.
  Flag in_bytes() const;  // also takes 64kb and 4MiB
  Flag in_mib() const;    // also takes 8G and 512M, as MiB
  // `word` stands for `value`; `take` is called if it is given.
  Flag word(const std::string& word, const std::string& value, std::function<void()> take) const;
  Flag delimiter(char between) const;  // one word may contain several values
  Flag expected(int count) const;      // this many values each time
  Flag expected(int least, int most) const;
  Flag repeatable() const;  // one value each time; all are kept
  Flag one_each() const;    // one value each time
  Flag last_holds() const;  // if given several times, the last one counts
  Flag each(std::function<void(const std::string&)> look) const;  // called with every given text
  Flag even_if_not_given() const;  // also calls the function of on_option() then

  // Appearance in the help. Each returns this flag.
  Flag show_default() const;                         // the current value of the bound variable
  Flag show_default(const std::string& text) const;  // this text
  Flag type_name(const std::string& name) const;     // instead of INT, TEXT and so on
  Flag description(const std::string& text) const;
  Flag group(const std::string& title) const;

  std::string name() const;       // "--threads"; "cache" for a positional argument
  std::string long_name() const;  // "threads"; empty for a positional argument
  bool is_switch() const;         // takes no value

  // The given values, from words, the environment or the configuration. Valid after they were read.
  bool given() const;
  const std::vector<std::string>& texts() const;
  double number() const;  // the first text as a number; 0: none was given, or it is no number

  // Gives the flag values after the words were read, as if the user had given them. A refused value
  // throws as on the command line; refusals_as_usage_errors() converts that.
  void give(const std::vector<std::string>& values) const;

 private:
  CLI::Option* option_;
};

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

// Types that a flag may be bound to.
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
  // This verb; flags that are added to the result appear under the heading in the help.
  Verb titled(const std::string& heading) const;
  void footer(const std::string& text) const;  // last part of the help
  void group(const std::string& title) const;  // group that lists it
  void require_verb() const;                   // one of its verbs must be given

  // Adds a flag, named "--threads" or "-n,--rounds", or a positional argument, "cache".
  template <FlagValue T>
  Flag add_option(const std::string& name, T& value, const std::string& help) const;
  Flag add_flag(const std::string& name, bool& value, const std::string& help) const;

  // A flag that passes its value to a function when the words are read.
  template <class T>
  Flag on_option(const std::string& name, const std::function<void(const T&)>& take,
                 const std::string& help) const;
  Flag on_flag(const std::string& name, const std::function<void()>& take,
               const std::string& help) const;
  // A switch, named "--x", or "--x,!--no-x" if it can be undone.
  Flag on_switch(const std::string& name, const std::function<void(bool)>& take,
                 const std::string& help) const;

  std::string name() const;
  bool called() const;                        // valid after the words were read
  Flag flag(const std::string& name) const;   // a flag of the verb or of its groups; it must exist
  bool has(const std::string& name) const;    // whether it has a flag with that name
  bool given(const std::string& name) const;  // whether that flag was given
  std::vector<Flag> flags() const;            // the verb's own, in order
  std::vector<Flag> all_flags() const;        // the verb's own, then those of its groups

  // Takes environment variables that CLI11 2.4 skips or reads after functions of flags: for flags
  // in groups, and those with an invalid value. Works after the verb was called, too. Does not
  // override what was given.
  void take_environment() const;

  CLI::App& app() const { return *app_; }  // for main, help and reference, which use CLI11

 private:
  Flag placed(CLI::Option* option) const;

  CLI::App* app_;
  std::string heading_{};  // for new flags; empty: none
};

// The words of an equivalent command, with options from the command line, the environment and a
// configuration file.
std::vector<std::string> words_of(Verb verb);

// For functions of flags, while words are read: refuses the value given to `flag`.
[[noreturn]] void refuse_value(const std::string& flag, const std::string& why);
// Also for functions of flags: prints `text` and does nothing else; the exit code is 0.
[[noreturn]] void print_and_end(const std::string& text);

// Runs `work`. A value that a flag refuses becomes a UsageError.
void refusals_as_usage_errors(const std::function<void()>& work);

}  // namespace winnow::tools
