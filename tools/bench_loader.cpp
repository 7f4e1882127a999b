#include <memory>

#include "app/bench/loader.h"
#include "pipeline/load/stages.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/memory_flags.h"
#include "tools/numbers.h"
#include "tools/shuffle_flags.h"
#include "train/nets/nets.h"

namespace winnow::tools {

SubVerb add_bench_loader(Verb bench) {
  auto o = std::make_shared<LoaderBenchRequest>();
  const Verb verb = bench.add_verb(
      "loader",
      "Training batches taken as fast as they come, beside reading, decoding and augmenting alone, "
      "and, of bare pixels, copying them");
  verb.add_option("cache", o->load.cache, "Cache made by winnow ingest").required();
  add_memory_flags(verb, o->load.memory);
  verb.add_option("--augment", o->load.augment, "Augmentation recipe, as of train").show_default();
  verb.add_option("--image-size", o->load.image_side_px, "Side in pixels; 0: as the images are")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  verb.add_option("--batch-size", o->load.batch, "Images of a batch")
      .check(whole_in(1, 1 << 20))
      .show_default();
  add_shuffle_flags(verb, o->load.shuffle);
  verb.add_option("--threads", o->load.threads, "That load; 0: all there are")
      .check(cores())
      .show_default();
  verb.add_option("--seconds", o->seconds, "Of a run of the loader")
      .check(real_above(0, kMostSeconds))
      .show_default();
  verb.add_option("--rounds", o->rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_loader(*o, session); }};
}

}  // namespace winnow::tools
