#include <filesystem>
#include <memory>

#include "app/bench/ingest.h"
#include "tools/bench_held.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

}  // namespace

SubVerb add_bench_ingest(Verb bench) {
  auto o = std::make_shared<IngestBenchRequest>();
  o->held.seconds = 20;
  const Verb verb =
      add_held_bench(bench, "ingest",
                     "A whole ingest, beside decoding the same images from memory on "
                     "the same cores, and beside that with plain writing of their bytes",
                     o->held);
  verb.add_option("--out", o->out,
                  "Folder in which caches are made and removed again; empty: where temporary files "
                  "are kept");
  return {verb, [o](Session& session) { bench_ingest(*o, session); }};
}

}  // namespace winnow::tools
