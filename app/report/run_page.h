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
  std::string name{};  // name of the input; any bytes, empty: unknown
  Bytes jpeg{};        // empty: no picture
};

// All that a page shows of one run. Names may be any bytes.
struct RunView {
  std::string name;                             // name for people
  std::map<std::string, std::string> settings;  // from config_settings()
  std::vector<train::MetricsRow> rows;          // numbers up to 1e100 in size, seconds up to 1e15
  std::string watched{};                        // metric of the best checkpoint; empty: none
  std::optional<train::StoredEvaluation> evaluation{};
  std::vector<ShownMistake> mistakes{};
  std::string no_pictures{};  // the reason, as a sentence; empty: there are pictures
};

// A page of one run, or of several side by side. Self-contained, also well-formed XML. `made`:
// when, by what, on which machine. Pure.
std::string html_of(const std::vector<RunView>& runs, const std::string& made);

// Sections for other pages of runs, which include run_style(). A run's colour depends on its place.
std::string curves_section(const std::vector<RunView>& runs);
std::string settings_section(const std::vector<RunView>& runs);
std::string run_key(std::size_t run, const std::string& name);  // the name next to its colour
std::string_view run_style() noexcept;

}  // namespace winnow::app
