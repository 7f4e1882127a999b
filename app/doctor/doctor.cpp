#include "app/doctor/doctor.h"

#include <fmt/core.h>

#include <string>

#include "app/doctor/findings.h"
#include "app/printable.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

void print_json(const Session& session, const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"what", finding.what},
                    {"state", name_of(finding.state)},
                    {"found", to_utf8(finding.found)},
                    {"advice", finding.advice},
                    {"needed", finding.needed}});
  }
  const Json json{{"schema", "winnow.doctor/1"},
                  {"version", version()},
                  {"works", works(findings)},
                  {"findings", list}};
  print(session, fmt::format("{}\n", json.dump()));
}

void print_lines(const Session& session, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    print(session, fmt::format("{:8} {:16} {}\n", name_of(finding.state), finding.what,
                               printable(finding.found)));
    if (!finding.advice.empty()) print(session, fmt::format("{:25} {}\n", "", finding.advice));
  }
}

}  // namespace

void run_doctor(const DoctorRequest& o, const Session& session) {
  if (session.comm.rank() != 0) return;
  const std::vector<Finding> findings = findings_of(look_at_machine(o.caches, session.comm.size()));
  o.json ? print_json(session, findings) : print_lines(session, findings);
  if (works(findings)) return;
  std::string lacks;
  for (const Finding& finding : findings) {
    if (!finding.needed || finding.state != FindingState::kMissing) continue;
    lacks += (lacks.empty() ? "" : ", ") + finding.what;
  }
  throw Error("winnow cannot work here: it lacks " + lacks + "; do what the lines above say");
}

}  // namespace winnow::app
