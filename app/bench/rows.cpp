#include "app/bench/rows.h"

#include <fmt/core.h>

#include "common/error.h"
#include "common/json.h"

namespace winnow::app {

void end_if_stopped(const StopRequested& stop) {
  if (stop && stop()) throw StoppedError("stopped before the end of the measurement");
}

void tell_rows(bool as_json, const Session& session, const std::vector<BenchRow>& rows) {
  for (const BenchRow& row : rows) {
    say(session, fmt::format("{}: {:.1f} {} of {:.1f} attainable, {:.1f} %", row.name, row.achieved,
                             row.unit, row.attainable, 100 * row.achieved / row.attainable));
  }
  if (as_json) print_rows(session, rows);
}

void print_rows(const Session& session, const std::vector<BenchRow>& rows) {
  Json json{{"schema", "winnow.bench/1"}, {"rows", Json::array()}};
  for (const BenchRow& row : rows) {
    json["rows"].push_back({{"name", row.name},
                            {"achieved", row.achieved},
                            {"attainable", row.attainable},
                            {"unit", row.unit}});
  }
  print(session, fmt::format("{}\n", json.dump()));
}

}  // namespace winnow::app
