#include "app/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "app/plan/candidates.h"
#include "app/plan/kernel_words.h"
#include "app/plan/kernels.h"
#include "app/plan/network.h"
#include "app/plan/scaling.h"
#include "app/plan/target.h"
#include "app/plan/timing.h"
#include "common/comm/agreement.h"
#include "common/comm/network_probe.h"
#include "common/error.h"
#include "common/file.h"
#include "common/thread_plan.h"
#include "train/backend/backend.h"
#include "train/model/initial_weights.h"
#include "train/ops/batch_norm.h"
#include "train/plan/execution.h"
#include "train/run/record/chosen_net.h"
#include "train/run/start/engine.h"
#include "train/run/start/kernel_times.h"
#include "train/run/start/memory_needs.h"
#include "train/run/start/planning.h"

namespace winnow::app {
namespace {

constexpr double kCopyBytesPerSecond = 2e9;  // copying a checkpoint, while training waits

// Seconds per byte to add received gradients to own ones on one core: the fastest of some tries.
double add_seconds_per_byte() {
  constexpr std::size_t kCount = 1 << 20;
  std::vector<float> sum(kCount, 1);
  const std::vector<float> more(kCount, 1);
  double fastest = 1;
  for (int round = 0; round < 8; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    std::ranges::transform(sum, more, sum.begin(), std::plus{});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, took.count());
  }
  return fastest / (sizeof(float) * kCount);
}

// The fastest of the rows that are allowed and fit. Without times: the run's own micro-batch, else
// the largest, in the most lanes.
std::optional<std::size_t> best_row(const PlanReport& report) {
  std::optional<std::size_t> best;
  const auto key = [&](const PlanRow& row) {
    return std::tuple(row.images_per_second(report.rank_images),
                      row.micro_batch == report.micro_batch, row.micro_batch, row.memory.lanes);
  };
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    if (!row.fits || !row.is_allowed) continue;
    if (!best || key(row) > key(report.rows[*best])) best = i;
  }
  return best;
}

// Why nothing that is allowed fits, and what would help.
// least  the largest micro-batch below all rows that fits; 0: none, or a row does
std::string refusal_of(const PlanReport& report, std::int64_t least) {
  const auto own = std::ranges::find(report.rows, report.micro_batch, &PlanRow::micro_batch);
  const PlanRow& row = own == report.rows.end() ? report.rows.front() : *own;
  std::string help;
  if (report.largest_micro_batch > 0) {
    help = fmt::format(
        "--micro-batch {} would fit, which changes what is learnt where the net has "
        "batch norm (--micro-batch auto lets plan choose)",
        report.largest_micro_batch);
  } else if (least > 0) {
    help = report.has_norm ? fmt::format(
                                 "{} would fit, yet groups of batch norm of fewer than {} are not "
                                 "chosen: take a smaller net or --image-size, or more memory",
                                 least, kLeastNormGroup)
                           : fmt::format("--micro-batch {} would fit", least);
  } else {
    help = "not even one image fits: take a smaller net or --image-size, bf16, or more memory";
  }
  return fmt::format("micro-batches of {} need {} ({}), and there are {}; {}", row.micro_batch,
                     train::in_bytes(row.memory.peak), train::in_words(row.parts),
                     train::in_bytes(report.available), help);
}

// The cores of this machine that this process may use, or what a quota leaves of them.
double usable_cores() {
  const ThreadPlanInputs found = detect_threads(1, 1);
  const double cores = found.affinity_cores;
  return found.quota_cores > 0 ? std::min(cores, found.quota_cores) : cores;
}

// The network between the machines asked about. Collective.
comm::NetworkModel network_of(const PlanScalingRequest& request, comm::Communicator& comm) {
  const std::string& source = request.network;
  if (source.empty() && comm.placement().machines() < 2) {
    throw UsageError(
        "--hosts needs a network: give --network 10gbit,20us, a file of winnow bench allreduce "
        "--write, or plan under mpirun on several machines");
  }
  if (source.empty()) return comm::probe_network(comm);
  comm::NetworkModel network;
  comm::on_all(comm, [&] {
    network = std::filesystem::is_regular_file(source)
                  ? read_network_text(read_text(source), source)
                  : parse_network(source, add_seconds_per_byte());
  });
  return network;
}

