#include "train/plan/bucket_size.h"

#include <algorithm>
#include <vector>

#include "train/plan/execution.h"

namespace winnow::train {

double exposed_seconds(const Graph& graph, std::size_t bucket_bytes, Sums sums,
                       std::span<const double> node_ends, const AllReduceSeconds& seconds) {
  const GradientLayout layout = layout_gradients(graph, bucket_bytes, tail_count(graph));
  const std::vector<std::size_t> counts = bucket_counts(layout, sums);
  double end = 0;  // end of the last all-reduce
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const double ready = node_ends[layout.buckets[b].ready_after - 1];
    end = std::max(end, ready) + seconds(counts[b]);
  }
  return end - node_ends.back();
}

std::size_t choose_bucket_bytes(const Graph& graph, Sums sums, std::span<const double> node_ends,
                                const AllReduceSeconds& seconds) {
  std::size_t best = 0;
  double least = 0;
  for (std::size_t bytes = std::size_t{64} << 20; bytes >= std::size_t{64} << 10; bytes /= 4) {
    const double exposed = exposed_seconds(graph, bytes, sums, node_ends, seconds);
    if (best != 0 && exposed >= least) continue;
    best = bytes;
    least = exposed;
  }
  return best;
}

}  // namespace winnow::train
