#include "train/run/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/file.h"
#include "pipeline/load/order.h"
#include "train/backend/backend.h"
#include "train/checkpoint/checkpoint.h"
#include "train/graph/rewrites.h"
#include "train/run/agreement.h"
#include "train/run/evaluate.h"
#include "train/run/metrics.h"
#include "train/run/setup.h"
#include "train/run/step.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// How an epoch, a global batch and a rank's part of it lie in the stream of samples.
struct Steps {
  std::int64_t samples;  // of one epoch
  std::int64_t batch;
  std::int64_t micro_batch;
  std::int64_t first_micro;  // of this rank
  std::int64_t last_micro;
  std::int64_t total;

  std::int64_t end_of_epoch(std::int64_t epoch) const {
    return std::min(total, (epoch * samples + batch - 1) / batch);
  }
  double epoch_at(std::int64_t step) const {
    return static_cast<double>(step * batch) / static_cast<double>(samples);
  }
};

Steps plan_steps(const TrainOptions& options, std::int64_t samples, std::int64_t micro_batch,
                 const comm::Communicator& comm) {
  const std::int64_t batch = options.batch.batch;
  if (batch < 1 || micro_batch < 1 || batch % micro_batch != 0) {
    throw UsageError("--batch-size " + std::to_string(batch) + " is no multiple of --micro-batch " +
                     std::to_string(micro_batch));
  }
  const std::int64_t parts = batch / micro_batch;
  if (parts < comm.size()) {
    throw UsageError("there are more ranks (" + std::to_string(comm.size()) +
                     ") than micro-batches in a batch (" + std::to_string(parts) +
                     "); raise --batch-size or lower --micro-batch");
  }
  const auto [first, last] = pipeline::share(parts, comm.rank(), comm.size());
  const double steps =
      options.recipe.epochs * static_cast<double>(samples) / static_cast<double>(batch);
  if (!(steps > 0)) throw UsageError("--epochs must be above 0");
  return {samples, batch, micro_batch, first, last, std::max<std::int64_t>(1, std::llround(steps))};
}

std::vector<pipeline::Request> requests_of(const pipeline::SampleSet& samples, std::uint64_t seed,
                                           std::uint64_t begin, std::uint64_t count) {
  std::vector<pipeline::Request> requests;
  for (const auto& [epoch, index] : pipeline::stream(samples.size(), seed, begin, count)) {
    requests.push_back({samples.ids[index], epoch, samples.weights[index]});
  }
  return requests;
}

double weight_of(const std::vector<pipeline::Request>& requests) {
  double sum = 0;
  for (const pipeline::Request& r : requests) sum += r.weight;
  return sum;
}

// Rank 0's numbers, everywhere.
void broadcast_model(comm::Communicator& comm, Model& model) {
  for (Model::Tensor& t : model.tensors) {
    comm.broadcast(std::as_writable_bytes(std::span(t.data)), 0);
    comm.broadcast(std::as_writable_bytes(std::span(t.momentum)), 0);
  }
}

// The step to begin with: 0 in a new run directory, or that of the checkpoint it was resumed from.
std::int64_t prepare_run(const RunOptions& run, const std::string& config, Model& model,
                         comm::Communicator& comm, const std::function<void(std::string)>& note) {
  const fs::path config_path = run.out / "config.json";
  const fs::path checkpoints = run.out / "checkpoints";
  std::vector<double> step(1, 0.0);
  on_root(comm, [&] {
    if (fs::exists(config_path)) {
      if (!run.resume) {
        throw UsageError(
            run.out.string() +
            " holds a run already; go on with it by --resume auto, or choose another --out");
      }
      if (read_text(config_path) != config) {
        throw UsageError(
            "the options differ from those the run in " + run.out.string() +
            " was started with (its config.json); give the same, or choose another --out");
      }
      std::vector<std::string> skipped;
      const auto newest = newest_checkpoint(checkpoints, &skipped);
      for (const std::string& reason : skipped) note("passed over: " + reason);
      if (!newest) return;
      const Checkpoint checkpoint = load_checkpoint(*newest);
      load_state_dict(model, checkpoint.model, (*newest / "model.safetensors").string());
      load_momenta(model, checkpoint.optimizer, (*newest / "optimizer.safetensors").string());
      step[0] = static_cast<double>(checkpoint.step);
      note("going on from " + newest->string());
      return;
    }
    if (fs::exists(run.out) && !fs::is_empty(run.out)) {
      throw UsageError(run.out.string() + " is not empty and holds no run; choose another --out");
    }
    fs::create_directories(checkpoints);
    write_file_durably(config_path, config);
  });
  comm.all_reduce(step);  // only rank 0 has one to give
  broadcast_model(comm, model);
  return static_cast<std::int64_t>(step[0]);
}

}  // namespace

