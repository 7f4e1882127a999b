#include "train/run/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/comm/agreement.h"
#include "common/counted.h"
#include "common/file.h"
#include "train/backend/backend.h"
#include "train/model/class_names.h"
#include "train/model/initial_weights.h"
#include "train/nets/local_heads.h"
#include "train/optim/learning_rate.h"
#include "train/optim/rate_options.h"
#include "train/run/evaluations/run_evaluations.h"
#include "train/run/interruptions.h"
#include "train/run/log/loss_watch.h"
#include "train/run/log/rank_traffic.h"
#include "train/run/log/rank_watch.h"
#include "train/run/log/run_log.h"
#include "train/run/log/summary.h"
#include "train/run/record/chosen_net.h"
#include "train/run/record/net_tensors.h"
#include "train/run/record/run_directory.h"
#include "train/run/record/run_saver.h"
#include "train/run/run_census.h"
#include "train/run/stages_together.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"
#include "train/run/start/loading.h"
#include "train/run/start/norm_groups.h"
#include "train/run/start/planning.h"
#include "train/run/start/whiten.h"
#include "train/run/start/without_labels.h"
#include "train/trace/run_trace.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Note = std::function<void(std::string)>;

void add_waits(const pipeline::Loader& loader, const ExposedSeconds& seconds,
               std::map<std::string, double>& values) {
  values["data.wait_time"] = loader.waited_seconds();
  values["data.received"] = static_cast<double>(loader.received_bytes());
  values["comm.exposed_time"] = seconds.total();
  values["comm.exposed_late"] = seconds.late;
  values["comm.exposed_wire"] = seconds.wire;
  values["comm.exposed_addition"] = seconds.addition;
}

// The batch of step `step`. The wait for it is traced.
pipeline::Batch next_batch(pipeline::Loader& loader, pipeline::Batch last, std::int64_t step,
                           RunTrace* trace) {
  if (trace == nullptr) return loader.next(std::move(last));
  trace->begin_step(step);
  pipeline::Batch batch = loader.next(std::move(last));
  trace->batch_is_here();
  return batch;
}

void add_scale(const StepExecutor& executor, const StepSpeed& speed,
               std::map<std::string, double>& values) {
  values["train.loss_scale"] = executor.loss_scale().factor;
  const std::vector<LossScale>& scales = executor.loss_scales();
  for (std::size_t i = 0; i + 1 < scales.size(); ++i) {
    values["train." + local_head_name(i + 1) + ".loss_scale"] = scales[i].factor;
  }
  values["train.repeated_steps"] = speed.repeated_steps;
}

// The CUDA device of this rank; nullopt on the CPU backend.
std::optional<int> card_of(const ExecutionOptions& options, const comm::Communicator& comm) {
  if (options.backend != "cudnn") return std::nullopt;
  return comm.local_rank();
}

// Each stage of a pipeline has the whole batch, so only the ranks of the first one count its
// samples.
bool counts_samples(const Job& job, const comm::Communicator& comm) {
  return job.ranks.stage_of(comm.rank()) == 0;
}

std::uint64_t digest_of(const pipeline::Batch& batch, const Job& job, std::int64_t step,
                        const comm::Communicator& comm) {
  if (!counts_samples(job, comm)) return 0;
  const auto views = static_cast<std::uint64_t>(views_of(job.setup));
  return pipeline::digest_of(batch, first_position(job.batches, step) * views);
}

void add_steps(double gradient_norm, double images_per_second,
               std::map<std::string, double>& values) {
  values["train.gradient_norm"] = gradient_norm;
  values["train.total_ips"] = images_per_second;
}

// Progress when steps [0, first) of [0, last) are done, each with `images` images.
Progress progress_of(const StepRange& steps, std::int64_t images, std::int64_t epoch,
                     const LossMean& loss) {
  std::string note = "epoch " + std::to_string(epoch);
  if (loss.count > 0) note += ", loss " + std::to_string(loss.value());
  return {.done = static_cast<std::uint64_t>(steps.first * images),
          .total = static_cast<std::uint64_t>(steps.last * images),
          .note = std::move(note)};
}

