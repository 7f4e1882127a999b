#include "tools/flags/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "common/error.h"
#include "common/memory_size.h"
#include "common/row_called.h"

namespace winnow::tools {
namespace {

// 10% becomes 0.1; any other text is unchanged.
std::string read_percent(std::string& text) {
  double percent = 0;
  if (text.ends_with('%') && CLI::detail::lexical_cast(text.substr(0, text.size() - 1), percent)) {
    text = fmt::format("{}", percent / 100);
  }
  return {};
}

}  // namespace

Flag Flag::required() const {
  option_->required();
  return *this;
}

Flag Flag::check(const Check& check) const {
  if (check.takes_percent) option_->transform(CLI::Validator(&read_percent, ""));
  option_->check(CLI::Validator(check.refusal, check.shown));
  return *this;
}

Flag Flag::one_of(const std::vector<std::string>& words) const {
  const auto refusal = [words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return unknown_name("there is no", text, words);
  };
  option_->check(CLI::Validator(refusal, fmt::format("{{{}}}", fmt::join(words, ","))));
  return *this;
}

Flag Flag::in_bytes() const {
  option_->transform(CLI::AsSizeValue(false));
  return *this;
}

Flag Flag::in_mib() const {
  const auto read = [](std::string& text) {
    const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) &&
                          text.find_first_of("xX") == std::string::npos;
    if (!has_unit) return std::string();  // a plain number: checks judge it
    const std::optional<std::uint64_t> mib = parse_mib(text);
    if (!mib) return text + " is not a size; give one as 8G, 512M or a number of MiB";
    text = std::to_string(*mib);
    return std::string();
  };
  option_->transform(CLI::Validator(read, ""));
  return *this;
}

Flag Flag::word(const std::string& word, const std::string& value,
                std::function<void()> take) const {
  const auto read = [word, value, take = std::move(take)](std::string& text) {
    if (text == word) {
      text = value;
      take();
    }
    return std::string();
  };
  option_->transform(CLI::Validator(read, ""));
  return *this;
}

Flag Flag::needs(Flag other) const {
  option_->needs(other.option_);
  return *this;
}

Flag Flag::needs_not(Flag other) const {
  option_->remove_needs(other.option_);
  return *this;
}

Flag Flag::excludes(Flag other) const {
  option_->excludes(other.option_);
  return *this;
}

Flag Flag::delimiter(char between) const {
  option_->delimiter(between);
  return *this;
}

Flag Flag::expected(int count) const {
  option_->expected(count);
  return *this;
}

Flag Flag::expected(int least, int most) const {
  option_->expected(least, most);
  return *this;
}

Flag Flag::repeatable() const {
  option_->take_all()->allow_extra_args(false);
  return *this;
}

Flag Flag::one_each() const {
  option_->allow_extra_args(false);
  return *this;
}

