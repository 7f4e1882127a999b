#include "train/run/start/all_reduce_choice.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/comm/agreement.h"
#include "common/comm/network_probe.h"
#include "common/comm/schedule/choice.h"
#include "common/comm/schedule/hierarchical.h"
#include "train/plan/bucket_size.h"
#include "train/plan/execution.h"
#include "train/plan/fastest_schedules.h"
#include "train/run/start/node_times.h"

namespace winnow::train {
namespace {

// Element counts of all all-reduces of a step, ascending.
std::vector<std::size_t> all_reduce_counts(const RunPlan& plan, const Graph& graph) {
  const Sums sums = plan.numerics.sums;
  const GradientLayout gradients =
      layout_gradients(graph, plan.layout.bucket_bytes, tail_count(graph));
  std::vector<std::size_t> counts = bucket_counts(gradients, sums);
  if (sends_bf16(sums)) counts.push_back(tail_count(graph));
  if (sums == Sums::kWholeNumbers) counts.push_back(exponent_count(gradients));
  std::size_t micro_batches = 0;
  for (const RankLayout& rank : plan.layout.ranks) {
    for (const int count : rank.lanes) micro_batches += static_cast<std::size_t>(count);
  }
  for (const Exchange& exchange : exchanges_of(graph)) {
    counts.push_back(micro_batches * exchange.elements);
  }
  std::ranges::sort(counts);
  return counts;
}

void set_schedules(Layout& layout, const std::vector<std::size_t>& counts,
                   FastestSchedules& fastest) {
  std::vector<SizedSchedule>& sized = layout.smaller;
  sized.clear();
  for (const std::size_t count : counts) {
    const comm::ScheduleChoice& choice = fastest.of(count);
    const bool same = !sized.empty() && sized.back().schedule == choice.schedule->name &&
                      sized.back().options == choice.options;
    if (same) {
      sized.back().elements = count;
    } else {
      sized.push_back({count, std::string(choice.schedule->name), choice.options});
    }
  }
  layout.schedule = sized.back().schedule;
  layout.schedule_options = sized.back().options;
  sized.pop_back();
}

}  // namespace

void choose_all_reduces(RunPlan& plan, const ExecutionOptions& options, const Graph& graph,
                        Backend& backend, const RunPlan* stored, comm::Communicator& comm) {
  const bool chooses = options.all_reduce.schedule == comm::kAutoSchedule;
  if (!comm::broadcast(comm, std::uint8_t{chooses}, 0)) return;
  Layout& layout = plan.layout;
  const bool known =
      stored != nullptr && stored->layout.ranks.size() == static_cast<std::size_t>(comm.size());
  if (comm::broadcast(comm, std::uint8_t{known}, 0)) {
    if (comm.rank() != 0) return;
    layout.schedule = stored->layout.schedule;
    layout.schedule_options = stored->layout.schedule_options;
    layout.smaller = stored->layout.smaller;
    if (options.all_reduce.bucket_bytes == 0) layout.bucket_bytes = stored->layout.bucket_bytes;
    return;
  }
  const comm::Placement& placement = comm.placement();
  const bool shares_memory = layout.stage_ranks.empty() &&
                             placement.machines() < placement.ranks() && comm.can_share_memory();
  if (placement.machines() == 1) {
    layout.schedule =
        comm::schedule_inside(shares_memory && plan.numerics.sums != Sums::kWholeNumbers);
    return;
  }
  FastestSchedules fastest(comm::probe_network(comm), placement.node_of,
                           message_bytes(plan.numerics.sums),
                           shares_memory ? std::string_view{} : comm::kHierarchicalSchedule);
  comm::on_all(comm, [&] {
    if (comm.rank() != 0) return;
    if (options.all_reduce.bucket_bytes == 0) {
      const std::vector<double> node_ends =
          measure_node_ends(backend, graph,
                            {.compute = plan.numerics.dtype,
                             .threads = plan.numerics.lane_threads,
                             .choices = &plan.numerics.kernels});
      layout.bucket_bytes =
          choose_bucket_bytes(graph, plan.numerics.sums, node_ends,
                              [&](std::size_t count) { return fastest.seconds(count); });
    }
    set_schedules(layout, all_reduce_counts(plan, graph), fastest);
  });
}

}  // namespace winnow::train
