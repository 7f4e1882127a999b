
#include "app/verify/verify.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

Command add_verify(Verb program) {
  auto o = std::make_shared<VerifyRequest>();
  const Verb verb = program.add_verb("verify", "Read every byte of a cache and report damage");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--selection", o->selection,
                  "Only the records of the samples that this selection keeps");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout, also for a damaged cache");
  verb.footer(
      R"(Exit code 1 if anything is damaged.

Examples:
  winnow verify cache
  winnow verify cache --selection default --json)");
  return {verb, false, [o](Session& session) { run_verify(*o, session); }};
}

}  // namespace winnow::tools
