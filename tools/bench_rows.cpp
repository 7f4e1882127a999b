#include "tools/bench_rows.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/error.h"

namespace winnow::tools {

void check(const StopRequested& stop) {
  if (stop && stop()) throw StoppedError("stopped before the end of the measurement");
}

void report(bool as_json, const Session& session, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    say(session, fmt::format("{}: {:.1f} {} of {:.1f} attainable, {:.1f} %", row.name, row.achieved,
                             row.unit, row.attainable, 100 * row.achieved / row.attainable));
  }
  if (as_json && session.comm.rank() == 0) print_json(rows);
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json json{{"schema", "winnow.bench/1"},
                              {"rows", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) {
    json["rows"].push_back({{"name", row.name},
                            {"achieved", row.achieved},
                            {"attainable", row.attainable},
                            {"unit", row.unit}});
  }
  fmt::print("{}\n", json.dump());
}

}  // namespace winnow::tools
