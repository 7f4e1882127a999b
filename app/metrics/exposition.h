#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/run/log/logged_line.h"

namespace winnow::app {

// What a run measured so far, for who asks for its newest figures.
struct MetricsState {
  std::string run{};                       // its id; empty: no line yet
  train::MetricsRow last{};                // place of the last line
  std::map<std::string, double> newest{};  // of each name, of whichever line had it last
  std::vector<std::string> hosts{};        // of each rank
  std::vector<train::RankFigures>
      ranks{};           // added up over intervals; memory and temperature newest
  double unix_time = 0;  // of the last line, seconds since 1970
};

// Enters a line that was written at `unix_time`. That of another run begins anew.
void enter(MetricsState& state, const train::LoggedLine& line, double unix_time);

// The state in Prometheus' text format 0.0.4: HELP, TYPE and series of each metric, names
// winnow_..., with the id of the run as a label. Pure.
//
// Counters  end in _total, and only grow as long as the process lives
// Texts     hosts are of any bytes: what is no UTF-8 is written as elsewhere (common/utf8.h)
// Empty     before the first line: a comment
std::string exposition(const MetricsState& state);

}  // namespace winnow::app
