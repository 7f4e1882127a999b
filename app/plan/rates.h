#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text_cache.h"
#include "train/backend/backend.h"
#include "train/plan/algorithms.h"
#include "train/run/options.h"
#include "train/run/start/job.h"
#include "train/run/start/trial.h"

namespace winnow::app {

// Everything besides the steps themselves that determines how fast they are. Kept times apply only
// where all of it is equal.
struct RatesOf {
  std::string processor{};
  int cores = 0;  // cores of the machine
  std::string build{};
  std::string backend{};
  std::string library{};
  std::string instruction_set{};
};
RatesOf rates_here(const train::Backend& backend);

// Cache of trials and times of kernels: one plan keeps them, the next on an equal machine finds
// them. Pure except for the folder.
class Rates {
 public:
  Rates(std::filesystem::path folder, const RatesOf& of);  // an empty folder: nothing is kept

  // Finds the measurement of a trial, a short training of one setting. `trial`: from key_of().
  // Out  nullopt: not measured on such a machine; or the entry is damaged or has impossible
  // numbers.
  std::optional<train::Trial> find(std::string_view trial) const;
  void keep(std::string_view trial, const train::Trial& measured) const;
  // Finds the times of kernels. Out  Empty where find() has nullopt.
  std::vector<train::LayerTimes> find_kernels(std::string_view trial) const;
  void keep_kernels(std::string_view trial, const std::vector<train::LayerTimes>& measured) const;

 private:
  std::string key(std::string_view kind, std::string_view trial) const;

  TextCache cache_;
  std::string of_;
};

// Everything that a trial's times depend on, as text. Learning rates, epochs and seeds do not
// affect them.
std::string key_of(const train::ExecutionOptions& execution, const train::Job& job,
                   const train::TrialShape& shape, const comm::Communicator& comm);

// A trial as text, and back. nullopt: not a text of to_text(), or impossible numbers.
std::string to_text(const train::Trial& trial);
std::optional<train::Trial> parse_trial(const std::string& text);
// Times of kernels likewise; empty instead of nullopt.
std::string to_text(const std::vector<train::LayerTimes>& layers);
std::vector<train::LayerTimes> parse_layers(const std::string& text);

}  // namespace winnow::app
