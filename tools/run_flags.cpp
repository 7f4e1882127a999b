#include "tools/run_flags.h"

#include "tools/numbers.h"
#include "train/run/record/setup.h"

namespace winnow::tools {
namespace {

// Headings.
constexpr const char* kNetHeading = "The net";
constexpr const char* kMemoryHeading = "Shards in memory";

}  // namespace

void add_checkpoint_flags(Verb whole, train::CheckpointChoice& choice) {
  const Verb verb = whole.titled(kNetHeading);
  verb.add_option("--checkpoint", choice.name,
                  "Which of the run's checkpoints: best, of winnow train --keep-best, or step-N "
                  "(default: the newest that is whole)");
  verb.add_flag("--ema", choice.ema,
                "Use the moving averages of the weights (winnow train --ema-decay) instead of the "
                "weights. For the checkpoint best this is the default if val_ema chose it");
}

void add_file_net_flags(Verb whole, const std::string& what, train::FileNetOptions& file) {
  const Verb verb = whole.titled(kNetHeading);
  const std::string of = "For " + what + ": ";
  verb.add_option("--net", file.net.name,
                  of + "the net that the weights belong to, as for winnow train");
  verb.add_option("--image-size", file.image_side_px,
                  of + "side in pixels; 0: as winnow train would choose")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  verb.add_option("--eval-resize", file.eval_resize_px,
                  of + "pixels of the shorter side before the centre is cut; 0: no margin")
      .check(whole_in(0, train::kMostResizePx));
}

void add_lane_flags(Verb verb, int& lanes, int& threads) {
  verb.add_option("--lanes", lanes,
                  "Number of lanes: runs that are trained at the same time, each on a share of the "
                  "cores, and with --backend cudnn on a card of its own")
      .check(whole_in(1, 256))
      .show_default();
  verb.add_option("--threads", threads,
                  "Number of CPU cores for all these runs together; 0: this process's share")
      .check(cores())
      .show_default();
}

void add_memory_flags(Verb whole, MemoryOptions& flags) {
  const Verb verb = whole.titled(kMemoryHeading);
  verb.add_flag(
      "--memory", flags.memory,
      "Read the shards from a copy in memory, which is loaded first if it is not there. This is "
      "always done if they are on a network file system. Machines that do not have the cache "
      "at its path get it from those that do");
  verb.add_option("--memory-dir", flags.folder,
                  "Folder of the copy, on a tmpfs or on a disk of the machine; implies --memory "
                  "(default: /dev/shm)");
  verb.add_option("--segment-size", flags.segment_mib,
                  "MiB that a rank exchanges with other machines at once, if machines hold parts "
                  "of the cache or copy it from others")
      .check(whole_in(1, kMostMib))
      .show_default();
  add_machine_flags(whole, flags);
}

void add_machine_flags(Verb whole, MemoryOptions& flags) {
  const Verb verb = whole.titled(kMemoryHeading);
  verb.add_option(
          "--replicas", flags.replicas,
          "Number of copies of the cache in the memory of all machines together. Each machine "
          "holds a part of a copy, and gets other records from other machines while it works. "
          "With as many copies as machines, each machine holds the whole cache")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option(
          "--ranks-per-machine", flags.ranks_per_machine,
          "Treat this many ranks as one machine, to try several machines on one; 0: as launched")
      .check(whole_in(0, kMostCount))
      .show_default();
}

}  // namespace winnow::tools
