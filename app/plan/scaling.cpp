#include "app/plan/scaling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/plan/bucket_size.h"
#include "train/plan/execution.h"
#include "train/plan/fastest_schedules.h"
#include "train/plan/machines.h"
#include "train/reduce/gradient_layout.h"

namespace winnow::app {
namespace {

using train::StepSeconds;

// All-reduces of a step on a number of machines, in seconds.
struct Reduced {
  double exposed = 0;    // waited for after the last node
  double all = 0;        // hidden or not
  double processor = 0;  // processor time of a machine for the messages
  std::size_t bucket_bytes = 0;
};

// In buckets of `bucket_bytes`; 0: of the size with the shortest wait.
Reduced reduce(const ScaledRun& run, int hosts, const comm::NetworkModel& network,
               std::size_t bucket_bytes) {
  if (hosts == 1) return {};
  std::vector<int> node_of(static_cast<std::size_t>(hosts));
  std::iota(node_of.begin(), node_of.end(), 0);
  const std::size_t message_bytes = train::message_bytes(run.sums);
  train::FastestSchedules fastest(network, node_of, message_bytes, {});
  const train::AllReduceSeconds seconds = [&](std::size_t count) { return fastest.seconds(count); };
  Reduced out{.bucket_bytes = bucket_bytes};
  if (bucket_bytes == 0) {
    out.bucket_bytes = train::choose_bucket_bytes(*run.graph, run.sums, run.node_ends, seconds);
  }
  out.exposed =
      train::exposed_seconds(*run.graph, out.bucket_bytes, run.sums, run.node_ends, seconds);
  const auto gradients =
      train::layout_gradients(*run.graph, out.bucket_bytes, train::tail_count(*run.graph));
  for (const std::size_t count : train::bucket_counts(gradients, run.sums)) {
    out.all += seconds(count);
    const double sent = 2.0 * (hosts - 1) / hosts * static_cast<double>(count * message_bytes);
    out.processor += sent * network.between.processor_s_per_byte;
  }
  return out;
}

// Seconds by which messages behind computing slow it: their processor time beyond what spare cores
// have, taken from all cores.
double slowed_by_messages(const ScaledRun& run, const Reduced& reduced) {
  const double hidden = std::max(0.0, reduced.all - reduced.exposed);
  if (hidden == 0) return 0;
  const double spare = std::max(0.0, run.cores - run.threads);
  return std::max(0.0, reduced.processor * hidden / reduced.all - spare * hidden) / run.cores;
}

// Seconds that records from other machines take beyond what computing hides.
double waits_for_data(const ScaledRun& run, int hosts, const comm::NetworkModel& network,
                      double computing) {
  if (run.data_bytes <= 0 || hosts <= run.replicas) return 0;
  const double away = 1 - static_cast<double>(run.replicas) / hosts;
  const double images = static_cast<double>(run.batch) / hosts;
  const double seconds = images * away * run.data_bytes * network.between.seconds_per_byte;
  return std::max(0.0, seconds - computing);
}

train::StepForm form_on(const ScaledRun& run, int hosts) {
  const std::int64_t micro_batches = run.batch / run.form.micro_batch;
  const std::int64_t most = (micro_batches + hosts - 1) / hosts;  // on the busiest machine
  return {run.form.micro_batch, most,
          static_cast<int>(std::min<std::int64_t>(run.most_lanes, most))};
}

PlanHosts row_of(const ScaledRun& run, int hosts, const comm::NetworkModel& network,
                 double one_images_per_second) {
  PlanHosts row{.hosts = hosts};
  if (hosts > run.batch / run.form.micro_batch) return row;
  StepSeconds step = train::scaled_step(run.step, run.form, form_on(run, hosts));
  const double computing = step.forward + step.backward + step.idle;
  const Reduced reduced = reduce(run, hosts, network, run.bucket_bytes);
  step.ranks = reduced.exposed + slowed_by_messages(run, reduced);
  step.data = run.step.data / hosts + waits_for_data(run, hosts, network, computing);
  const double total = step.total();
  row.step = step;
  row.images_per_second = static_cast<double>(run.batch) / total;
  row.efficiency = row.images_per_second / (hosts * one_images_per_second);
  row.overhead = (total - computing) / computing / hosts;
  row.all_reduce_seconds = reduced.all;
  row.bucket_bytes = reduced.bucket_bytes;
  const double rest = run.time.start + run.time.epochs * run.time.checkpoint +
                      (run.time.epochs * run.time.evaluation + run.time.test) / hosts;
  row.run_seconds = rest + run.time.epochs * run.steps_per_epoch * total;
  if (run.hour_price) row.price = *run.hour_price * hosts * row.run_seconds / 3600;
  return row;
}

// The last row up to which every added machine brings at least half of what one alone does.
std::size_t knee_of(const std::vector<PlanHosts>& rows, double one) {
  std::size_t knee = 0;
  for (std::size_t i = 1; i < rows.size() && rows[i].step; ++i) {
    const double added = rows[i].images_per_second - rows[knee].images_per_second;
    if (added < 0.5 * one * (rows[i].hosts - rows[knee].hosts)) break;
    knee = i;
  }
  return knee;
}

// The rate between machines at which a step waits for less than a hundredth of its time; nullopt:
// no rate suffices, because of latency.
std::optional<double> hiding_rate(const ScaledRun& run, int hosts, std::size_t bucket_bytes,
                                  comm::NetworkModel network) {
  const StepSeconds step = train::scaled_step(run.step, run.form, form_on(run, hosts));
  const double most = 0.01 * step.total();
  const auto waits = [&](double seconds_per_byte) {
    network.between.seconds_per_byte = seconds_per_byte;
    network.inside.seconds_per_byte = seconds_per_byte;
    return reduce(run, hosts, network, bucket_bytes).exposed;
  };
  double fast = 1e-13;
  double slow = 1e-5;
  if (waits(fast) > most) return std::nullopt;
  for (int i = 0; i < 12; ++i) {
    const double middle = std::sqrt(fast * slow);
    (waits(middle) > most ? slow : fast) = middle;
  }
  return 1 / fast;
}

}  // namespace

PlanScaling scale(const ScaledRun& run, const std::vector<int>& hosts,
                  const comm::NetworkModel& network, const std::string& source) {
  const StepSeconds one = train::scaled_step(run.step, run.form, form_on(run, 1));
  const double computing = one.forward + one.backward + one.idle;
  const double one_images_per_second = static_cast<double>(run.batch) / one.total();
  const double seconds_per_byte = std::max(network.between.seconds_per_byte, 1e-15);
  PlanScaling out{.network = {.source = source,
                              .bytes_per_second = 1 / seconds_per_byte,
                              .latency_seconds = network.between.latency_s},
                  .wished_efficiency = run.wished_efficiency,
                  .overhead = (one.total() - computing) / computing};
  out.most = train::most_machines(out.overhead, run.wished_efficiency);
  const auto gradients =
      train::layout_gradients(*run.graph, 1 << 20, train::tail_count(*run.graph));
  for (const int count : hosts) {
    PlanHosts row = row_of(run, count, network, one_images_per_second);
    row.lemma_efficiency = train::scaling_efficiency(out.overhead, count);
    row.parameter_servers = train::parameter_servers(
        {.parameter_bytes = 4.0 * static_cast<double>(gradients.elements),
         .workers = count,
         .bytes_per_second = out.network.bytes_per_second,
         .compute_seconds = row.step ? row.step->forward + row.step->backward : computing});
    out.rows.push_back(row);
  }
  out.knee = knee_of(out.rows, one_images_per_second);
  std::size_t bucket_bytes = 0;
  for (const PlanHosts& row : out.rows) {
    if (!row.step) continue;
    out.network.hiding_hosts = row.hosts;
    bucket_bytes = row.bucket_bytes;
  }
  out.needed_overhead = train::most_overhead(run.wished_efficiency, hosts.back());
  if (out.network.hiding_hosts > 1) {
    out.network.hiding_bytes_per_second =
        hiding_rate(run, out.network.hiding_hosts, bucket_bytes, network);
  }
  return out;
}

}  // namespace winnow::app
