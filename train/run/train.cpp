#include "train/run/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/file.h"
#include "train/backend/backend.h"
#include "train/graph/rewrites.h"
#include "train/run/agreement.h"
#include "train/run/batch_plan.h"
#include "train/run/evaluate.h"
#include "train/run/initial_weights.h"
#include "train/run/metrics.h"
#include "train/run/run_directory.h"
#include "train/run/setup.h"
#include "train/run/step.h"

namespace winnow::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What is known before anything is compiled.
struct Job {
  std::shared_ptr<const pipeline::Cache> cache;
  pipeline::DatasetInfo info;
  pipeline::SampleSet samples;
  NetSetup setup;
  BatchPlan batches;
  std::string config;
};

Job open_job(const TrainOptions& options, const comm::Communicator& comm,
             const std::string& init_from_digest) {
  Job job;
  job.cache = pipeline::open_cache(options.data.cache);
  job.info = pipeline::describe(*job.cache);
  job.samples = pipeline::select_samples(*job.cache, Split::kTrain, options.data.selection);
  job.setup = fit_net(options, job.info);
  job.batches =
      plan_batches(static_cast<std::int64_t>(job.samples.size()), options.batch.batch,
                   job.setup.options.batch, options.recipe.epochs, comm.rank(), comm.size());
  job.config = config_text(options, job.setup, job.info,
                           pipeline::selection_digest(*job.cache, options.data.selection),
                           init_from_digest);
  return job;
}

StepOptions step_options(const TrainOptions& options, const BatchPlan& batches) {
  return {.optimizer = &find_optimizer(options.recipe.optimizer),
          .optimizer_options = options.recipe.optimizer_options,
          .schedule = &comm::find_schedule(options.execution.schedule),
          .schedule_options = options.execution.schedule_options,
          .bucket_bytes = options.execution.bucket_bytes,
          .micro_batches = static_cast<int>(batches.micro_batches()),
          .total_micro_batches = static_cast<int>(batches.batch / batches.micro_batch)};
}

LearningRate learning_rate(const RecipeOptions& recipe, const BatchPlan& batches) {
  const double steps_per_epoch =
      static_cast<double>(batches.samples) / static_cast<double>(batches.batch);
  return {.base = recipe.lr,
          .warmup_steps = std::llround(recipe.warmup_epochs * steps_per_epoch),
          .total_steps = batches.total_steps,
          .decay = recipe.decay};
}

// A mean and the time it was taken over.
struct Running {
  double sum = 0;
  std::int64_t count = 0;
  Clock::time_point begin = Clock::now();

  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

// Sequences steps, metrics, checkpoints and evaluations; each of these is somebody else's.
class Trainer {
 public:
  Trainer(const TrainOptions& options, comm::Communicator& comm, Job job, Backend& backend,
          const std::function<void(std::string)>& note)
      : options_(options),
        comm_(comm),
        job_(std::move(job)),
        forward_(forward_graph(job_.setup)),
        model_(begin_model(forward_, options.recipe.seed, options.start, comm, note)),
        program_(backend.compile(prune(differentiate(freeze(forward_, frozen_tensors(model_)))),
                                 compile_options())),
        inference_(backend.compile(for_inference(forward_), compile_options())),
        directory_(options.run.out, comm),
        rate_(learning_rate(options.recipe, job_.batches)) {
    bind_model(*program_, model_);
    bind_model(*inference_, model_);
    executor_ = std::make_unique<StepExecutor>(*program_, model_, comm_,
                                               step_options(options_, job_.batches));
    first_step_ = directory_.begin(job_.config, options_.run.resume, model_, note);
    const std::int64_t limit = options_.run.max_steps;
    last_step_ = limit > 0 ? std::min(limit, job_.batches.total_steps) : job_.batches.total_steps;
    on_root(comm_, [&] {
      write_file_durably(directory_.plan(), to_json(executor_->plan()) + "\n");
      metrics_ = std::make_unique<MetricsLog>(directory_.metrics(), first_step_);
    });
  }

