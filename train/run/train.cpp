#include "train/run/train.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/file.h"
#include "pipeline/load/shuffle_quality.h"
#include "train/backend/backend.h"
#include "train/backend/checks.h"
#include "train/rewrites/rewrites.h"
#include "train/optim/optimizer.h"
#include "train/plan/batch_plan.h"
#include "train/run/census.h"
#include "train/evaluate/evaluate.h"
#include "train/model/initial_weights.h"
#include "train/run/metrics.h"
#include "train/plan/run_plan.h"
#include "train/run/run_directory.h"
#include "train/run/run_state.h"
#include "train/run/setup.h"
#include "train/step/executor.h"

namespace winnow::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct EvaluationSet {
  pipeline::SampleSet samples;
  std::vector<SampleId> leaked;
};

// What is known before anything is compiled. Later nothing is read from the cache but the records
// of shards that are open already, so that whatever becomes of it, one job sees one cache.
struct Job {
  pipeline::Source source;
  pipeline::DatasetInfo info;
  std::shared_ptr<const pipeline::Sampler> sampler;
  std::optional<pipeline::ShuffleQuality> shuffle_quality;  // of a partial one; rank 0
  std::map<Split, EvaluationSet> evaluation_sets;  // of kVal and kTest; looked up before training
  NetSetup setup;
  Graph forward;
  BatchPlan batches;
  std::string config;
};

Job open_job(const TrainOptions& options, const comm::Communicator& comm,
             const std::string& init_from_digest) {
  Job job;
  job.source.cache = pipeline::open_cache(options.data.cache, options.data.placement, comm.rank());
  const pipeline::Cache& cache = *job.source.cache;
  job.info = pipeline::describe(cache);
  const std::string& selection = options.data.selection;
  pipeline::SampleSet samples = pipeline::select_samples(cache, Split::kTrain, selection);
  if (options.data.holdout > 0) {
    pipeline::HeldOut cut = pipeline::hold_out(cache, samples, selection, options.data.holdout);
    samples = std::move(cut.train);
    job.evaluation_sets[Split::kVal].samples = std::move(cut.held);  // no group is cut: no leaks
  }
  for (const Split split : {Split::kVal, Split::kTest}) {
    if (options.data.holdout > 0) break;
    auto found = pipeline::evaluation_samples(cache, split, selection);
    job.evaluation_sets[split] = {std::move(found.all), std::move(found.leaked)};
  }
  job.setup = fit_net(options, job.info);
  job.forward = forward_graph(job.setup);
  pipeline::SamplingOptions sampling = options.data.sampling;
  sampling.shuffle.batch = static_cast<std::uint64_t>(options.batch.batch);
  const bool by_class = sampling.sampling == pipeline::Sampling::kBalanced ||
                        sampling.sampling == pipeline::Sampling::kRepeatFactor;
  const pipeline::SampleLabels labels =
      by_class ? pipeline::read_labels(cache, samples.ids) : pipeline::SampleLabels{};
  const bool judged = sampling.shuffle.fraction != 1 && comm.rank() == 0;
  const pipeline::SampleLabels place_labels =
      judged ? pipeline::read_place_labels(cache, samples) : pipeline::SampleLabels{};
  job.sampler = std::make_shared<const pipeline::Sampler>(std::move(samples), options.recipe.seed,
                                                          sampling, labels);
  if (judged) {
    job.shuffle_quality = pipeline::measure_shuffle(*job.sampler->partial_shuffle(), place_labels);
  }
  job.batches =
      plan_batches(static_cast<std::int64_t>(job.sampler->epoch_size()), options.batch.batch,
                   job.setup.options.batch, options.recipe.epochs, comm.rank(), comm.size());
  job.config = config_text(options, job.setup, job.info,
                           pipeline::selection_digest(cache, selection), init_from_digest);
  return job;
}

LearningRate learning_rate(const RecipeOptions& recipe, const BatchPlan& batches) {
  const double steps_per_epoch =
      static_cast<double>(batches.samples) / static_cast<double>(batches.batch);
  return {.base = recipe.lr,
          .warmup_steps = std::llround(recipe.warmup_epochs * steps_per_epoch),
          .total_steps = batches.total_steps,
          .decay = recipe.decay};
}