// Duration of an epoch and of a run with `row`, whose step is known.
// epochs  Of the run, unless it stops after max_steps; 0: no such limit.
PlanTime time_of(const PlanReport& report, const PlanRow& row, const train::Job& job,
                 const Timing& timing, double epochs, std::int64_t max_steps) {
  const train::BatchLayout& b = job.batches;
  const double images = static_cast<double>(b.samples);
  PlanTime time{.start = timing.start_seconds(),
                .steps = images / static_cast<double>(b.batch) * row.step->total()};
  const auto most = static_cast<double>(max_steps * b.batch) / images;
  time.epochs = most > 0 ? std::min(most, epochs) : epochs;
  time.evaluation = timing.evaluation_seconds(row, report.evaluation_images);
  const auto stored = std::ranges::find(row.parts.parts, std::string_view("weights"),
                                        [](const auto& part) { return part.first; });
  time.checkpoint = 2 * static_cast<double>(stored->second) / kCopyBytesPerSecond;
  for (const auto& [split, set] : job.data.evaluation_sets) {
    if (split != Split::kTest) continue;
    time.test = timing.evaluation_seconds(row, static_cast<std::int64_t>(set.samples.ids.size()));
  }
  const double off = std::max(row.step_how == How::kMeasured ? 0.03 : 0.08, row.spread);
  time.range = {time.run() * std::max(0.0, 1 - off), time.run() * (1 + off)};
  return time;
}

// The facts of a plan that are known before anything is planned.
PlanReport described(const train::Job& job, const train::ExecutionOptions& execution,
                     const train::Backend& backend, const comm::Communicator& comm) {
  PlanReport report;
  const train::BatchLayout& batches = job.batches;
  report.net = job.setup.net.name;
  report.side_px = job.setup.options.height_px;
  report.images = batches.samples;
  for (const auto& [split, set] : job.data.evaluation_sets) {
    if (split != Split::kVal) continue;
    report.evaluation_images = static_cast<std::int64_t>(set.samples.ids.size());
  }
  report.batch = batches.batch;
  report.micro_batch = batches.micro_batch;
  report.rank_images = batches.micro_batches() * batches.micro_batch;
  report.ranks = comm.size();
  report.cores = execution.threads.compute;
  report.machine =
      std::string(backend.name()) + ", " + backend.library() + ", " + backend.instruction_set();
  report.available = train::memory_for_rank(comm.local_size(), execution.memory_bytes);
  report.has_norm = std::ranges::find(job.forward.nodes, &train::kBatchNorm, &train::Node::op) !=
                    job.forward.nodes.end();
  return report;
}

// Sentences about a plan with a best row.
void add_notes(PlanReport& report, bool any_micro_batch) {
  const PlanRow& row = report.rows[*report.best];
  if (report.has_norm && report.largest_micro_batch > row.micro_batch && !any_micro_batch) {
    report.notes.push_back(fmt::format(
        "micro-batches of up to {} fit; they are groups of batch norm and stay {} unless "
        "--micro-batch auto is given",
        report.largest_micro_batch, row.micro_batch));
  }
  if (report.kept_steps > 0) {
    report.notes.push_back(fmt::format(
        "times of {} steps are those that an earlier plan measured here; --measure-again "
        "measures them anew",
        report.kept_steps));
  }
  if (report.others_cores > 0.1 * report.cores) {
    report.notes.push_back(fmt::format(
        "other work kept {:.1f} cores busy while steps were measured: they are too long by what "
        "it took; measure on an idle machine, with --measure-again",
        report.others_cores));
  }
}

class Planner {
 public:
  Planner(const PlanRequest& request, Session& session)
      : request_(request), options_(request.train), session_(session), comm_(session.comm) {
    comm::on_all(comm_, [&] {
      backend_ = train::make_backend(options_.execution.backend, {.device = comm_.local_rank()});
    });
    options_.net = train::choose_net(options_.net, {}, comm_, [](const std::string&) {});
    job_ = request.shape ? train::job_of_shape(options_, *request.shape, *backend_, comm_)
                         : train::open_job(options_, *backend_, comm_);
    report_ = described(job_, options_.execution, *backend_, comm_);
    read_questions();
  }

  PlanReport plan() {
    plan_memory();
    if (report_.best && request_.measures) plan_time();
    if (report_.best) add_flags();
    return std::move(report_);
  }

 private:
  // Refuses bad input before anything is measured.
  void read_questions() {
    if (!request_.scaling.hosts.empty()) network_ = network_of(request_.scaling, comm_);
    if (request_.runs.empty()) return;
    comm::on_all(comm_, [&] {
      target_ = parse_target(request_.target);
      reached_ = read_reached(request_.runs, target_);
    });
  }

  ChoiceOf choice() const {
    return {.batch = report_.batch,
            .micro_batch = report_.micro_batch,
            .ranks = report_.ranks,
            .cores = report_.cores,
            .lane_threads = options_.execution.lanes.threads,
            .has_norm = report_.has_norm,
            .reproducible = options_.execution.reproducible};
  }

  train::Job job_with(std::int64_t micro_batch) const {
    return micro_batch == job_.batches.micro_batch
               ? job_
               : train::with_micro_batch(job_, micro_batch, 0, comm_.rank(), comm_.size());
  }

