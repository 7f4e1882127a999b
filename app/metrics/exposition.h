#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/run/log/logged_line.h"

namespace winnow::app {

// The newest figures of a run.
struct MetricsState {
  std::string run{};                       // id of the run; empty: no row yet
  train::MetricsRow last{};                // from the last row
  std::map<std::string, double> newest{};  // by name, from the row that had it last
  std::vector<std::string> hosts{};        // host of each rank
  std::vector<train::RankFigures>
      ranks{};           // sums over intervals; memory and temperature are the newest
  double unix_time = 0;  // time of the last row, seconds since 1970
};

// Enters a row that was written at `unix_time`. A row of another run resets the state.
void enter(MetricsState& state, const train::LoggedLine& line, double unix_time);

// The state in Prometheus' text format 0.0.4: HELP, TYPE and series of each metric. Names begin
// with winnow_; the id of the run is a label. Pure.
//
// Counters  end in _total, and only grow as long as the process lives
// Texts     hosts may be any bytes: bytes that are no UTF-8 are replaced (common/utf8.h)
// Empty     before the first row: a comment
std::string exposition(const MetricsState& state);

}  // namespace winnow::app
