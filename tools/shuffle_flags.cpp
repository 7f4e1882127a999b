#include "tools/shuffle_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options) {
  verb.add_option("--shuffle-fraction", options.fraction,
                  "Of each partition of the samples, the fraction that an epoch exchanges with the "
                  "others; 1: all samples are shuffled together, 0: none leaves its lane but what "
                  "that has no room for, as partitions differ in size")
      .in_shares()
      .check(real_in(0.0, 1.0))
      .show_default();
  verb.add_option(
          "--partitions", options.partitions,
          "Of the samples, by a hash of their ids, and as many runs of rows of each global "
          "batch that are taken from one each, but for what is exchanged; the same whatever "
          "the number of ranks; of no effect with --shuffle-fraction 1")
      .check(whole_in(1, kMostCount))
      .show_default();
}

}  // namespace winnow::tools
