#include "app/experiment/train_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "app/experiment/tune_space.h"
#include "app/page/html.h"
#include "common/error.h"

namespace winnow::app {
namespace {

struct DecidedFlag {
  std::string_view flag;
  std::string_view instead;    // advice
  std::string_view verb = "";  // the verb that decides it; empty: all do
};

constexpr std::string_view kBefore = "give it before --";
constexpr std::array kDecided{
    DecidedFlag{"--out", kBefore},
    DecidedFlag{"--epochs", kBefore},
    DecidedFlag{"--holdout", kBefore},
    DecidedFlag{"--threads", kBefore},
    DecidedFlag{"--json", kBefore},
    DecidedFlag{"--max-steps", "runs are as long as --epochs, before --, says"},
    DecidedFlag{"--resume", "the same command resumes by itself"},
    DecidedFlag{"--checkpoint-hist", "runs keep their last checkpoint"},
    DecidedFlag{"--folds", "runs are judged on a hold-out"},
    DecidedFlag{"--live", "runs are not shown"},
    DecidedFlag{"--seed", "say how many by --seeds, before --", "sweep"},
    DecidedFlag{"--selection", "each point and each control is one of its own", "sweep"},
    DecidedFlag{"--seed", kBefore, "tune-lr"},
    DecidedFlag{"--selection", kBefore, "tune-lr"},
    DecidedFlag{"--optimizer", "give --optimizers before --", "tune-lr"},
    DecidedFlag{"--batch-size", "give --batch-sizes before --", "tune-lr"},
};

// Advice in place of a flag; empty: it is a word for winnow train.
std::string_view instead_of(std::string_view verb, std::string_view flag) {
  for (const DecidedFlag& decided : kDecided) {
    if (decided.flag == flag && (decided.verb.empty() || decided.verb == verb)) {
      return decided.instead;
    }
  }
  const bool is_tuned =
      verb == "tune-lr" && flag.starts_with("--") &&
      std::ranges::find(kTuneFlags, flag.substr(2), &TuneFlag::flag) != kTuneFlags.end();
  return is_tuned ? kBefore : "";
}

}  // namespace

std::string train_command(const std::filesystem::path& cache,
                          const std::vector<std::string>& words) {
  std::string command = "winnow train " + shell_word(cache.string()) + " --out run";
  for (const std::string& word : words) command += " " + shell_word(word);
  return command;
}

std::string flag_of_word(std::string_view word) {
  return std::string(word.substr(0, word.find('=')));
}

std::vector<std::string> without_flags(const std::vector<std::string>& words,
                                       const std::vector<WordFlag>& flags) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string flag = flag_of_word(words[i]);
    const auto found = std::ranges::find(flags, flag, &WordFlag::flag);
    if (found == flags.end()) {
      left.push_back(words[i]);
    } else if (found->takes_value && flag == words[i]) {
      ++i;
    }
  }
  return left;
}

void check_train_words(std::string_view verb, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string flag = flag_of_word(word);
    const std::string_view instead = instead_of(verb, flag);
    if (instead.empty()) continue;
    throw UsageError(
        fmt::format("{} cannot be passed to winnow train, because winnow {} decides it; {}", flag,
                    verb, instead));
  }
}

}  // namespace winnow::app
