#include "tools/lane_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

void add_lane_flags(Verb verb, int& lanes, int& threads) {
  verb.add_option(
          "--lanes", lanes,
          "Runs at the same time, with a share of the cores and a card of --backend cudnn each")
      .check(whole_in(1, 256))
      .show_default();
  verb.add_option("--threads", threads, "Cores of all lanes together; 0: this process's share")
      .check(cores())
      .show_default();
}

}  // namespace winnow::tools
