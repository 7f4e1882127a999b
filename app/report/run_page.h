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

// A wrong prediction of an evaluation, as a page shows it.
struct ShownMistake {
  train::StoredEvaluation::Mistake mistake;
  std::string name{};  // name of the input; any bytes; empty: unknown
  Bytes jpeg{};        // picture as a JPEG; empty: no picture
};

// Content of a page about one training run. Names may be any bytes.
struct RunView {
  std::string name;                             // name of the run, as shown to people
  std::map<std::string, std::string> settings;  // settings of the run, from config_settings()
  // Rows of metrics.jsonl; numbers up to 1e100 in magnitude, times up to 1e15 seconds.
  std::vector<train::MetricsRow> rows;
  std::string watched{};  // name of the metric that chose the best checkpoint; empty: none
  std::optional<train::StoredEvaluation> evaluation{};
  std::vector<ShownMistake> mistakes{};
  std::string no_pictures{};  // why there are no pictures, as a sentence; empty: there are pictures
};

// Makes a page of one training run, or of several side by side. Self-contained HTML, well-formed
// XML, too. `made`: when, by which version and on which machine. Pure.
std::string html_of(const std::vector<RunView>& runs, const std::string& made);

// Sections for other pages about training runs, which must add run_style() to their style. The
// colour of a run depends on its position in `runs`.
std::string curves_section(const std::vector<RunView>& runs);
std::string settings_section(const std::vector<RunView>& runs);
// HTML with the name of a run next to its colour.
std::string run_key(std::size_t run, const std::string& name);
std::string_view run_style() noexcept;

}  // namespace winnow::app
