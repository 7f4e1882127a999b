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
// includes it. What a flag is bound to must live as long as the program's command line.

// A condition on the text of a value, beside its flag's type. numbers.h has those of numbers.
struct Check {
  std::string shown;  // in the help: "[1, 100]"
  std::function<std::string(const std::string&)>
      refusal;                 // why a text is refused; empty: it is not
  bool takes_percent = false;  // 10% is 0.1, too
};

// A handle to a flag of a verb, or to a positional argument. Copies are of the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  // Conditions on what is given. Each returns this flag.
  Flag required() const;
  Flag check(const Check& check) const;
  Flag one_of(const std::vector<std::string>& words) const;
  Flag needs(Flag other) const;      // refused without `other`
  Flag needs_not(Flag other) const;  // takes needs() back
  Flag excludes(Flag other) const;   // refused with `other`

  // How values are read. Each returns this flag.
  Flag in_bytes() const;  // 64kb and 4MiB are numbers, too
  Flag in_mib() const;    // 8G and 512M are numbers of MiB, too
  // `word` is `value`, too; `take` is called where it is given.
  Flag word(const std::string& word, const std::string& value, std::function<void()> take) const;
  Flag delimiter(char between) const;  // one word may have several values
  Flag expected(int count) const;      // so many values each time
  Flag expected(int least, int most) const;
  Flag repeatable() const;  // one value each time; all are taken
  Flag one_each() const;    // one value each time
  Flag last_holds() const;  // given several times, the last one counts
  Flag each(std::function<void(const std::string&)> look) const;  // called with every text given
  Flag even_if_not_given() const;  // the function of on_option() is called then, too

  // What the help shows. Each returns this flag.
  Flag show_default() const;  // the value that the flag is bound to, as it is now
  Flag show_default(const std::string& text) const;  // this text
  Flag type_name(const std::string& name) const;     // in place of INT, TEXT and so on
  Flag description(const std::string& text) const;
  Flag group(const std::string& title) const;

  std::string name() const;       // "--threads"; "cache", of a positional argument
  std::string long_name() const;  // "threads"; empty: a positional argument
  bool is_switch() const;         // takes no value

  // What was given: by words, the environment or the configuration. Known once they were read.
  bool given() const;
  const std::vector<std::string>& texts() const;
  double number() const;  // of the first text; 0: none was given, or it is no number

  // Gives the flag values, as if they had been said, after the words were read. A value that is
  // refused is thrown as one on the command line; refusals_as_usage_errors() catches that.
  void give(const std::vector<std::string>& values) const;

 private:
  CLI::Option* option_;
};

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

// What a flag may be bound to.
template <class T>
concept FlagValue =
    OneOf<T, std::string, std::filesystem::path, int, std::int64_t, std::uint32_t, std::uint64_t,
          double, std::optional<int>, std::optional<std::uint32_t>, std::optional<std::uint64_t>,
          std::optional<double>, std::vector<std::string>, std::vector<std::filesystem::path>,
          std::vector<int>, std::vector<std::uint64_t>, std::vector<double>>;

// A handle to a verb, or to a group of a verb's flags. Copies are of the same verb.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  Verb add_verb(const std::string& name, const std::string& what) const;
  Verb add_group(const std::string& title) const;
  // This verb: flags that are added to what it returns stand under this heading in the help.
  Verb titled(const std::string& heading) const;
  void footer(const std::string& text) const;  // last part of the help
  void group(const std::string& title) const;  // that it is listed in
  void require_verb() const;                   // one of its verbs must be given

  // A flag is named "--threads" or "-n,--rounds", a positional argument "cache".
  template <FlagValue T>
  Flag add_option(const std::string& name, T& value, const std::string& help) const;
  Flag add_flag(const std::string& name, bool& value, const std::string& help) const;

  // A flag that gives its value to a function when the words are read.
  template <class T>
  Flag on_option(const std::string& name, const std::function<void(const T&)>& take,
                 const std::string& help) const;
  Flag on_flag(const std::string& name, const std::function<void()>& take,
               const std::string& help) const;
  // Named "--x", or "--x,!--no-x" where it can be taken back.
  Flag on_switch(const std::string& name, const std::function<void(bool)>& take,
                 const std::string& help) const;

  std::string name() const;
  bool called() const;                        // known once the words were read
  Flag flag(const std::string& name) const;   // one of the verb's or of its groups'; it must exist
  bool has(const std::string& name) const;    // a flag of that name
  bool given(const std::string& name) const;  // of that flag
  std::vector<Flag> flags() const;            // the verb's own, in their order
  std::vector<Flag> all_flags() const;        // the verb's own, then those of its groups

  // Takes variables that CLI11 2.4 passes over, or takes after functions of flags: of flags in
  // groups, and those whose value is none of the flag's. Also of verbs that were called. What was
  // given stays.
  void take_environment() const;

  CLI::App& app() const { return *app_; }  // for main, help and reference, which know CLI11

 private:
  Flag placed(CLI::Option* option) const;

  CLI::App* app_;
  std::string heading_{};  // of flags that are added; empty: none
};

// The words of a command that does what this one does: options of the command line, the environment
// and a configuration file alike.
std::vector<std::string> words_of(Verb verb);

// For functions of flags, while the words are read: refuses the value that `flag` was given.
[[noreturn]] void refuse_value(const std::string& flag, const std::string& why);
// For functions of flags, too: prints `text` in place of all work; the exit code is 0.
[[noreturn]] void print_and_end(const std::string& text);

// Runs `work`. Throws a UsageError where a flag refuses a value there.
void refusals_as_usage_errors(const std::function<void()>& work);

}  // namespace winnow::tools
