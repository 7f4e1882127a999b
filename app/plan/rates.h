#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/text_cache.h"
#include "train/backend/backend.h"
#include "train/run/options.h"
#include "train/run/start/job.h"
#include "train/run/start/trial.h"

namespace winnow::app {

// What decides how fast steps are, but for the steps themselves: the same rates hold wherever it is
// the same. A line for each.
struct RatesOf {
  std::string processor{};
  int cores = 0;  // of the machine
  std::string build{};
  std::string backend{};
  std::string library{};
  std::string instruction_set{};
};
RatesOf rates_here(const train::Backend& backend);

// Trials by what they depend on: kept by one plan, found by the next on such a machine. Pure but
// for the folder.
class Rates {
 public:
  Rates(std::filesystem::path folder, const RatesOf& of);  // an empty folder: nothing is kept

  // Nothing found: it was not measured, or what is there is damaged, another's, or cannot be.
  std::optional<train::Trial> find(std::string_view trial) const;
  void keep(std::string_view trial, const train::Trial& measured) const;

 private:
  std::string key(std::string_view kind, std::string_view trial) const;

  TextCache cache_;
  std::string of_;
};

// What the times of a trial depend on, as text. Learning rates, epochs and seeds change none.
std::string key_of(const train::ExecutionOptions& execution, const train::Job& job,
                   const train::TrialShape& shape, const comm::Communicator& comm);

// A trial as text, and back. Nothing: no text of to_text(), or numbers that cannot be.
std::string to_text(const train::Trial& trial);
std::optional<train::Trial> parse_trial(const std::string& text);

}  // namespace winnow::app
