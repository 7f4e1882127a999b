#include "app/plan/kernel_words.h"

#include "common/error.h"

namespace winnow::app {

std::vector<std::string> kernel_words(const train::KernelChoices& choices) {
  std::vector<std::string> words;
  for (const auto& [layer, kernel] : choices) words.push_back(layer + "=" + kernel);
  return words;
}

train::KernelChoices parse_kernel_words(const std::vector<std::string>& words) {
  train::KernelChoices choices;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size() ||
        word.find_first_of("\t\n") != std::string::npos) {
      throw UsageError("--kernel " + word + " is not of the form LAYER=KERNEL");
    }
    const std::string layer = word.substr(0, equals);
    if (!choices.emplace(layer, word.substr(equals + 1)).second) {
      throw UsageError("--kernel names two kernels for '" + layer + "'; leave out one");
    }
  }
  return choices;
}

}  // namespace winnow::app
