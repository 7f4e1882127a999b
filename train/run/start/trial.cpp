#include "train/run/start/trial.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/machine_load.h"
#include "train/model/initial_weights.h"
#include "train/run/start/engine.h"
#include "train/run/start/loading.h"
#include "train/run/start/node_times.h"
#include "train/run/start/planned_job.h"
#include "train/run/start/planning.h"

namespace winnow::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A made-up batch, for jobs without a cache: arbitrary pixels, all classes in turn.
pipeline::Batch made_up_batch(const Job& job) {
  const pipeline::Geometry geometry = geometry_of(job.setup);
  const auto rows = static_cast<std::size_t>(job.batches.micro_batches() * job.batches.micro_batch *
                                             views_of(job.setup));
  const auto image = static_cast<std::size_t>(geometry.height_px) *
                     static_cast<std::size_t>(geometry.width_px) *
                     static_cast<std::size_t>(geometry.channels);
  pipeline::Batch batch;
  batch.height_px = geometry.height_px;
  batch.width_px = geometry.width_px;
  batch.channels = geometry.channels;
  batch.pixels.resize(rows * image);
  std::uint32_t state = 1;
  for (std::uint8_t& pixel : batch.pixels) {
    state = state * 1'664'525U + 1'013'904'223U;
    pixel = static_cast<std::uint8_t>(state >> 24);
  }
  const auto classes = static_cast<std::size_t>(std::max(1, job.setup.options.classes));
  for (std::size_t row = 0; row <= rows; ++row) {
    batch.label_offsets.push_back(static_cast<std::uint32_t>(row));
    if (row == rows) break;
    batch.ids.push_back(static_cast<SampleId>(row));
    batch.labels.push_back(static_cast<std::int32_t>(row % classes));
  }
  batch.weights.assign(rows, 1);
  batch.label_weights.assign(rows, 1);
  batch.groups.assign(rows, 0);
  return batch;
}

// Source of the batches of a trial.
class Batches {
 public:
  Batches(const Job& job, int threads, int ahead, int steps, const comm::Communicator& comm)
      : job_(job) {
    if (job.data.sampler) {
      loader_ = load_training_batches(job, threads, comm, {0, steps}, ahead);
    } else {
      batch_ = made_up_batch(job);
    }
  }

  pipeline::Batch& next() {
    if (loader_) batch_ = loader_->next(std::move(batch_));
    return batch_;
  }
  double weight(std::int64_t step) const {
    const double views = views_of(job_.setup);
    const auto batch = static_cast<double>(job_.batches.batch);
    return views * (loader_ ? weight_of_batch(job_.batches, *job_.data.sampler, step) : batch);
  }
  void settle() {
    if (loader_) loader_->settle();
  }

 private:
  const Job& job_;
  std::unique_ptr<pipeline::Loader> loader_;
  pipeline::Batch batch_;
};

// `here` is called when the batch has arrived.
StepSeconds take_step(Engine& engine, Batches& batches, std::int64_t step,
                      const std::function<void()>& here) {
  TraceRecorder recorder;
  engine.executor().set_trace(&recorder);
  recorder.begin_step(step + 1);
  const std::int64_t begin = TraceRecorder::now_ns();
  pipeline::Batch& batch = batches.next();
  recorder.add_wait(begin, TraceRecorder::now_ns());
  here();
  const StepResult result = engine.executor().run(batch, batches.weight(step), 0, step, false);
  engine.executor().set_trace(nullptr);
  const int lanes = static_cast<int>(engine.executor().execution().micro_batches.size());
  return parts_of(recorder.take(), lanes, result.exposed.total());
}

// Takes one warm-up step, then the measured ones, and records them in `trial`.
void take_steps(const ExecutionOptions& options, const Job& job, const TrialShape& shape,
                Engine& engine, comm::Communicator& comm, Trial& trial) {
  Batches batches(job, options.threads.decode, engine.executor().execution().batches_ahead,
                  shape.most_steps + 1, comm);
  const MachineLoad loading;
  const StepSeconds first = take_step(
      engine, batches, 0, [&] { trial.load_cpu = loading.own_cores() * loading.seconds(); });
  trial.load_wall = first.data;
  const auto begin = Clock::now();
  for (int step = 1; step <= shape.most_steps; ++step) {
    trial.steps.push_back(take_step(engine, batches, step, [] {}));
    const bool enough = step >= 2 && seconds_since(begin) >= shape.least_seconds;
    if (comm::broadcast(comm, std::uint8_t{enough}, 0)) break;
  }
  batches.settle();
}

