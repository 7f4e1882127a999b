#include "app/train/train.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/load/load_shards.h"
#include "app/sources/class_words.h"
#include "app/train/train_folds.h"
#include "app/train/train_machines.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/json.h"
#include "pipeline/store/cache.h"
#include "train/run/train.h"
#include "train/trace/run_trace.h"

namespace winnow::app {
namespace {

Json json_of_training(const train::TrainResult& result, const std::string& tta) {
  Json json{{"schema", "winnow.train/1"},
            {"epoch", result.epoch},
            {"train_loss", result.train_loss},
            {"top1", nullptr},
            {"top1_leak_free", nullptr},
            {"split", nullptr},
            {"images_per_second", result.speed.images_per_second},
            {"data_wait_s", result.speed.data_wait_seconds},
            {"exposed_comm_s", result.speed.exposed.total()},
            {"exposed_comm",
             {{"late_s", result.speed.exposed.late},
              {"wire_s", result.speed.exposed.wire},
              {"addition_s", result.speed.exposed.addition}}}};
  if (const auto& best = result.best) {
    json["best"] = {{"metric", best->metric}, {"value", best->value}, {"step", best->step}};
  }
  if (const auto& score = result.score) {
    json["top1"] = score->top1;
    json["split"] = score->split;
    if (score->top1_leak_free) json["top1_leak_free"] = *score->top1_leak_free;
    if (score->top1_ema) json["top1_ema"] = *score->top1_ema;
  }
  if (!tta.empty()) json["tta"] = tta;
  return json;
}

// The result of a run, for people.
void tell_result(const train::RunOptions& run, const train::TrainResult& result,
                 const Session& session) {
  say(session, fmt::format("{}, {:.0f} images/s; loss {:.4f}",
                           count_of(static_cast<std::uint64_t>(result.steps), "step"),
                           result.speed.images_per_second, result.train_loss));
  if (const auto& score = result.score) {
    const std::string& tta = run.evaluation.tta;
    say(session,
        fmt::format("{} accuracy {}{}{}{}", score->split, percent(score->top1),
                    score->top1_leak_free
                        ? ", " + percent(*score->top1_leak_free) + " without leaked images"
                        : std::string(),
                    score->top1_ema ? ", of the moving average " + percent(*score->top1_ema)
                                    : std::string(),
                    tta.empty() ? "" : ", with --tta " + tta));
  }
  if (const auto& best = result.best) {
    say(session,
        fmt::format("best: {} {:.4f} after {}, checkpoints/best", best->metric, best->value,
                    count_of(static_cast<std::uint64_t>(best->step), "step")));
  }
  say(session, fmt::format("run: {}", run.out.string()));
}

// Null if no trace is asked for.
std::unique_ptr<train::RunTrace> make_trace(const std::string& wanted, Session& session) {
  if (wanted.empty()) return nullptr;
  train::TraceSteps steps;
  comm::on_all(session.comm, [&] { steps = train::parse_trace_steps(wanted); });
  return std::make_unique<train::RunTrace>(session.comm, steps);
}

// Machines of a job may have different numbers of ranks. Collective.
void say_threads(const ThreadPlan& threads, const Session& session) {
  const std::string own = to_string(threads);
  const std::vector<std::string> all = comm::all_gather(session.comm, own);
  const bool alike = std::ranges::all_of(all, [&](const std::string& one) { return one == own; });
  say(session, fmt::format("{} {}, {} with {}", all.size(), all.size() == 1 ? "rank" : "ranks",
                           alike ? "each" : "rank 0", own));
}

// Prints remarks on classes that look like mistakes, before training. The cache may be on another
// machine; then its placed files are read. Prints nothing if it cannot be read.
void say_classes(const train::DataOptions& data, const Session& session) {
  const std::filesystem::path& elsewhere = data.placement.files_at;
  std::vector<std::string> remarks;
  try {
    const auto cache = pipeline::Cache::open(elsewhere.empty() ? data.cache : elsewhere,
                                             pipeline::OpenOptions::without_shards());
    remarks = data.selection.empty()
                  ? remarks_on_classes(cache.manifest())
                  : remarks_on_classes(cache, cache.read_selection(data.selection));
  } catch (const std::exception&) {  // whoever needs the cache reports what is wrong
    return;
  }
  say_each(session, remarks);
}

// Serves the figures of `run` besides its folder, from its next row on. Null if not asked for, and
// on ranks other than 0. It outlives the training. Collective.
std::unique_ptr<MetricsOutlet> open_outlet(const MetricsOutletOptions& wanted,
                                           train::RunOptions& run, const Session& session) {
  std::unique_ptr<MetricsOutlet> outlet;
  if (wanted.file.empty() && !wanted.port) return outlet;
  comm::on_root(session.comm, [&] {
    outlet = std::make_unique<MetricsOutlet>(
        wanted, [&session](const std::string& sentence) { say(session, sentence); });
    run.log.sink = [to = outlet.get()](const train::LoggedLine& line) { to->take(line); };
    if (wanted.port) say(session, "metrics: " + outlet->address());
  });
  return outlet;
}

pipeline::PlacedShards place(const MemoryOptions& wanted, const train::DataOptions& data,
                             Session& session) {
  MemoryOptions memory = wanted;
  const pipeline::ShuffleOptions& shuffle = data.sampling.shuffle;
  if (shuffle.fraction < 1) memory.partitions = shuffle.partitions;
  return place_shards(data.cache, memory, session);
}

// The training, once it is known who watches.
void train_watched(const TrainRequest& request, train::RunTrace* trace, const TrainWatched& watched,
                   const TrainOnlookers& onlookers) {
  Session& session = watched.session;
  const TrainChoice& choice = request.choice;
  train::TrainOptions options = train_options(choice, session);
  options.run.resume = request.resume;
  const auto outlet = open_outlet(request.metrics, options.run, session);
  say_threads(options.execution.threads, session);
  const Json machines = tell_machines(choice.threads, session);
  if (!choice.recipe.sentence.empty()) say(session, choice.recipe.sentence);
  // before shards are placed, because selections may be placed with them
  std::vector<std::string> folds;
  if (request.folds > 0) {
    folds = make_fold_selections(options.data, options.recipe.loss, options.run, request.folds,
                                 session);
  }
  const pipeline::PlacedShards placed = place(choice.memory, options.data, session);
  options.data.placement = placed.placement;
  if (session.comm.rank() == 0) say_classes(options.data, session);
  options.run.log.trace = trace;
  const auto train_one = [&](const train::TrainOptions& one) {
    train::TrainResult result;
    {
      const TrainView view = onlookers.view ? onlookers.view(one.run.out, one.batch.batch, session)
                                            : plain_view(session);
      result = train::train(one, session.comm, view.progress, view.say, watched.board);
    }
    tell_result(one.run, result, session);
    return result;
  };
  if (request.folds > 0) return train_folds(options, folds, train_one, request.json, session);
  const train::TrainResult result = train_one(options);
  if (!request.json) return;
  Json json = json_of_training(result, options.run.evaluation.tta);
  json["machines"] = machines;
  print(session, json.dump() + "\n");
}

}  // namespace

TrainView plain_view(const Session& session) {
  return {.progress = progress_bar(session, "train", "images"),
          .say = [&session](const std::string& sentence) { say(session, sentence); }};
}

void run_train(const TrainRequest& request, Session& session, const TrainOnlookers& onlookers) {
  const std::unique_ptr<train::RunTrace> trace = make_trace(request.trace_steps, session);
  Session traced{trace ? trace->communicator() : session.comm, session.threads, session.stop,
                 session.to};
  train_watched(request, trace.get(),
                onlookers.watch ? onlookers.watch(traced) : TrainWatched{.session = traced},
                onlookers);
}

}  // namespace winnow::app
