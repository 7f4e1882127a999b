#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "train/run/log/metrics.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::app {

// A mistake as it is shown.
struct ShownMistake {
  train::StoredEvaluation::Mistake mistake;
  std::string name{};  // of the input; any bytes, empty: not known
  Bytes jpeg{};        // empty: there is no picture
};

// All that a page shows of one run. Names may hold any bytes.
struct RunView {
  std::string name;                             // as people call it
  std::map<std::string, std::string> settings;  // config_settings()
  std::vector<train::MetricsRow> rows;          // numbers up to 1e100 in size, seconds up to 1e15
  std::string watched{};  // the metric that it keeps the best checkpoint by; empty: none
  std::optional<train::StoredEvaluation> evaluation{};
  std::vector<ShownMistake> mistakes{};
  std::string no_pictures{};  // why, as a sentence; empty: there are
};

// A page of one run, or of several side by side, which are at least one. It needs nothing but
// itself and is well-formed XML too. `made`: when, by what, on which machine. Pure.
std::string html_of(const std::vector<RunView>& runs, const std::string& made);

// Parts of it, for other pages of runs, which take run_style() into their style. Runs have the
// colours of their places.
std::string curves_section(const std::vector<RunView>& runs);
std::string settings_section(const std::vector<RunView>& runs);
std::string run_key(std::size_t run, const std::string& name);  // the name beside its colour
std::string_view run_style() noexcept;

}  // namespace winnow::app