// Mean number of cores of this machine that were busy with other work than that of the ranks.
double others_cores(const MachineLoad& load, comm::Communicator& comm) {
  const std::uint64_t own[] = {std::bit_cast<std::uint64_t>(load.own_cores())};
  const std::vector<std::uint64_t> of_ranks = comm::all_gather(comm, own);
  double others = load.busy_cores();
  for (const int rank : comm.placement().ranks_of_machine()) {
    others -= std::bit_cast<double>(of_ranks[static_cast<std::size_t>(rank)]);
  }
  return std::max(0.0, others);
}

std::unique_ptr<Engine> start(PlannedRun& planned, const Job& job, const JobGraphs& graphs,
                              Backend& backend, comm::Communicator& comm, Model model) {
  begin_model(model, job.forward, job.recipe.seed, {}, comm, [](const std::string&) {});
  std::unique_ptr<Engine> engine =
      compile_planned(planned, job.recipe, graphs, backend, comm, std::move(model));
  engine->load_model();
  return engine;
}

}  // namespace

StepSeconds parts_of(const TraceRecord& record, int lanes, double waited_for_ranks) {
  using Row = TraceSpan::Row;
  StepSeconds parts;
  double whole = 0;
  for (const TraceSpan& span : record.spans) {
    const double seconds = 1e-9 * static_cast<double>(span.end_ns - span.begin_ns);
    if (span.row == Row::kStep) whole = seconds;
    if (span.row == Row::kDataWait) parts.data += seconds;
    if (span.row == Row::kUpdate) parts.update += seconds;
    if (span.row != Row::kThread) continue;
    const std::string_view name = span.name;
    const double of_lane = seconds / lanes;
    if (name == "forward") parts.forward += of_lane;
    if (name == "backward") parts.backward += of_lane;
    if (name == "load parameters") parts.update += of_lane;
    if (name.ends_with(" add") || name.ends_with(" add lanes") || name == "read sums") {
      parts.sums += of_lane;
    }
  }
  parts.ranks = waited_for_ranks;
  parts.idle = std::max(0.0, whole - parts.total());
  return parts;
}

Trial try_steps(const ExecutionOptions& options, const Job& whole, const TrialShape& shape,
                Backend& backend, comm::Communicator& comm) {
  const Job job = with_micro_batch(whole, shape.micro_batch,
                                   shape.micro_batch * shape.micro_batches * comm.size(),
                                   comm.rank(), comm.size());
  ExecutionOptions execution = options;
  execution.lanes.threads = backend.is_on_cpu() ? shape.lane_threads : 0;
  const MachineLoad load;
  const auto begin = Clock::now();
  Model model = outline_model(job.forward, {}, comm);
  const JobGraphs graphs = graphs_of(job, model);
  PlannedRun planned = plan_run(execution, job, graphs, backend, nullptr, comm);
  Trial trial;
  if (shape.by_node) {
    trial.node_ends = measure_node_ends(backend, graphs.training,
                                        {.compute = options.dtype,
                                         .threads = shape.lane_threads,
                                         .choices = &planned.plan.numerics.kernels});
  }
  const auto measured = Clock::now();
  const std::unique_ptr<Engine> engine =
      start(planned, job, graphs, backend, comm, std::move(model));
  trial.start_seconds = seconds_since(shape.by_node ? measured : begin);
  trial.form = {shape.micro_batch, shape.micro_batches,
                static_cast<int>(planned.execution.micro_batches.size())};
  take_steps(options, job, shape, *engine, comm, trial);
  trial.evaluation_lanes = planned.execution.evaluation_lanes;
  if (shape.evaluates) {
    trial.evaluation_seconds =
        measure_node_ends(backend, graphs.inference,
                          {.compute = options.dtype, .threads = planned.evaluation_threads})
            .back();
  }
  trial.others_cores = others_cores(load, comm);
  trial.took_seconds = seconds_since(begin);
  return trial;
}

}  // namespace winnow::train