LearningRate learning_rate(const RecipeOptions& recipe, const BatchLayout& batches) {
  const double steps_per_epoch =
      static_cast<double>(batches.samples) / static_cast<double>(batches.batch);
  const ChosenOptions chosen(kRateOptions, recipe.options);
  return {.base = scaled_rate(recipe.rate.base, chosen.number("lr_base_size"),
                              static_cast<double>(batches.batch), chosen.is_on("lr_sqrt")),
          .warmup_steps = std::llround(recipe.rate.warmup_epochs * steps_per_epoch),
          .total_steps = batches.total_steps,
          .steps_per_epoch = steps_per_epoch,
          .schedule = find_lr_schedule(recipe.rate.schedule),
          .options = recipe.options};
}

// The remaining steps. Throws UsageError if more are done than --max-steps allows.
StepRange steps_to_do(const Job& job, const RunOptions& run, const RunState& state) {
  const std::int64_t total = job.batches.total_steps;
  if (run.max_steps > 0 && run.max_steps < state.step) {
    throw UsageError("--max-steps " + std::to_string(run.max_steps) + " is below the " +
                     count_of(static_cast<std::uint64_t>(state.step), "step") +
                     " already done in " + run.out.string() +
                     ": nothing is left to do; evaluate the run with winnow eval");
  }
  if (is_over(run.evaluation, state.best)) return {state.step, state.step};
  return {state.step, run.max_steps > 0 ? std::min(run.max_steps, total) : total};
}

void add_step(RunState& state, double loss, const StepResult& step) {
  state.losses.interval.add(loss);
  state.losses.epoch.add(loss);
  state.interval_hits.correct += step.score.correct;
  state.interval_hits.samples += step.score.samples;
  state.heads.resize(step.heads.size());
  for (std::size_t i = 0; i < step.heads.size(); ++i) {
    state.heads[i].loss.add(step.heads[i].loss / step.score.weight);
    state.heads[i].correct += step.heads[i].correct;
  }
}

// Adds "train.top1", "train.local.1.loss", "train.local.1.top1" and so on.
void add_hits(const RunState& state, std::map<std::string, double>& values) {
  values["train.top1"] = state.interval_hits.top1();
  for (std::size_t i = 0; i < state.heads.size(); ++i) {
    const std::string name = "train." + local_head_name(i + 1);
    values[name + ".loss"] = state.heads[i].loss.value();
    values[name + ".top1"] = HitCount{state.heads[i].correct, state.interval_hits.samples}.top1();
  }
}

// Updates the run's state after `done` steps.
void enter_step(RunState& state, std::int64_t done, const BatchLayout& batches,
                const StepExecutor& executor) {
  state.step = done;
  state.epoch = batches.epoch_at(done);
  state.sums = executor.state();
  state.loss_scales.clear();
  if (executor.loss_scale().adapts) state.loss_scales = executor.loss_scales();
}

// Restores the executor's state from when `state` was saved.
void go_on_from(const RunState& state, int stage, const RankStages& ranks, StepExecutor& executor) {
  executor.restore(state.sums);
  const auto s = static_cast<std::size_t>(stage);
  if (ranks.is_pipeline()) {
    if (s < state.loss_scales.size()) executor.set_loss_scale(state.loss_scales[s]);
    return;
  }
  if (executor.loss_scale().adapts && state.loss_scales.size() == executor.loss_scales().size()) {
    executor.set_loss_scales(state.loss_scales);
  }
}

// The parts of a run. All must outlive the loop.
struct Parts {
  const RunOptions& run;
  const ExecutionOptions& execution;
  const Job& job;
  Engine& engine;
  StagesTogether& together;
  const NetTensors& tensors;
  RunDirectory& directory;
  comm::Communicator& comm;
  const Note& note;
  health::Board& board;
};

// The steps of a run after which there is more to do than to take the next one.
class Milestones {
 public:
  // All arguments must outlive this; `steps` may change.
  Milestones(const RunOptions& run, const BatchLayout& batches, const RunEvaluations& evaluations,
             const StepRange& steps)
      : run_(run), batches_(batches), evaluations_(evaluations), steps_(steps) {}

  std::int64_t epoch() const { return epoch_; }  // epoch of the next step

  // If a batch is larger than an epoch, several epochs end in one step.
  void leave_epochs(std::int64_t done) {
    while (end_of_epoch() <= done && end_of_epoch() < steps_.last) ++epoch_;
  }

  bool ends_epoch(std::int64_t done) const { return done == end_of_epoch(); }

