#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/run/log/logged_line.h"

namespace winnow::app {

// The newest metrics of a training run, as Prometheus sees them.
struct MetricsState {
  std::string run{};         // id of the run; empty: no row was written yet
  train::MetricsRow last{};  // the last row of metrics.jsonl
  // Newest value of each metric, by name, from the last row that has it.
  std::map<std::string, double> newest{};
  std::vector<std::string> hosts{};  // host name of each rank
  std::vector<train::RankFigures>
      // Counters of each rank, summed over all intervals; memory and temperature are the newest.
      ranks{};
  double unix_time = 0;  // time of the last row, in seconds since 1970
};

// Updates the state by a row that was written at `unix_time`. A row of another run resets the
// state.
void enter(MetricsState& state, const train::LoggedLine& line, double unix_time);

// Formats the state in Prometheus' text format 0.0.4: HELP, TYPE and series of each metric. Names
// begin with winnow_; the id of the run is a label. Pure.
//
// Counters  end in _total, and only grow as long as the process lives
// Hosts     names may be any bytes; bytes that are not UTF-8 are replaced (common/utf8.h)
// No row    the text is a comment only
std::string exposition(const MetricsState& state);

}  // namespace winnow::app