std::int64_t default_micro_batch(std::int64_t batch) {
  constexpr std::int64_t kLargest = 64;
  for (std::int64_t m = std::min(batch, kLargest); m > 1; --m) {
    if (batch % m == 0) return m;
  }
  return 1;
}

TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note) {
  std::shared_ptr<const pipeline::Cache> cache;
  pipeline::DatasetInfo info;
  pipeline::SampleSet samples;
  NetSetup setup;
  Steps steps{};
  std::string config;
  on_all(comm, [&] {
    cache = pipeline::open_cache(options.data.cache);
    info = pipeline::describe(*cache);
    samples = pipeline::select_samples(*cache, Split::kTrain, options.data.selection);
    setup = fit_net(options, info);
    steps =
        plan_steps(options, static_cast<std::int64_t>(samples.size()), setup.options.batch, comm);
    config = config_text(options, setup, info,
                         pipeline::selection_digest(*cache, options.data.selection));
  });

  const std::unique_ptr<Backend> backend = make_backend(options.execution.backend);
  require_agreement(comm, {{"build", WINNOW_BUILD},
                           {"instruction set", backend->instruction_set()},
                           {"configuration", config}});
  const CompileOptions compile{options.execution.dtype, options.execution.threads.compute};
  const Graph forward = forward_graph(setup);
  const std::unique_ptr<Program> program = backend->compile(prune(differentiate(forward)), compile);
  const std::unique_ptr<Program> inference = backend->compile(for_inference(forward), compile);
  Model model = make_model(forward, options.recipe.seed);
  bind_model(*program, model);
  bind_model(*inference, model);
  const std::int64_t first_step = prepare_run(options.run, config, model, comm, note);

  StepExecutor executor(*program, model, comm,
                        {.optimizer = &find_optimizer(options.recipe.optimizer),
                         .optimizer_options = options.recipe.optimizer_options,
                         .schedule = &comm::find_schedule(options.execution.schedule),
                         .schedule_options = options.execution.schedule_options,
                         .bucket_bytes = options.execution.bucket_bytes,
                         .micro_batches = static_cast<int>(steps.last_micro - steps.first_micro),
                         .total_micro_batches = static_cast<int>(steps.batch / steps.micro_batch)});
  std::unique_ptr<MetricsLog> metrics;
  on_root(comm, [&] {
    write_file_durably(options.run.out / "plan.json", to_json(executor.plan()) + "\n");
    metrics = std::make_unique<MetricsLog>(options.run.out / "metrics.jsonl", first_step);
  });

  const pipeline::LoadOptions load{.geometry = geometry_of(setup),
                                   .recipe = options.data.augment,
                                   .seed = options.recipe.seed,
                                   .threads = options.execution.threads.decode};
  const std::int64_t last_step =
      options.run.max_steps > 0 ? std::min(options.run.max_steps, steps.total) : steps.total;
  pipeline::Loader loader(*cache, load, [&](std::uint64_t i) {
    const std::int64_t step = first_step + static_cast<std::int64_t>(i);
    if (step >= last_step) return std::vector<pipeline::Request>{};
    const std::int64_t begin = step * steps.batch + steps.first_micro * steps.micro_batch;
    const std::int64_t count = (steps.last_micro - steps.first_micro) * steps.micro_batch;
    return requests_of(samples, options.recipe.seed, static_cast<std::uint64_t>(begin),
                       static_cast<std::uint64_t>(count));
  });

  const auto evaluate_on = [&](Split split, std::int64_t step) {
    inference->load_parameters();
    const pipeline::SampleSet held = pipeline::select_samples(*cache, split, "");
    const std::vector<SampleId> leaked =
        pipeline::leaked_samples(*cache, split, options.data.selection);
    pipeline::LoadOptions plain = load;
    plain.recipe = pipeline::Recipe::kNone;
    const Evaluation e =
        evaluate(*inference, *cache, held, options.data.selection.empty() ? nullptr : &leaked,
                 plain, comm, {});
    if (metrics) {
      const std::string name(split_name(split));
      std::map<std::string, double> row{{name + ".loss", e.loss}, {name + ".top1", e.top1}};
      if (e.top1_leak_free) row[name + ".top1_leak_free"] = *e.top1_leak_free;
      metrics->write(step, steps.epoch_at(step), 0, row);
    }
    return e;
  };
  const auto has = [&](Split split) {
    return info.split_counts[static_cast<std::size_t>(split)] > 0;
  };

  TrainResult result;
  const auto begin = Clock::now();
  double evaluating = 0;
  double interval_loss = 0;
  double epoch_loss = 0;
  std::int64_t interval_steps = 0;
  std::int64_t epoch_steps = 0;
  auto interval_begin = begin;
  std::int64_t epoch = 1;
  while (steps.end_of_epoch(epoch) <= first_step &&
         epoch * steps.samples < steps.total * steps.batch) {
    ++epoch;
  }
  const LearningRate schedule{.base = options.recipe.lr,
                              .warmup_steps = std::llround(options.recipe.warmup_epochs *
                                                           static_cast<double>(steps.samples) /
                                                           static_cast<double>(steps.batch)),
                              .total_steps = steps.total,
                              .decay = options.recipe.decay};
  // All weights are 1 unless a selection says otherwise; only then is a batch's sum worth
  // computing.
  const bool weighted = std::any_of(samples.weights.begin(), samples.weights.end(),
                                    [](float w) { return w != 1.0F; });
  for (std::int64_t step = first_step; step < last_step; ++step) {
    pipeline::Batch batch = loader.next();
    const double total_weight =
        weighted ? weight_of(requests_of(samples, options.recipe.seed,
                                         static_cast<std::uint64_t>(step * steps.batch),
                                         static_cast<std::uint64_t>(steps.batch)))
                 : static_cast<double>(steps.batch);
    const double lr = rate_at(schedule, step);
    const StepResult done = executor.run(batch, total_weight, lr);
    result.exposed_comm_seconds += done.exposed_comm_seconds;
    const double loss = done.score.loss / done.score.weight;
    interval_loss += loss;
    epoch_loss += loss;
    ++interval_steps;
    ++epoch_steps;
    const std::int64_t steps_done = step + 1;
    if (progress) {
      progress({.done = static_cast<std::uint64_t>(steps_done * steps.batch),
                .total = static_cast<std::uint64_t>(last_step * steps.batch),
                .note = "epoch " + std::to_string(epoch) + ", loss " +
                        std::to_string(interval_loss / static_cast<double>(interval_steps))});
    }
    if (steps_done % options.run.log_interval == 0 || steps_done == last_step) {
      if (metrics) {
        metrics->write(steps_done, steps.epoch_at(steps_done), seconds_since(begin),
                       {{"train.loss", interval_loss / static_cast<double>(interval_steps)},
                        {"train.lr", lr},
                        {"train.total_ips", static_cast<double>(interval_steps * steps.batch) /
                                                seconds_since(interval_begin)},
                        {"data.wait_time", loader.waited_seconds()},
                        {"comm.exposed_time", result.exposed_comm_seconds}});
      }
      interval_loss = 0;
      interval_steps = 0;
      interval_begin = Clock::now();
    }
    if (steps_done != steps.end_of_epoch(epoch) && steps_done != last_step) continue;
    const auto pause = Clock::now();
    result.train_loss = epoch_loss / static_cast<double>(epoch_steps);
    epoch_loss = 0;
    epoch_steps = 0;
    on_root(comm, [&] {
      save_checkpoint(
          options.run.out / "checkpoints",
          {steps_done, to_state_dict(model, steps_done), to_momenta(model),
           state_text(steps_done, steps.epoch_at(steps_done), options.recipe.seed, comm.size())},
          options.run.checkpoints_kept);
    });
    if (has(Split::kVal)) {
      const Evaluation e = evaluate_on(Split::kVal, steps_done);
      result.split = "val";
      result.top1 = e.top1;
      result.top1_leak_free = e.top1_leak_free;
    }
    evaluating += seconds_since(pause);
    interval_begin = Clock::now();
    ++epoch;
  }
  const double training = seconds_since(begin) - evaluating;
  result.steps = last_step;
  result.epoch = steps.epoch_at(last_step);
  result.images_per_second =
      static_cast<double>((last_step - first_step) * steps.batch) / std::max(training, 1e-9);
  result.data_wait_seconds = loader.waited_seconds();
  if (has(Split::kTest)) {
    const Evaluation e = evaluate_on(Split::kTest, last_step);
    result.split = "test";
    result.top1 = e.top1;
    result.top1_leak_free = e.top1_leak_free;
  }
  return result;
}

}  // namespace winnow::train