  TrainResult run(const ProgressSink& progress) {
    TrainResult result;
    pipeline::Loader loader(*job_.cache, load_options(options_.data.augment),
                            [this](std::uint64_t i) { return requests(i); });
    const auto begin = Clock::now();
    double paused = 0;
    Running interval;
    Running in_epoch;
    std::int64_t epoch = 1;
    while (epoch_ends(epoch) <= first_step_ && epoch_ends(epoch) < last_step_) ++epoch;
    for (std::int64_t done = first_step_ + 1; done <= last_step_; ++done) {
      pipeline::Batch batch = loader.next();
      const double weight =
          weight_of_batch(job_.batches, job_.samples, options_.recipe.seed, done - 1);
      const double rate = rate_at(rate_, done - 1);
      const StepResult step = executor_->run(batch, weight, rate);
      result.exposed_comm_seconds += step.exposed_comm_seconds;
      interval.add(step.score.loss / step.score.weight);
      in_epoch.add(step.score.loss / step.score.weight);
      show(progress, done, epoch, interval);
      if (done % options_.run.log_interval == 0 || done == last_step_) {
        log(done,
            {{"train.loss", interval.mean()},
             {"train.lr", rate},
             {"train.total_ips", static_cast<double>(interval.count * job_.batches.batch) /
                                     seconds_since(interval.begin)},
             {"data.wait_time", loader.waited_seconds()},
             {"comm.exposed_time", result.exposed_comm_seconds}},
            seconds_since(begin));
        interval = {};
      }
      if (done != epoch_ends(epoch) && done != last_step_) continue;
      const auto pause = Clock::now();
      result.train_loss = in_epoch.mean();
      in_epoch = {};
      directory_.save(
          done, model_,
          state_text(done, job_.batches.epoch_at(done), options_.recipe.seed, comm_.size()),
          options_.run.checkpoints_kept);
      if (done < last_step_) evaluate_on(Split::kVal, done, result);
      paused += seconds_since(pause);
      interval.begin = Clock::now();
      ++epoch;
    }
    result.steps = last_step_;
    result.epoch = job_.batches.epoch_at(last_step_);
    result.images_per_second =
        static_cast<double>((last_step_ - first_step_) * job_.batches.batch) /
        std::max(seconds_since(begin) - paused, 1e-9);
    result.data_wait_seconds = loader.waited_seconds();
    evaluate_on(Split::kVal, last_step_, result);
    evaluate_on(Split::kTest, last_step_, result);
    return result;
  }

 private:
  CompileOptions compile_options() const {
    return {options_.execution.dtype, options_.execution.threads.compute};
  }

  pipeline::LoadOptions load_options(pipeline::Recipe recipe) const {
    return {.geometry = geometry_of(job_.setup),
            .recipe = recipe,
            .seed = options_.recipe.seed,
            .threads = options_.execution.threads.decode};
  }

  std::int64_t epoch_ends(std::int64_t epoch) const {
    return std::min(last_step_, job_.batches.end_of_epoch(epoch));
  }

  std::vector<pipeline::Request> requests(std::uint64_t i) const {
    const BatchPlan& b = job_.batches;
    const std::int64_t step = first_step_ + static_cast<std::int64_t>(i);
    if (step >= last_step_) return {};
    return requests_at(job_.samples, options_.recipe.seed,
                       step * b.batch + b.first_micro * b.micro_batch,
                       b.micro_batches() * b.micro_batch);
  }

  void show(const ProgressSink& progress, std::int64_t done, std::int64_t epoch,
            const Running& loss) const {
    if (!progress) return;
    progress({.done = static_cast<std::uint64_t>(done * job_.batches.batch),
              .total = static_cast<std::uint64_t>(last_step_ * job_.batches.batch),
              .note = "epoch " + std::to_string(epoch) + ", loss " + std::to_string(loss.mean())});
  }

  void log(std::int64_t step, const std::map<std::string, double>& values, double wall) {
    on_root(comm_, [&] { metrics_->write(step, job_.batches.epoch_at(step), wall, values); });
  }

  // Nothing where the cache has no such split.
  void evaluate_on(Split split, std::int64_t step, TrainResult& result) {
    if (job_.info.split_counts[static_cast<std::size_t>(split)] == 0) return;
    const auto begin = Clock::now();
    const bool judged = !options_.data.selection.empty();
    const std::vector<SampleId> leaked =
        pipeline::leaked_samples(*job_.cache, split, options_.data.selection);
    inference_->load_parameters();
    const Evaluation e =
        evaluate(*inference_, *job_.cache, pipeline::select_samples(*job_.cache, split, ""),
                 judged ? &leaked : nullptr, load_options(pipeline::Recipe::kNone), comm_, {});
    result.split = std::string(split_name(split));
    result.top1 = e.top1;
    result.top1_leak_free = e.top1_leak_free;
    std::map<std::string, double> row{{result.split + ".loss", e.loss},
                                      {result.split + ".top1", e.top1}};
    if (e.top1_leak_free) row[result.split + ".top1_leak_free"] = *e.top1_leak_free;
    log(step, row, seconds_since(begin));
  }

  const TrainOptions& options_;
  comm::Communicator& comm_;
  Job job_;
  Graph forward_;
  Model model_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Program> inference_;
  RunDirectory directory_;
  LearningRate rate_;
  std::unique_ptr<StepExecutor> executor_;
  std::unique_ptr<MetricsLog> metrics_;  // rank 0
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
};

}  // namespace

TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note) {
  Job job;
  std::unique_ptr<Backend> backend;
  const std::string init_from_digest = digest_of_weights(options.start.init_from, comm);
  on_all(comm, [&] {
    job = open_job(options, comm, init_from_digest);
    backend = make_backend(options.execution.backend);
    step_options(options, job.batches);  // unknown names fail here, on all ranks alike
  });
  require_agreement(comm, {{"build", WINNOW_BUILD},
                           {"instruction set", backend->instruction_set()},
                           {"configuration", job.config}});
  return Trainer(options, comm, std::move(job), *backend, note).run(progress);
}

}  // namespace winnow::train