void check_execution(const ExecutionOptions& options, const Backend& backend) {
  if (backend.is_on_cpu()) {
    check_cpu_dtype(options.dtype);
  } else if (options.lane_threads > 0) {
    throw UsageError("lanes of " + std::to_string(options.lane_threads) +
                     " threads are for backends that compute on the CPU: " +
                     std::string(backend.name()) + " has none, leave out --lane-threads");
  }
}

constexpr const char* kLaneThreads = "lane_threads";

// The same on every rank: rank 0 measures.
int agree_on_lane_threads(const ExecutionOptions& options, const BatchPlan& batches,
                          const std::optional<RunPlan>& stored, bool replan,
                          comm::Communicator& comm) {
  int before = 0;
  if (stored && !replan) {
    const auto found = stored->numerics.find(kLaneThreads);
    if (found != stored->numerics.end()) before = std::atoi(found->second.c_str());
  }
  const int mine = choose_lane_threads(options.lane_threads, before, options.reproducible,
                                       options.threads.compute, batches.micro_batches());
  std::vector<double> of_root(1, comm.rank() == 0 ? mine : 0.0);
  comm.all_reduce(of_root);
  return static_cast<int>(of_root[0]);
}

// "2 1": lanes of each rank.
std::string lanes_of_ranks(std::size_t mine, comm::Communicator& comm) {
  std::vector<double> lanes(static_cast<std::size_t>(comm.size()), 0.0);
  lanes[static_cast<std::size_t>(comm.rank())] = static_cast<double>(mine);
  comm.all_reduce(lanes);
  std::string text;
  for (const double count : lanes) {
    text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(count));
  }
  return text;
}

// How the steps of a run are computed on this rank.
struct Execution {
  int lane_threads = 1;
  std::vector<int> lanes;  // micro-batches of each
  RunPlan plan;            // without its tasks
};

Execution plan_execution(const TrainOptions& options, const BatchPlan& batches,
                         const Backend& backend, const std::optional<RunPlan>& stored,
                         comm::Communicator& comm) {
  const ExecutionOptions& e = options.execution;
  Execution plan;
  if (backend.is_on_cpu()) {
    plan.lane_threads = agree_on_lane_threads(e, batches, stored, options.run.replan, comm);
    plan.lanes = choose_lanes(e.threads.compute, plan.lane_threads, batches.micro_batches());
  } else {
    plan.lanes = {static_cast<int>(batches.micro_batches())};
  }
  plan.plan.numerics = {{"backend", std::string(backend.name())},
                        {"build", WINNOW_BUILD},
                        {"instruction_set", backend.instruction_set()},
                        {kLaneThreads, std::to_string(plan.lane_threads)},
                        {"library", backend.library()}};
  plan.plan.layout = {{"bucket_bytes", std::to_string(e.bucket_bytes)},
                      {"colors", std::to_string(e.schedule_options.colors)},
                      {"lanes", lanes_of_ranks(plan.lanes.size(), comm)},
                      {"schedule", e.schedule},
                      {"segment_elements", std::to_string(e.schedule_options.segment_elements)}};
  return plan;
}

StepOptions step_options(const TrainOptions& options, const BatchPlan& batches,
                         const Execution& execution, bool asynchronous) {
  return {.bucket_bytes = options.execution.bucket_bytes,
          .reproducible = options.execution.reproducible,
          .asynchronous = asynchronous,
          .sum = {.schedule = &comm::find_schedule(options.execution.schedule),
                  .schedule_options = options.execution.schedule_options,
                  .micro_batches = execution.lanes,
                  .total_micro_batches = batches.batch / batches.micro_batch}};
}

