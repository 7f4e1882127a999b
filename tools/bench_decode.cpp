#include <memory>

#include "app/bench/decode.h"
#include "tools/bench_held.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

SubVerb add_bench_decode(Verb bench) {
  auto o = std::make_shared<HeldRequest>();
  o->seconds = 5;
  const Verb verb = add_held_bench(
      bench, "decode", "Decoding from memory on all cores, beside one core's rate times the cores",
      *o);
  return {verb, [o](Session& session) { bench_decode(*o, session); }};
}

}  // namespace winnow::tools