  train::JobGraphs graphs_with(const train::Job& job) const {
    return train::graphs_of(job, train::outline_model(job.forward, options_.start, comm_));
  }

  PlanRow row_of(const LaneChoice& choice) {
    const train::Job job = job_with(choice.micro_batch);
    train::ExecutionOptions execution = options_.execution;
    execution.lanes.threads = choice.lane_threads;
    train::MemoryNeeds needs =
        train::memory_needs(execution, job, graphs_with(job), *backend_, comm_.rank() == 0);
    if (program_ == 0) program_ = needs.program;
    needs.program = program_;
    const train::WishedRank wished =
        train::wish_for_rank(execution, job, *backend_, choice.lane_threads, comm_.size());
    PlanRow row{.micro_batch = choice.micro_batch, .lane_threads = choice.lane_threads};
    row.memory = train::fit_as_far_as_possible(needs, report_.available, wished.memory);
    row.memory.lanes = comm::broadcast(comm_, row.memory.lanes, 0);
    row.parts = train::parts_at_peak(needs, row.memory);
    row.fits = comm::broadcast(comm_, std::uint8_t{row.memory.peak <= report_.available}, 0) !=
               0;  // on rank 0
    row.is_allowed = request_.any_micro_batch || choice.micro_batch == report_.micro_batch;
    return row;
  }

  void plan_memory() {
    std::vector<LaneChoice> choices = choices_of(choice());
    // The run's own comes first: see program_.
    std::stable_partition(choices.begin(), choices.end(), [&](const LaneChoice& c) {
      return c.micro_batch == report_.micro_batch;
    });
    for (const LaneChoice& one : choices) {
      if (is_asked_to_stop(session_)) throw StoppedError("stopped; nothing was written");
      report_.rows.push_back(row_of(one));
    }
    std::ranges::stable_sort(report_.rows, {}, &PlanRow::micro_batch);
    for (const PlanRow& row : report_.rows) {
      if (row.fits) {
        report_.largest_micro_batch = std::max(report_.largest_micro_batch, row.micro_batch);
      }
    }
    report_.best = best_row(report_);
    if (!report_.best) refuse();
  }

  void refuse() {
    const std::int64_t least = report_.largest_micro_batch > 0 ? 0 : smallest_that_fits();
    report_.refusal = refusal_of(report_, least);
  }

  // The largest micro-batch below all rows that fits; 0: none.
  std::int64_t smallest_that_fits() {
    for (std::int64_t size : {8, 4, 2, 1}) {
      if (report_.batch % size != 0 || size >= report_.rows.front().micro_batch) continue;
      if (row_of({size, report_.rows.front().lane_threads}).fits) return size;
    }
    return 0;
  }

  void plan_time() {
    Timing timing(request_, options_.execution, job_, *backend_, session_, report_);
    timing.measure();
    do {  // the fastest row by scaled times may turn out slower
      timing.fill(report_);
      report_.best = comm::broadcast(comm_, *best_row(report_), 0);
    } while (timing.measure_also(report_.rows[*report_.best]));
    if (request_.kernels) plan_kernels(timing);
    if (options_.execution.lanes.kernels.empty()) {
      plan_by(timing);
    } else {
      plan_with_kernels();
    }
  }

  void plan_by(const Timing& timing) {
    const PlanRow& row = report_.rows[*report_.best];
    if (row.step) {
      report_.time =
          time_of(report_, row, job_, timing, options_.recipe.epochs, options_.run.max_steps);
    }
    if (!request_.scaling.hosts.empty()) plan_machines(timing);
    if (!request_.runs.empty()) plan_batches(timing);
  }

  // Chooses kernels for the best row, and imposes them from now on.
  void plan_kernels(const Timing& timing) {
    PlanRow& row = report_.rows[*report_.best];
    const train::Job job = job_with(row.micro_batch);
    const train::Graph graph = graphs_with(job).training;
    const KernelsOfLane lane{
        *backend_, graph, {.compute = options_.execution.dtype, .threads = row.lane_threads}};
    KernelMeasuring measuring{
        .turn_seconds = timing.start_seconds() + 2 * timing.round_seconds(row),
        .limit_seconds = request_.seconds,
        .again = request_.measures_again};
    train::ExecutionOptions execution = options_.execution;
    execution.memory_bytes = 0;  // limits change what is chosen, not how fast it is
    const std::string key = key_of(
        execution, job, {.micro_batch = row.micro_batch, .lane_threads = row.lane_threads}, comm_);
    const KernelTimesFound found =
        kernel_times(lane, Rates(request_.rates, rates_here(*backend_)), key, measuring, session_);
    if (found.layers.empty()) {
      report_.notes.push_back(std::string(backend_->name()) + " has no kernels to choose among");
      return;
    }
    const std::size_t room = scratch_room(report_.available, row.memory, own_scratch(found.layers));
    report_.kernels = chosen_kernels(found.layers, comm::broadcast(comm_, room, 0));
    report_.kernels->kept = found.kept;
    options_.execution.lanes.kernels = kernel_choices(*report_.kernels);
    const PlanRow with = row_of({row.micro_batch, row.lane_threads});
    if (with.fits && with.memory.lanes >= row.memory.lanes) {
      row.memory = with.memory;
      row.parts = with.parts;
    } else {
      keep_own_kernels(*report_.kernels);
      options_.execution.lanes.kernels.clear();
      report_.notes.push_back(
          "the faster kernels need more memory than there is; the library's are kept");
    }
  }