// Sequences steps, metrics, checkpoints and evaluations; each of these is somebody else's.
class Trainer {
 public:
  Trainer(const TrainOptions& options, comm::Communicator& comm, Job job, Backend& backend,
          const std::function<void(std::string)>& note)
      : options_(options),
        comm_(comm),
        job_(std::move(job)),
        model_(begin_model(job_.forward, options.recipe.seed, options.start, comm, note)),
        weights_(place_weights(
            backend, model_,
            {find_optimizer(options.recipe.optimizer).kind, options.recipe.optimizer_options})),
        rate_(learning_rate(options.recipe, job_.batches)),
        directory_(options.run.out, comm, note),
        note_(note) {
    const RunOptions& run = options_.run;
    const auto stored = directory_.open(job_.config, run.resume, run.replan);
    Execution execution = plan_execution(options_, job_.batches, backend, stored, comm_);
    note(execution_note(execution, backend));
    if (job_.info.stored_recipe != pipeline::Recipe::kNone) note(variants_note());
    if (job_.shuffle_quality) {
      note(in_words(*job_.sampler->partial_shuffle(), *job_.shuffle_quality));
    }
    const bool reproducible = options_.execution.reproducible;
    const CompileOptions lane{options_.execution.dtype, execution.lane_threads};
    const Graph graph = prune(differentiate(freeze(job_.forward, frozen_tensors(model_))));
    for (std::size_t i = 0; i < execution.lanes.size(); ++i) {
      programs_.push_back(backend.compile(graph, lane));
      weights_->bind(*programs_.back());
    }
    inference_ = backend.compile(
        for_inference(job_.forward),
        {lane.compute, reproducible ? lane.threads : options_.execution.threads.compute});
    weights_->bind(*inference_);
    executor_ = std::make_unique<StepExecutor>(
        programs_, model_, *weights_, comm_,
        step_options(options_, job_.batches, execution, !backend.is_on_cpu()));
    execution.plan.tasks = tasks_json(executor_->plan());
    directory_.adopt(std::move(execution.plan), reproducible, run.replan);
    if (auto state = directory_.go_on(model_, run.replan, run.checkpoints_kept))
      state_ = *std::move(state);
    weights_->load();
    executor_->restore(state_.sums);
    first_step_ = saved_step_ = state_.step;
    const std::int64_t limit = run.max_steps;
    last_step_ = limit > 0 ? std::min(limit, job_.batches.total_steps) : job_.batches.total_steps;
    on_root(comm_, [&] {
      const std::int64_t kept = first_step_ > 0 ? first_step_ : -1;
      metrics_ = std::make_unique<MetricsLog>(directory_.metrics(), kept);
      if (first_step_ == 0 && job_.shuffle_quality) write_shuffle(*job_.shuffle_quality);
    });
  }