  bool is_saved(std::int64_t done) const {
    const int every = run_.checkpoints.interval;
    return ends_epoch(done) || (every > 0 && done % every == 0);
  }

  bool is_logged(std::int64_t done) const {
    return done % run_.log.interval == 0 || done == steps_.last;
  }

  // Reaching --max-steps does not end an epoch.
  bool is_evaluated(std::int64_t done) const {
    return evaluations_.is_due(done, done == batches_.end_of_epoch(epoch_));
  }

  // Whether all ranks have something to do together after step `done`. Asked after the batch of
  // that step has come.
  bool any_after(std::int64_t done) const {
    const RunTrace* const trace = run_.log.trace;
    return is_logged(done) || is_evaluated(done) || is_saved(done) || run_.log.batches ||
           (trace != nullptr && trace->meets_before(done + 1));
  }

 private:
  std::int64_t end_of_epoch() const { return std::min(steps_.last, batches_.end_of_epoch(epoch_)); }

  const RunOptions& run_;
  const BatchLayout& batches_;
  const RunEvaluations& evaluations_;
  const StepRange& steps_;
  std::int64_t epoch_ = 1;
};

// The loop over the steps of a run, starting at `state`. Each part that it calls has its own file.
class Trainer {
 public:
  Trainer(const Parts& parts, RunState state, StepRange steps)
      : run_(parts.run),
        execution_(parts.execution),
        job_(parts.job),
        engine_(parts.engine),
        together_(parts.together),
        tensors_(parts.tensors),
        directory_(parts.directory),
        comm_(parts.comm),
        note_(parts.note),
        board_(parts.board),
        state_(std::move(state)),
        steps_(steps),
        lr_(learning_rate(job_.recipe, job_.batches)),
        ranks_(comm_),
        log_(comm_, job_.batches),
        saver_(directory_, log_, comm_, board_, run_.checkpoints.kept),
        evaluations_(job_, run_, execution_.threads.decode, engine_, comm_, log_),
        milestones_(run_, job_.batches, evaluations_, steps_),
        census_(*job_.data.sampler, job_.batches, state_.step),
        loss_watch_(loss_of_guessing(job_.setup.options)) {}

  TrainResult run(const ProgressSink& progress) {
    begin();
    pipeline::Batch batch;
    for (std::int64_t done = steps_.first + 1; done <= steps_.last; ++done) {
      board_.begin_step(done);
      batch = next_batch(*loader_, std::move(batch), done, run_.log.trace);
      const bool meets = together_.must_meet() || milestones_.any_after(done);
      compute(batch, done, meets);
      board_.end_step(loader_->waited_seconds());
      if (progress)
        progress(progress_of({done, steps_.last}, job_.batches.batch, milestones_.epoch(),
                             state_.losses.interval));
      if (!meets) continue;
      if (milestones_.is_logged(done)) log_interval(done);
      const bool stopping = stops_ && done < steps_.last;
      if (stopping || milestones_.is_evaluated(done) || milestones_.is_saved(done)) {
        pause(done, stopping);
      }
    }
    return finish();
  }

 private:
  void begin() {
    const bool evaluates_again = !state_.evaluated || steps_.first == steps_.last;
    log_.open({.metrics = directory_.metrics(),
               .events = run_.log.tensorboard ? directory_.events() : fs::path(),
               .ranks = directory_.ranks(),
               .run_id = directory_.run_id(),
               .sink = run_.log.sink},
              steps_.first, evaluates_again);
    on_root(comm_, [&] {
      const auto& shuffle = job_.data.shuffle_quality;
      if (steps_.first == 0 && shuffle) log_.write_shuffle(*shuffle);
      remove_file(directory_.summary());  // it will be outdated
    });
    loader_ = load_training_batches(job_, execution_.threads.decode, comm_, steps_,
                                    engine_.executor().execution().batches_ahead);
    ranks_.begin(traffic_of_step(engine_.executor().execution()), card_of(execution_, comm_));
    log_.throughput().begin(steps_.first, job_.batches.batch);
    milestones_.leave_epochs(steps_.first);
    if (!state_.evaluated && steps_.first < steps_.last && evaluate(steps_.first)) {
      save(steps_.first);
    }
  }