  // Plans with the best row's kernels: measures its step again.
  void plan_with_kernels() {
    PlanRow& row = report_.rows[*report_.best];
    PlanReport alone = report_;
    alone.rows = {row};
    Timing timing(request_, options_.execution, job_, *backend_, session_, alone);
    timing.measure();
    timing.fill(alone);
    row = alone.rows.front();
    report_.measured_steps += alone.measured_steps;
    report_.kept_steps = alone.kept_steps;
    report_.others_cores = std::max(report_.others_cores, alone.others_cores);
    plan_by(timing);
  }

  void plan_machines(const Timing& timing) {
    const PlanRow& row = report_.rows[*report_.best];
    const train::JobGraphs graphs = graphs_with(job_with(row.micro_batch));
    ScaledRun run{
        .graph = &graphs.training,
        .sums = train::sums_of(options_.execution),
        .bucket_bytes = options_.execution.all_reduce.bucket_bytes,
        .step = *row.step,
        .form = timing.form_of(row),
        .most_lanes = row.memory.lanes,
        .cores = usable_cores(),
        .threads = row.memory.lanes * row.lane_threads,
        .node_ends = timing.node_ends(row),
        .batch = report_.batch,
        .steps_per_epoch = static_cast<double>(report_.images) / static_cast<double>(report_.batch),
        .time = report_.time.value_or(PlanTime{}),
        .data_bytes = 0,
        .wished_efficiency = request_.scaling.efficiency};
    run.step.ranks = 0;
    if (request_.scaling.hour_price > 0) run.hour_price = request_.scaling.hour_price;
    const std::string& source = request_.scaling.network;
    report_.scaling =
        scale(run, request_.scaling.hosts, network_, source.empty() ? "these ranks" : source);
  }

  void plan_batches(const Timing& timing) {
    const PlanRow& row = report_.rows[*report_.best];
    const auto step_seconds = [&](std::int64_t batch) -> double {
      if (batch % row.micro_batch != 0 || batch < row.micro_batch * report_.ranks) return 0;
      return timing.step_of(row, batch / report_.ranks).total();
    };
    report_.target =
        plan_target(reached_, target_, report_.batch, step_seconds, request_.scaling.hour_price);
  }

  void add_flags() {
    const PlanRow& row = report_.rows[*report_.best];
    report_.flags = request_.given;
    report_.flags.emplace_back("micro-batch", std::to_string(row.micro_batch));
    if (backend_->is_on_cpu()) {
      report_.flags.emplace_back("lane-threads", std::to_string(row.lane_threads));
    }
    for (std::string& word : kernel_words(options_.execution.lanes.kernels)) {
      report_.flags.emplace_back("kernel", std::move(word));
    }
    add_notes(report_, request_.any_micro_batch);
  }

  const PlanRequest& request_;
  train::TrainOptions options_;
  Session& session_;
  comm::Communicator& comm_;
  std::unique_ptr<train::Backend> backend_;
  train::Job job_;
  comm::NetworkModel network_{};                 // for the machines asked about
  Target target_{};                              // for the runs asked about
  std::vector<train::ReachedTarget> reached_{};  // how those runs reached it
  // Memory of the program in a training, measured with the first choice: later ones leave more in
  // the libraries' caches.
  std::size_t program_ = 0;
  PlanReport report_;
};

}  // namespace

PlanReport run_plan(const PlanRequest& request, Session& session) {
  if (request.runs.empty() != request.target.empty()) {
    throw UsageError(request.runs.empty()
                         ? "--target needs runs that reached it: give them by --runs RUN..."
                         : "--runs needs a --target that they reached, as top1=0.9");
  }
  const std::pair<std::string_view, bool> measuring[] = {
      {"--kernels", request.kernels},
      {"--hosts", !request.scaling.hosts.empty()},
      {"--runs", !request.runs.empty()}};
  for (const auto& [flag, is_given] : measuring) {
    if (!is_given || request.measures) continue;
    throw UsageError(
        fmt::format("{} needs times, and --memory-only measures nothing; leave out one", flag));
  }
  return Planner(request, session).plan();
}

}  // namespace winnow::app