Flag Flag::last_holds() const {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Flag Flag::each(std::function<void(const std::string&)> look) const {
  option_->each(std::move(look));
  return *this;
}

Flag Flag::even_if_not_given() const {
  option_->force_callback();
  return *this;
}

Flag Flag::show_default() const {
  option_->capture_default_str();
  return *this;
}

Flag Flag::show_default(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

Flag Flag::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Flag Flag::description(const std::string& text) const {
  option_->description(text);
  return *this;
}

Flag Flag::group(const std::string& title) const {
  option_->group(title);
  return *this;
}

std::string Flag::name() const { return option_->get_name(); }

std::string Flag::long_name() const {
  const std::vector<std::string>& names = option_->get_lnames();
  return names.empty() ? std::string() : names.front();
}

bool Flag::is_switch() const { return option_->get_expected_max() == 0; }

bool Flag::given() const { return option_->count() > 0; }

const std::vector<std::string>& Flag::texts() const { return option_->results(); }

double Flag::number() const {
  double number = 0;
  if (given()) CLI::detail::lexical_cast(texts().front(), number);
  return number;
}

void Flag::give(const std::vector<std::string>& values) const {
  option_->add_result(values);
  option_->run_callback();
}

Verb Verb::add_verb(const std::string& name, const std::string& what) const {
  return Verb(*app_->add_subcommand(name, what));
}

Verb Verb::add_group(const std::string& title) const {
  return Verb(*app_->add_option_group(title));
}

Verb Verb::titled(const std::string& heading) const {
  Verb verb = *this;
  verb.heading_ = heading;
  return verb;
}

Flag Verb::placed(CLI::Option* option) const {
  if (!heading_.empty()) option->group(heading_);
  return Flag(*option);
}

void Verb::footer(const std::string& text) const { app_->footer(text); }

void Verb::group(const std::string& title) const { app_->group(title); }

void Verb::require_verb() const { app_->require_subcommand(1); }

template <FlagValue T>
Flag Verb::add_option(const std::string& name, T& value, const std::string& help) const {
  return placed(app_->add_option(name, value, help));
}

Flag Verb::add_flag(const std::string& name, bool& value, const std::string& help) const {
  return placed(app_->add_flag(name, value, help));
}

template <class T>
Flag Verb::on_option(const std::string& name, const std::function<void(const T&)>& take,
                     const std::string& help) const {
  return placed(app_->add_option_function<T>(name, take, help));
}

Flag Verb::on_flag(const std::string& name, const std::function<void()>& take,
                   const std::string& help) const {
  return placed(app_->add_flag_callback(name, take, help));
}

Flag Verb::on_switch(const std::string& name, const std::function<void(bool)>& take,
                     const std::string& help) const {
  return placed(app_->add_flag_function(
      name, [take](std::int64_t count) { take(count > 0); }, help));
}

std::string Verb::name() const { return app_->get_name(); }

bool Verb::called() const { return app_->parsed(); }

Flag Verb::flag(const std::string& name) const { return Flag(*app_->get_option(name)); }

bool Verb::has(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }

bool Verb::given(const std::string& name) const { return flag(name).given(); }

void Verb::take_environment() const {
  for (CLI::Option* option : app_->get_options()) {
    if (option->get_envname().empty() || option->count() > 0) continue;
    const char* const value = std::getenv(option->get_envname().c_str());
    if (value == nullptr || *value == '\0') continue;
    option->add_result(value);
    option->run_callback();
  }
  const auto belongs = [](const CLI::App* part) {
    return part->get_name().empty() || part->parsed();
  };
  for (CLI::App* part : app_->get_subcommands(belongs)) Verb(*part).take_environment();
}

std::vector<Flag> Verb::flags() const {
  std::vector<Flag> flags;
  for (CLI::Option* option : app_->get_options()) flags.emplace_back(*option);
  return flags;
}

std::vector<Flag> Verb::all_flags() const {
  std::vector<Flag> all = flags();
  for (CLI::App* group : app_->get_subcommands([](const CLI::App*) { return true; })) {
    for (CLI::Option* option : group->get_options()) all.emplace_back(*option);
  }
  return all;
}

std::vector<std::string> words_of(Verb verb) {
  std::vector<std::string> words;
  for (const CLI::App* app = &verb.app(); app->get_parent() != nullptr; app = app->get_parent()) {
    words.insert(words.begin(), app->get_name());
  }
  words.insert(words.begin(), "winnow");
  std::vector<std::string> named;
  for (const CLI::Option* option : verb.app().get_options()) {
    const std::vector<std::string>& values = option->results();
    if (values.empty()) continue;
    const bool positional = option->get_lnames().empty();
    std::vector<std::string>& to = positional ? words : named;
    const bool is_negated =
        !positional && option->get_expected_max() == 0 && values.back() == "false";
    if (!positional) {
      to.push_back("--" + (is_negated ? option->get_fnames() : option->get_lnames()).front());
    }
    if (!positional && option->get_expected_max() == 0) continue;  // a switch
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool joined = i > 0 && option->get_delimiter() != '\0';
      if (joined) {
        to.back() += option->get_delimiter() + values[i];
      } else {
        to.push_back(values[i]);
      }
    }
  }
  words.insert(words.end(), named.begin(), named.end());
  return words;
}

void refuse_value(const std::string& flag, const std::string& why) {
  throw CLI::ValidationError(flag, why);
}

void print_and_end(const std::string& text) { throw CLI::CallForVersion(text, 0); }

void refusals_as_usage_errors(const std::function<void()>& work) {
  try {
    work();
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

// All types of FlagValue.
template Flag Verb::add_option(const std::string&, std::string&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::filesystem::path&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, int&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::uint32_t&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Flag Verb::add_option(const std::string&, double&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::optional<int>&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::optional<std::uint32_t>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::optional<std::uint64_t>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::optional<double>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::vector<std::string>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::vector<std::filesystem::path>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::vector<int>&, const std::string&) const;
template Flag Verb::add_option(const std::string&, std::vector<std::uint64_t>&,
                               const std::string&) const;
template Flag Verb::add_option(const std::string&, std::vector<double>&, const std::string&) const;

template <class T>
using Take = std::function<void(const T&)>;
template Flag Verb::on_option(const std::string&, const Take<std::string>&,
                              const std::string&) const;
template Flag Verb::on_option(const std::string&, const Take<double>&, const std::string&) const;
template Flag Verb::on_option(const std::string&, const Take<std::vector<std::string>>&,
                              const std::string&) const;
template Flag Verb::on_option(const std::string&, const Take<std::vector<double>>&,
                              const std::string&) const;

}  // namespace winnow::tools