  TrainResult run(const ProgressSink& progress) {
    TrainResult result;
    loader_ = std::make_unique<pipeline::Loader>(
        *job_.source.cache, load_options(recipe_of(options_.data, job_.info)),
        pipeline::make_planner(
            job_.source.spread, comm_.rank(),
            [this](int rank, std::uint64_t i) { return requests(rank, i); }, options_.recipe.seed));
    double paused = 0;
    auto interval_begin = began_ = Clock::now();
    std::int64_t interval_first = first_step_;
    std::int64_t epoch = 1;
    while (epoch_ends(epoch) <= first_step_ && epoch_ends(epoch) < last_step_) ++epoch;
    if (!state_.evaluated && first_step_ < last_step_) {
      evaluate_on(Split::kVal, first_step_, result);
    }
    pipeline::Batch batch;
    for (std::int64_t done = first_step_ + 1; done <= last_step_; ++done) {
      batch = loader_->next(std::move(batch));
      const double weight = weight_of_batch(job_.batches, *job_.sampler, done - 1);
      const double rate = rate_at(rate_, done - 1);
      const bool stop = options_.run.stop && options_.run.stop();
      const StepResult step = executor_->run(batch, weight, rate, done - 1, stop);
      take_census(seen_, first_position(done - 1), epoch_samples(), batch.ids);
      if (options_.run.log_batches) log_digest(done, batch);
      result.exposed_comm_seconds += step.exposed_comm_seconds;
      result.repeated_steps += step.repeats;
      const double loss = step.score.loss / step.score.weight;
      state_.interval.add(loss);
      state_.in_epoch.add(loss);
      show(progress, done, epoch);
      if (done % options_.run.log_interval == 0 || done == last_step_) {
        log(done,
            {{"train.loss", state_.interval.value()},
             {"train.lr", rate},
             {"train.total_ips", static_cast<double>((done - interval_first) * job_.batches.batch) /
                                     std::max(seconds_since(interval_begin), 1e-9)},
             {"data.wait_time", loader_->waited_seconds()},
             {"data.received", static_cast<double>(loader_->received_bytes())},
             {"comm.exposed_time", result.exposed_comm_seconds}},
            seconds_since(began_));
        state_.interval = {};
        interval_begin = Clock::now();
        interval_first = done;
      }
      const bool ends_epoch = done == epoch_ends(epoch);
      const bool stopping = step.stop && done < last_step_;
      const int every = options_.run.recovery_interval;
      if (!ends_epoch && !stopping && (every == 0 || done % every != 0)) continue;
      const auto pause = Clock::now();
      if (ends_epoch) {
        state_.train_loss = state_.in_epoch.value();
        state_.in_epoch = {};
        ++epoch;
        // There may be no time left; it is made up for when the run goes on.
        state_.evaluated = !stopping;
        if (!stopping && done < last_step_) evaluate_on(Split::kVal, done, result);
      }
      save(done);
      if (stopping) {
        loader_->settle();  // with the others, or one would wait for another that has left
        throw_stopped(done);
      }
      look_at_cache(done);
      const double pause_seconds = seconds_since(pause);
      paused += pause_seconds;
      interval_begin +=
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pause_seconds));
    }
    result.steps = last_step_;
    result.train_loss = state_.train_loss;
    result.epoch = job_.batches.epoch_at(last_step_);
    result.images_per_second =
        static_cast<double>((last_step_ - first_step_) * job_.batches.batch) /
        std::max(seconds_since(began_) - paused, 1e-9);
    result.data_wait_seconds = loader_->waited_seconds();
    evaluate_on(Split::kVal, last_step_, result);
    if (options_.data.holdout == 0) evaluate_on(Split::kTest, last_step_, result);
    on_root(comm_, [&] { metrics_->sync(); });
    return result;
  }

 private:
  std::string execution_note(const Execution& execution, const Backend& backend) const {
    const std::string micro_batches =
        " on rank 0, micro-batches of " + std::to_string(job_.batches.micro_batch);
    if (!backend.is_on_cpu()) return backend.instruction_set() + micro_batches;
    const std::size_t lanes = execution.lanes.size();
    return std::to_string(lanes) + (lanes == 1 ? " lane of " : " lanes of ") +
           std::to_string(execution.lane_threads) +
           (execution.lane_threads == 1 ? " thread" : " threads") + micro_batches;
  }

  std::string variants_note() const {
    const pipeline::Recipe more = recipe_of(options_.data, job_.info);
    return "training images are the cache's variants (recipe " +
           std::string(recipe_name(job_.info.stored_recipe)) + "), " +
           (more == pipeline::Recipe::kNone ? "as they are"
                                            : std::string(recipe_name(more)) + " on top");
  }

  pipeline::LoadOptions load_options(pipeline::Recipe recipe) const {
    return {.geometry = geometry_of(job_.setup),
            .recipe = recipe,
            .seed = options_.recipe.seed,
            .threads = options_.execution.threads.decode,
            .levels = levels_of(job_.setup),
            .first_batch = static_cast<std::uint64_t>(first_step_)};
  }

  std::int64_t epoch_ends(std::int64_t epoch) const {
    return std::min(last_step_, job_.batches.end_of_epoch(epoch));
  }

  std::uint64_t epoch_samples() const { return static_cast<std::uint64_t>(job_.batches.samples); }

  // Of this rank's part of a step's batch in the stream.
  std::uint64_t first_position(std::int64_t step) const {
    const BatchPlan& b = job_.batches;
    return static_cast<std::uint64_t>(step * b.batch + b.first_micro * b.micro_batch);
  }

  std::vector<pipeline::Request> requests(int rank, std::uint64_t i) const {
    const std::int64_t step = first_step_ + static_cast<std::int64_t>(i);
    if (step >= last_step_) return {};
    return requests_of(part_of(job_.batches, rank, comm_.size()), *job_.sampler, step,
                       pipeline::mixes(recipe_of(options_.data, job_.info)));
  }

  void show(const ProgressSink& progress, std::int64_t done, std::int64_t epoch) const {
    if (!progress) return;
    const LossMean& loss = state_.interval;
    progress({.done = static_cast<std::uint64_t>(done * job_.batches.batch),
              .total = static_cast<std::uint64_t>(last_step_ * job_.batches.batch),
              .note = "epoch " + std::to_string(epoch) + ", loss " + std::to_string(loss.value())});
  }

  void log(std::int64_t step, const std::map<std::string, double>& values, double wall) {
    on_root(comm_, [&] { metrics_->write(step, job_.batches.epoch_at(step), wall, values); });
  }

  void write_shuffle(const pipeline::ShuffleQuality& quality) {
    std::map<std::string, double> row{{"shuffle.away", quality.away},
                                      {"shuffle.displacement", quality.displacement}};
    if (quality.meetings) row["shuffle.meetings"] = *quality.meetings;
    if (quality.class_entropy) row["shuffle.class_entropy"] = *quality.class_entropy;
    metrics_->write(0, 0, seconds_since(began_), row);
  }

  void log_digest(std::int64_t step, const pipeline::Batch& batch) {
    std::array<std::uint64_t, 1> sum{pipeline::digest_of(batch, first_position(step - 1))};
    comm_.all_reduce(sum);
    on_root(comm_, [&] {
      metrics_->write(step, job_.batches.epoch_at(step), seconds_since(began_), {},
                      {{"data.digest", to_hex(sum[0])}});
    });
  }

  // The census of what all ranks have seen since the last checkpoint enters the state.
  void gather_census(std::int64_t done) {
    const auto batch = static_cast<std::uint64_t>(job_.batches.batch);
    const std::uint64_t first = static_cast<std::uint64_t>(saved_step_) * batch / epoch_samples();
    const std::uint64_t end = static_cast<std::uint64_t>(done) * batch;
    std::vector<EpochCensus> all;
    for (std::uint64_t e = first; e * epoch_samples() < end; ++e) all.push_back({.epoch = e});
    std::vector<std::uint64_t> sums(2 * all.size(), 0);
    for (const EpochCensus& mine : seen_) {
      sums[2 * (mine.epoch - first)] = mine.samples;
      sums[2 * (mine.epoch - first) + 1] = mine.hash;
    }
    comm_.all_reduce(sums);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (state_.census.empty() || state_.census.back().epoch < all[i].epoch) {
        state_.census.push_back(all[i]);
      }
      EpochCensus& row = state_.census[all[i].epoch];
      row.samples += sums[2 * i];
      row.hash += sums[2 * i + 1];
    }
    seen_.clear();
    on_root(comm_, [&] {
      extend_due(due_, state_.census.size(), *job_.sampler);
      check_census(state_.census, due_, end);
      metrics_->sync();  // a run that goes on from here does not write these lines again
      write_file_durably(directory_.census(),
                         to_json(state_.census, due_, options_.data.sampling.sampling));
    });
  }

  void save(std::int64_t done) {
    gather_census(done);
    saved_step_ = done;
    state_.step = done;
    state_.epoch = job_.batches.epoch_at(done);
    state_.seed = options_.recipe.seed;
    state_.ranks = comm_.size();
    state_.sums = executor_->state();
    on_root(comm_, [&] { weights_->store(); });
    directory_.save(state_, model_, options_.run.checkpoints_kept);
    state_.evaluated = true;
  }

  [[noreturn]] void throw_stopped(std::int64_t done) const {
    constexpr int kRestartMe = 75;  // EX_TEMPFAIL
    if (comm_.rank() != 0) throw comm::PeerError(kRestartMe);
    throw comm::AgreedError("stopped as asked after step " + std::to_string(done) + " of " +
                                std::to_string(last_step_) + " with a checkpoint in " +
                                options_.run.out.string() + "; go on with it by --resume auto",
                            kRestartMe);
  }

  // A run whose cache is another now could not be gone on with after this checkpoint. One that is
  // done but for its last evaluation ends well.
  void look_at_cache(std::int64_t done) {
    on_root(comm_, [&] {
      const std::string became = pipeline::what_became_of(*job_.source.cache);
      if (became.empty()) return;
      const std::string what = options_.data.cache.string() + " " + became +
                               " while this run was training on it; all " + std::to_string(done) +
                               " steps were computed on what it was";
      if (done == last_step_) return note_(what);
      throw Error(what + " and are in " + options_.run.out.string() +
                  ": put it back to go on with them by --resume auto, or begin another run");
    });
  }

  // Nothing where the cache has no such split.
  void evaluate_on(Split split, std::int64_t step, TrainResult& result) {
    const EvaluationSet& set = job_.evaluation_sets[split];
    if (set.samples.ids.empty()) return;
    const bool judged = !options_.data.selection.empty();
    loader_->settle();
    inference_->load_parameters();
    const Evaluation e = evaluate(
        *inference_, job_.source, set.samples, judged ? &set.leaked : nullptr,
        load_options(eval_recipe(eval_resize_of(options_.data, job_.info, job_.setup))), comm_, {});
    result.split = std::string(split_name(split));
    result.top1 = e.top1;
    result.top1_leak_free = e.top1_leak_free;
    std::map<std::string, double> row{{result.split + ".loss", e.loss},
                                      {result.split + ".top1", e.top1}};
    if (e.top1_leak_free) row[result.split + ".top1_leak_free"] = *e.top1_leak_free;
    log(step, row, seconds_since(began_));
  }

  const TrainOptions& options_;
  comm::Communicator& comm_;
  Job job_;
  Model model_;
  std::unique_ptr<Weights> weights_;  // those of model_, which has them when they are stored
  std::vector<EpochCensus> due_;      // of epochs 0, 1, 2 ...; rank 0
  LearningRate rate_;
  RunDirectory directory_;
  const std::function<void(std::string)>& note_;
  RunState state_;
  std::vector<EpochCensus> seen_;  // by this rank, since the last checkpoint
  std::int64_t saved_step_ = 0;
  std::vector<std::unique_ptr<Program>> programs_;  // of the lanes
  std::unique_ptr<Program> inference_;
  std::unique_ptr<StepExecutor> executor_;
  std::unique_ptr<MetricsLog> metrics_;  // rank 0
  std::unique_ptr<pipeline::Loader> loader_;
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
  Clock::time_point began_ = Clock::now();  // with the first step
};

}  // namespace

TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note) {
  std::unique_ptr<Backend> backend;
  on_all(comm,
         [&] { backend = make_backend(options.execution.backend, {.device = comm.local_rank()}); });
  return train(options, *backend, comm, progress, note);
}

TrainResult train(const TrainOptions& options, Backend& backend, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note) {
  Job job;
  const std::string init_from_digest = digest_of_weights(options.start.init_from, comm);
  on_all(comm, [&] {
    job = open_job(options, comm, init_from_digest);
    check_execution(options.execution, backend);
    // Unknown names fail here, on all ranks alike.
    find_optimizer(options.recipe.optimizer);
    comm::find_schedule(options.execution.schedule);
  });
  job.source.spread = pipeline::spread(*job.source.cache, comm, options.data.placement);
  std::map<std::string, std::string> facts = config_facts(job.config);
  facts["build"] = WINNOW_BUILD;
  if (comm.size() > 1) {
    facts["program"] = to_hex(xxh3_128(MappedFile("/proc/self/exe").bytes()));
  }
  facts["instruction set"] = backend.instruction_set();
  facts["library"] = backend.library();
  require_agreement(comm, facts);
  return Trainer(options, comm, std::move(job), backend, note).run(progress);
}

}  // namespace winnow::train