  void compute(pipeline::Batch& batch, std::int64_t done, bool meets) {
    const std::int64_t step = done - 1;
    const int views = views_of(job_.setup);
    const double weight = views * weight_of_batch(job_.batches, *job_.data.sampler, step);
    const bool stop = saver_.failed() || (run_.stop && run_.stop());
    const auto started = Clock::now();
    const StepResult own = together_.take(done, [&] {
      return engine_.executor().run(batch, weight, rate_at(lr_, step), step, stop, !meets);
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    enter_known(meets);
    ranks_.count(own, seconds);
    if (counts_samples(job_, comm_)) census_.add(step, samples_of_views(batch.ids, views));
    if (run_.log.batches) log_.write_digest(done, digest_of(batch, job_, step, comm_));
  }

  // Enters the results of steps that all ranks have taken; in a pipeline later than they are taken.
  void enter_known(bool meets) {
    while (const auto known = together_.next_known(meets)) {
      if (known->not_finite) end_not_finite(*known->not_finite, known->number);
      account(known->result, known->number);
      stops_ = stops_ || known->result.stop;
    }
  }

  void account(const StepResult& result, std::int64_t done) {
    speed_.exposed += result.exposed;
    speed_.repeated_steps += result.repeats;
    const double loss = result.score.loss / result.score.weight;
    add_step(state_, loss, result);
    if (const auto warning = loss_watch_.warning(done, loss)) note_(*warning);
  }

  // Norms read all gradients and weights, so they are computed here and not in each step.
  void log_interval(std::int64_t done) {
    std::map<std::string, double> values{
        {"train.loss", state_.losses.interval.value()},
        {"train.lr", rate_at(lr_, done - 1)},
        {"train.weight_norm", together_.norm(engine_.weight_norm())}};
    add_waits(*loader_, speed_.exposed, values);
    saver_.add_costs(values);
    if (!learns_without_labels(job_.recipe.loss)) add_hits(state_, values);
    // A resumed run may end without doing a step.
    const double norm = together_.norm(engine_.executor().gradient_norm());
    if (done > first_) add_steps(norm, log_.throughput().of_interval(done), values);
    if (execution_.dtype == DType::kF16) add_scale(engine_.executor(), speed_, values);
    log_.write_interval(done, std::move(values), ranks_.gather(*loader_));
    state_.losses.interval = {};
    state_.interval_hits = {};
    state_.heads.assign(state_.heads.size(), {});
    log_.throughput().begin_interval(done);
  }

  // Between two steps: evaluates if it is due, and saves a checkpoint.
  void pause(std::int64_t done, bool stopping) {
    const auto begin = Clock::now();
    if (stopping) saver_.finish();  // throws if a write failed, the reason for stopping then
    const bool due = milestones_.is_evaluated(done);
    bool saves = stopping || milestones_.is_saved(done);
    if (milestones_.ends_epoch(done)) {
      state_.losses.last_epoch = state_.losses.epoch.value();
      state_.losses.epoch = {};
      milestones_.leave_epochs(done);
    }
    state_.evaluated = !(due && stopping);  // there may be no time left: a resumed run evaluates
    if (due && !stopping && evaluate(done)) saves = true;
    if (saves) save(done);
    if (stopping) {
      saver_.finish();
      settle(health::Stage::kEnding);  // all together, or one would wait for another that has left
      throw_stopped(comm_, run_.out, {done, steps_.last});
    }
    require_unchanged_cache(job_, run_.out, {done, steps_.last}, comm_, note_);
    log_.throughput().leave_out(std::chrono::duration<double>(Clock::now() - begin).count());
  }

  // Evaluates val after `done` steps. Returns whether its checkpoint must be saved.
  bool evaluate(std::int64_t done) {
    settle(health::Stage::kEvaluating);
    const bool is_best = evaluations_.evaluate_due(done, state_.best);
    if (done == steps_.last || !is_over(run_.evaluation, state_.best)) return is_best;
    note_("ended after step " + std::to_string(done) + ": " + in_words(*state_.best));
    steps_.last = done;
    if (state_.losses.interval.count > 0) log_interval(done);
    return true;
  }

  // Waits until nothing is being prepared; data for other ranks may still be in transfer.
  void settle(health::Stage next) {
    board_.mark(health::Stage::kReading);
    loader_->settle();
    board_.mark(next);
  }

  void save(std::int64_t done) {
    const RunSaver::Hold steps = saver_.begin();
    const std::string found = diagnose_weights(engine_, together_.is_first(), done, comm_);
    if (!found.empty()) end_with(found);
    census_.gather(state_.census, done, comm_);
    std::string census;
    on_root(comm_, [&] { census = census_.checked_text(state_.census, done); });
    enter_step(state_, done, job_.batches, engine_.executor());
    together_.gather(state_);
    state_.writer.seed = job_.recipe.seed;
    state_.writer.ranks = comm_.size();
    engine_.executor().forget_errors();  // as a run has that resumes from this checkpoint
    saver_.save(state_, engine_.model(), tensors_, std::move(census));
    state_.evaluated = true;
  }

  // Handles a step `done` that is not finite. Parameters are those of the step before, except in
  // other stages of a pipeline; so they are saved only without a pipeline.
  [[noreturn]] void end_not_finite(const NotFiniteFindings& mine, std::int64_t done) {
    const std::string diagnosis = diagnose_not_finite(mine, done, comm_);
    log_.write(done, {{"train.lr", rate_at(lr_, done - 1)}}, {{"train.not_finite", diagnosis}});
    const bool saves = done - 1 > state_.step && !job_.ranks.is_pipeline();
    const bool is_first = together_.is_first();
    if (saves && diagnose_weights(engine_, is_first, done - 1, comm_).empty()) save(done - 1);
    end_with(diagnosis);
  }

  [[noreturn]] void end_with(const std::string& diagnosis) {
    settle(health::Stage::kEnding);
    saver_.finish();
    on_root(comm_, [&] { log_.sync(); });
    throw_not_finite(comm_, diagnosis,
                     state_.step > 0 ? directory_.checkpoint(state_.step) : fs::path());
  }

  TrainResult finish() {
    speed_.images_per_second = log_.throughput().of_run(steps_.last);
    speed_.data_wait_seconds = loader_->waited_seconds();
    board_.mark(health::Stage::kSaving);
    saver_.finish();
    settle(health::Stage::kEvaluating);
    evaluations_.evaluate_end(steps_.last);
    board_.mark(health::Stage::kEnding);
    on_root(comm_, [&] {
      log_.sync();
      write_file_durably(directory_.summary(), summary_csv(read_metrics(directory_.metrics())));
    });
    // covers part of an epoch if the run ended within it
    const LossMean& epoch = state_.losses.epoch;
    return {.epoch = job_.batches.epoch_at(steps_.last),
            .steps = steps_.last,
            .train_loss = epoch.count > 0 ? epoch.value() : state_.losses.last_epoch,
            .score = evaluations_.score(),
            .best = run_.evaluation.keep_best.empty() ? std::nullopt : state_.best,
            .speed = speed_};
  }

  const RunOptions& run_;
  const ExecutionOptions& execution_;
  const Job& job_;
  Engine& engine_;
  StagesTogether& together_;
  const NetTensors& tensors_;
  RunDirectory& directory_;
  comm::Communicator& comm_;
  const Note& note_;
  health::Board& board_;
  RunState state_;
  StepRange steps_;
  const std::int64_t first_ = steps_.first;  // done before this start
  const LearningRate lr_;
  RankWatch ranks_;
  RunLog log_;
  RunSaver saver_;
  RunEvaluations evaluations_;
  Milestones milestones_;
  RunCensus census_;
  LossWatch loss_watch_;
  std::unique_ptr<pipeline::Loader> loader_;
  bool stops_ = false;  // a rank has asked to stop
  StepSpeed speed_;
};

// Throws UsageError: a kernel was asked for that is for no layer of `graph`, the whole net's.
void check_kernels(const ExecutionOptions& execution, const Graph& graph, Backend& backend) {
  if (execution.lanes.kernels.empty()) return;
  check_layers(execution.lanes.kernels, backend.candidates_of(graph, {.compute = execution.dtype}));
}

// All tensors of the job's net, without numbers.
Model outline_of(const Job& job, const StartOptions& start, comm::Communicator& comm) {
  Model net = outline_model(job.forward, start, comm);
  if (!learns_without_labels(job.recipe.loss)) net.classes = class_names(job.data.info.classes);
  return net;
}

// Gives the tensors that this rank holds the numbers of the newest checkpoint, or else those that
// rank 0 has in `start`. In a pipeline these are all of the net; else they are in `held` already.
// Out  The state of the run that goes on; nullopt for a new run.
std::optional<RunState> fill_tensors(Model& held, Model start, const NetTensors& tensors,
                                     const Job& job, const RunOptions& run,
                                     RunDirectory& directory) {
  auto restored = directory.restore_newest_checkpoint(held, tensors, job.batches, run.replan,
                                                      run.checkpoints.kept);
  if (restored) return restored;
  tensors.hand_out(held, [&](Model& part) {
    if (!job.ranks.is_pipeline()) return;
    for (Model::Tensor& t : part.tensors) t.data = start.find(t.about.name).data;
  });
  return std::nullopt;
}

// Implementation of train() for a given backend.
TrainResult train_on(Backend& backend, TrainOptions options, comm::Communicator& comm,
                     const ProgressSink& progress, const Note& note, health::Board& board) {
  comm.use_checksums(options.execution.all_reduce.checksums);
  options.net = choose_net(options.net, options.run, comm, note);
  options.batch.micro_batch = choose_micro_batch(options.batch, options.run, comm);
  const RunOptions& run = options.run;
  const Job job = open_job(options, backend, comm);
  Model net = outline_of(job, options.start, comm);
  RunDirectory directory(run.out, comm, note);
  const std::optional<RunPlan> stored = directory.find(job.config, run.resume, run.replan);
  const JobGraphs graphs = graphs_of(job, net);
  std::optional<std::string> useless_norm;
  on_all(comm, [&] {
    useless_norm = check_norm_groups(graphs.training, job.setup.net.name, directory.goes_on());
    check_kernels(options.execution, graphs.training, backend);
  });
  const RunPlan* const in_force = stored && !run.replan ? &*stored : nullptr;
  const JobGraphs own = graphs_at(comm.rank(), job, graphs);
  PlannedRun planned = plan_run(options.execution, job, own, backend, in_force, comm);
  const NetTensors tensors(job.forward, net, job.ranks, comm);
  Model start = comm.rank() == 0 ? std::move(net) : tensors.held_here(net);
  begin_model(start, job.forward, options.recipe.seed, options.start, comm, note);
  directory.begin(job.config);
  for (const std::string& sentence : notes_on_data(job)) note(sentence);
  note(in_words(planned, job, backend));
  if (useless_norm) note(*useless_norm);
  const auto norms =
      note_on_norm_groups(graphs.training, job.batches, views_of(job.setup), job.sync_bn);
  if (norms) note(*norms);
  const bool has_more = job.ranks.is_pipeline() && comm.rank() == 0;
  Model held = has_more ? tensors.held_here(start) : std::exchange(start, {});
  const std::unique_ptr<Engine> compiled =
      compile_planned(planned, job.recipe, own, backend, comm, std::move(held));
  Engine& engine = *compiled;
  if (const auto sentence = note_on_kernels(engine.kernels())) note(*sentence);
  directory.use_plan(std::move(planned.plan), run.replan);
  std::optional<RunState> restored =
      fill_tensors(engine.model(), std::move(start), tensors, job, run, directory);
  if (!restored)
    complete_weights(engine.model(), job, options.start, options.execution.threads.decode, comm);
  RunState state = std::move(restored).value_or(RunState{});
  StepRange steps;
  on_all(comm, [&] { steps = steps_to_do(job, run, state); });
  engine.load_model();
  go_on_from(state, job.ranks.stage_of(comm.rank()), job.ranks, engine.executor());
  board.set_saved(state.step);
  engine.executor().marks().set_board(&board);
  RunTrace* const trace = run.log.trace;
  if (trace != nullptr) {
    engine.executor().set_trace(&trace->recorder());
    trace->begin(run.out / "trace.json", state.step, note);
  }
  StagesTogether together(job.ranks, comm);
  Trainer trainer(
      {run, options.execution, job, engine, together, tensors, directory, comm, note, board},
      std::move(state), steps);
  const TrainResult result = trainer.run(progress);
  if (trace != nullptr) trace->finish();
  return result;
}

}  // namespace

TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note,
                  health::Board* board, Backend* backend) {
  std::unique_ptr<Backend> made;
  if (backend == nullptr) {
    on_all(comm,
           [&] { made = make_backend(options.execution.backend, {.device = comm.local_rank()}); });
    backend = made.get();
  }
  health::Board unseen;
  return train_on(*backend, options, comm, progress, note, board != nullptr ? *board : unseen);
}

}  // namespace winnow::train
