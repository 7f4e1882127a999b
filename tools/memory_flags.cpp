#include "tools/memory_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

void add_memory_flags(Verb verb, MemoryOptions& flags) {
  verb.add_flag("--memory", flags.memory,
                "Read the shards from a copy in memory, loaded first where it is not there; always "
                "so where they are on a network file system. Machines that do not have the cache "
                "at its path get it from those that do");
  verb.add_option("--memory-dir", flags.folder,
                  "Folder of the copy, on a tmpfs or on a disk of the machine; implies --memory "
                  "(default: /dev/shm)");
  verb.add_option("--segment-size", flags.segment_mib,
                  "MiB a rank exchanges with other machines at once, where they hold parts or one "
                  "gets the cache from another")
      .check(whole_in(1, kMostMib))
      .show_default();
  add_machine_flags(verb, flags);
}

void add_machine_flags(Verb verb, MemoryOptions& flags) {
  verb.add_option(
          "--replicas", flags.replicas,
          "Copies in the memory of all machines together: each machine holds its part of "
          "one, and gets the others' records while it works; as many as there are machines: "
          "each holds everything")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--ranks-per-machine", flags.ranks_per_machine,
                  "Take so many ranks for those of a machine, to try out on one what several would "
                  "do; 0: as they are")
      .check(whole_in(0, kMostCount))
      .show_default();
}

}  // namespace winnow::tools
