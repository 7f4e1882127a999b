#include "tools/metrics_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

void add_metrics_flags(Verb group, MetricsOutletOptions& flags) {
  group.add_option("--metrics-file", flags.file,
                   "Also write the newest figures as Prometheus' text to this file, anew at each "
                   "line of metrics.jsonl: for node_exporter's textfile collector a .prom in its "
                   "folder");
  group
      .add_option("--metrics-port", flags.port,
                  "Also give them to Prometheus at http://127.0.0.1:PORT/metrics of rank 0's "
                  "machine as long as the run goes on; 0: at a port that is free")
      .check(whole_in(0, 65535))
      .type_name("PORT");
}

}  // namespace winnow::tools
