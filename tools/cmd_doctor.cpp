#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/utf8.h"
#include "tools/command.h"
#include "tools/doctor/findings.h"
#include "tools/flags/flags.h"

namespace winnow::tools {
namespace {

struct DoctorOptions {
  std::vector<std::filesystem::path> caches{"."};
  bool json = false;
};

void print_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"what", finding.what},
                    {"state", name_of(finding.state)},
                    {"found", to_utf8(finding.found)},
                    {"advice", finding.advice},
                    {"needed", finding.needed}});
  }
  const nlohmann::ordered_json json{{"schema", "winnow.doctor/1"},
                                    {"version", WINNOW_VERSION},
                                    {"works", works(findings)},
                                    {"findings", list}};
  fmt::print("{}\n", json.dump());
}

void print_lines(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:8} {:16} {}\n", name_of(finding.state), finding.what, printable(finding.found));
    if (!finding.advice.empty()) fmt::print("{:25} {}\n", "", finding.advice);
  }
}

void doctor(const DoctorOptions& o, const Session& session) {
  if (session.comm.rank() != 0) return;
  const std::vector<Finding> findings = findings_of(look_at_machine(o.caches, session.comm.size()));
  o.json ? print_json(findings) : print_lines(findings);
  if (works(findings)) return;
  std::string lacks;
  for (const Finding& finding : findings) {
    if (!finding.needed || finding.state != FindingState::kMissing) continue;
    lacks += (lacks.empty() ? "" : ", ") + finding.what;
  }
  throw Error("winnow cannot work here for want of " + lacks + "; do what the lines above say");
}

}  // namespace

Command add_doctor(Verb program) {
  auto o = std::make_shared<DoctorOptions>();
  const Verb verb =
      program.add_verb("doctor", "Say what this machine has, and what is missing for what");
  verb.add_option("caches", o->caches,
                  "Folders that caches are to be in; the current one, if not given");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(A line for each thing: ok, warning or missing, what was found, and below it what to do. The exit
code is 0 where ingest, dedup and training on the CPU can work, else 1. Under mpirun it speaks of
the first rank's machine. Where a library is missing winnow cannot start: winnow-doctor says which.

Examples:
  winnow doctor
  winnow doctor /data /scratch
  winnow doctor --json | jq -r '.findings[] | select(.state != "ok") | .what'
  ssh node2 winnow-doctor)");
  return {verb, true, [o](Session& session) { doctor(*o, session); }};
}

}  // namespace winnow::tools
