#include <memory>

#include "app/doctor/doctor.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

Command add_doctor(Verb program) {
  auto o = std::make_shared<DoctorRequest>();
  const Verb verb =
      program.add_verb("doctor", "Check this machine: what works, and what is missing");
  verb.add_option("caches", o->caches, "Folders for caches; default: the current one");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(Prints a line for each check: ok, warning or missing, what was found, and below it what to do. The
exit code is 0 if ingest, dedup and training on the CPU can work, else 1. Under mpirun it checks the
first rank's machine. If a library is missing, winnow cannot start: winnow-doctor says which.

Examples:
  winnow doctor
  winnow doctor /data /scratch
  winnow doctor --json | jq -r '.findings[] | select(.state != "ok") | .what'
  ssh node2 winnow-doctor)");
  return {verb, true, [o](Session& session) { run_doctor(*o, session); }};
}

}  // namespace winnow::tools
