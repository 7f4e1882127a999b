#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/memory_left.h"
#include "tools/command.h"
#include "tools/experiment/sweep_cost.h"
#include "tools/numbers.h"
#include "tools/train_jobs.h"
#include "tools/train_trial.h"
#include "tools/tune_lr_look.h"
#include "tools/tune_lr_page.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

struct TuneLrFlags {
  TuneLrOptions tune{.optimizers = {"sgd"}, .arms = {.batches = {128}}};
  // What is tried of each of kTuneFlags, as people say it.
  std::array<std::vector<std::string>, kTuneFlags.size()> axes;
  int lanes = 1;
  int threads = 0;
  fs::path out;
  double margin_points = 0.5;
  bool test = false;
  bool estimate = false;
  bool json = false;
};

TuneLrOptions with_axes(const TuneLrFlags& flags) {
  TuneLrOptions o = flags.tune;
  for (std::size_t i = 0; i < kTuneFlags.size(); ++i) {
    for (const std::string& words : flags.axes[i]) {
      o.arms.axes.push_back(parse_axis(kTuneFlags[i].flag, words));
    }
  }
  return o;
}

std::string announcement(const TunePlan& plan, const TuneState& state) {
  const TuneLrOptions& o = plan.options;
  const std::size_t trials = plan.rungs.front().trials;
  return fmt::format(
      "{} {} of each optimiser at each batch size, then {} {} of its best setting: {} runs; judged "
      "on {} images held out, {} are trained on",
      grouped(trials), trials == 1 ? "trial" : "trials", o.seeds, o.seeds == 1 ? "run" : "runs",
      grouped(work_of(plan, state).runs), grouped(plan.held_out), grouped(plan.training));
}

using OutcomeOf = std::function<std::optional<Outcome>(const std::string& job)>;

// What is left, by runs at the largest batch that are done, or else by a few steps of that with its
// lowest rate. `place`: a folder that is there.
Foretold foretell_it(const TuneLrFlags& flags, const TunePlan& plan, const TuneState& state,
                     const OutcomeOf& outcome_of, const fs::path& place, const Session& session) {
  const TuneWork work = work_of(plan, state);
  Foretold told{.runs = work.runs, .done = work.done};
  const std::size_t left = work.runs - work.done;
  if (left == 0) return told;
  const auto arm = static_cast<std::size_t>(
      std::ranges::max_element(plan.arms, {}, &TuneArm::batch) - plan.arms.begin());
  std::optional<RunSpeed> speed = speed_of(plan, state, arm, outcome_of);
  if (!speed) {
    const std::vector<TuneSetting>& settings = plan.arms[arm].settings;
    const auto lowest = std::ranges::min_element(settings) - settings.begin();
    std::vector<std::string> words =
        tuned_words(trial_job(plan, arm, static_cast<std::size_t>(lowest), plan.rungs.size() - 1));
    words.insert(words.begin(), plan.options.cache.string());
    const int cores = thread_plan(session, flags.threads).cores;
    const TrialResult tried = try_training("tune-lr", words, plan.training,
                                           std::max(1, cores / flags.lanes), place, session);
    speed = {.seconds_per_image = tried.seconds_per_image,
             .peak_bytes = tried.peak_bytes,
             .disk_bytes = tried.disk_bytes};
  }
  told.images = work.epochs * static_cast<double>(plan.training);
  told.seconds = work.epochs * work_of_epoch(plan) * speed->seconds_per_image /
                 static_cast<double>(std::min(static_cast<std::size_t>(flags.lanes), left));
  told.lane_bytes = speed->peak_bytes;
  told.disk_bytes = left * speed->disk_bytes;
  return told;
}

void print_estimate(const Foretold& told, const Room& room) {
  fmt::print("{}\n",
             nlohmann::ordered_json{{"schema", "winnow.tune_lr_estimate/1"},
                                    {"runs", told.runs},
                                    {"done", told.done},
                                    {"images", std::llround(told.images)},
                                    {"seconds", told.seconds},
                                    {"lane_bytes", told.lane_bytes},
                                    {"memory_bytes", room.memory == kNoMemoryLimit
                                                         ? nlohmann::ordered_json(nullptr)
                                                         : nlohmann::ordered_json(room.memory)},
                                    {"disk_bytes", told.disk_bytes},
                                    {"free_bytes", room.disk}}
                 .dump());
}

// Says what is to be done and what that takes, and refuses what does not fit.
void tell_plan(const TuneLrFlags& flags, const TunePlan& plan, const TuneState& state,
               const OutcomeOf& outcome_of, const Session& session) {
  say(session, announcement(plan, state));
  const fs::path place = fs::exists(flags.out) ? flags.out : fs::absolute(flags.out).parent_path();
  const Foretold told = foretell_it(flags, plan, state, outcome_of, place, session);
  const Room room = room_for_runs(flags.out);
  tell_cost(told, flags.lanes, room, session);
  if (flags.estimate && flags.json) print_estimate(told, room);
}

void tell(const TuneLrFlags& flags, const TuneView& view, const Session& session) {
  for (std::size_t i = 0; i < view.rows.size(); ++i) say(session, in_words(view, i));
  for (const std::string& sentence : advice_of(view)) {
    // Notes were said at the start.
    if (std::ranges::find(view.plan.notes, sentence) == view.plan.notes.end())
      say(session, sentence);
  }
  say(session, fmt::format("page: {}, table: {}", (flags.out / "page.html").string(),
                           (flags.out / "table.csv").string()));
  if (flags.json) fmt::print("{}\n", json_of(view));
}

void write_tables(const TuneLrFlags& flags, const TuneView& view) {
  write_file_durably(flags.out / "table.csv", table_csv(view));
  write_file_durably(flags.out / "trials.csv", trials_csv(view));
  write_file_durably(flags.out / "page.html", html_of(view, made_here()));
}

void run(const TuneLrFlags& flags, Session& session) {
  const TunePlan plan = plan_tuning(with_axes(flags));
  if (flags.test && plan.test == 0) {
    throw UsageError(plan.options.cache.string() + " has no test split; leave out --test");
  }
  for (const std::string& note : plan.notes) say(session, note);
  if (flags.estimate && !fs::exists(flags.out)) {
    const OutcomeOf none = [](const std::string&) { return std::optional<Outcome>(); };
    return tell_plan(flags, plan, state_of(plan, none), none, session);
  }
  JobQueue queue(flags.out, "cache " + plan.cache_digest);
  const OutcomeOf outcome_of = [&](const std::string& job) { return queue.outcome(job); };
  TuneState state = state_of(plan, outcome_of);
  tell_plan(flags, plan, state, outcome_of, session);
  if (flags.estimate) return;
  const TrainJobs how{.verb = "tune-lr",
                      .cache = plan.options.cache,
                      .lanes = flags.lanes,
                      .threads = flags.threads,
                      .words = tuned_words};
  for (; !state.ended; state = state_of(plan, outcome_of)) {
    train_jobs(how, state.jobs, queue, session);
  }
  const TuneJudge judge{.margin = flags.margin_points / 100, .held_out_images = plan.held_out};
  const std::vector<TuneRow> rows = rows_of(plan.arms, state.runs, judge);
  TuneView view{.plan = plan, .state = state, .rows = rows, .judge = judge};
  if (flags.test) {
    view.test = look_at_test(plan, state, flags.lanes, flags.threads, flags.out, queue, session);
  }
  write_tables(flags, view);
  tell(flags, view, session);
}

std::string footer() {
  constexpr const char* kTried =
      R"(What is tried: a list, --lr 0.1,0.2,0.4; between two ends, --lr 0.01:1, of which --trials draws;
of one optimiser alone, --lr lars=2,8,32. Each optimiser has as many trials at each batch size, and as
many epochs. Not given, without --trials: seven rates, a warm-up of a tenth of the epochs, and each
optimiser's own decay; with --trials: rates and decays between the ends below, and a warm-up of up to
a fifth of the epochs.

Ends where none are given; rates are for a batch of 512 and follow its root, but for those of lars and
lars_paper:)";
  return kTried + tune_ranges_help() +
         R"(

Words after -- go to winnow train, the same for all runs; an option that only some optimisers have
counts for these alone. Unless they name a --recipe, all runs have the plain defaults (--recipe none),
as the net's own would go with one optimiser alone. With
--halving all trials are short, the best third is trained anew three times as long, and so on up to
--epochs. Runs that are done are not done again: stop it at any time, and go on by the same command.
The same command on another machine that sees the folder of --out helps.

Examples:
  winnow tune-lr cache --out tuning -- --net resnet20
  winnow tune-lr cache --out tuning --lr 0.1,0.2,0.4 --weight-decay 1e-4,5e-4 --batch-sizes 512
  winnow tune-lr cache --out tuning --optimizers sgd,lars,lamb --batch-sizes 512,2048,8192 \
    --trials 27 --halving --epochs 27 --lanes 2 -- --net resnet20)";
}

void add_space_flags(Verb verb, TuneLrFlags& o) {
  verb.add_option("--optimizers", o.tune.optimizers, "Optimisers to tune, as of winnow train")
      .delimiter(',')
      .one_each()
      .show_default();
  verb.add_option("--batch-sizes", o.tune.arms.batches, "Batch sizes to tune each at")
      .delimiter(',')
      .one_each()
      .check(whole_in(1, 1 << 30))
      .show_default();
  for (std::size_t i = 0; i < kTuneFlags.size(); ++i) {
    verb.add_option("--" + std::string(kTuneFlags[i].flag), o.axes[i],
                    std::string(kTuneFlags[i].help))
        .one_each()
        .type_name("[OPTIMIZER=]LIST|A:B");
  }
  verb.add_option("--trials", o.tune.arms.trials,
                  "Settings to draw; 0: every combination of the lists")
      .check(whole_in(0, 10'000))
      .show_default();
  verb.add_flag(
      "--halving", o.tune.halving,
      "Train all trials for a short time, and the best third of them three times as long, "
      "again and again");
}

void add_run_flags(Verb verb, TuneLrFlags& o) {
  verb.add_option("--epochs", o.tune.arms.epochs, "Epochs of the longest trials and the final runs")
      .check(real_above(0, kMostEpochs))
      .show_default();
  verb.add_option(
          "--seeds", o.tune.seeds,
          "Final runs of each best setting, with seeds that no trial had; of one nothing can "
          "be said")
      .check(whole_in(1, 100))
      .show_default();
  verb.add_option("--seed", o.tune.arms.seed, "Seed of the trials, and of what is drawn")
      .check(seeds())
      .show_default();
  verb.add_option("--selection", o.tune.selection, "Selection made by winnow dedup to obey");
  verb.add_option("--holdout", o.tune.holdout,
                  "Share of the training samples that runs are judged on, cut by duplicate group; "
                  "test is left alone, but for --test")
      .in_shares()
      .check(real_in(0.001, 0.9))
      .show_default();
  verb.add_option("--margin", o.margin_points, "Points of accuracy that matter little")
      .check(real_in(1e-6, 100.0))
      .show_default()
      .type_name("POINTS");
  add_lane_flags(verb, o.lanes, o.threads);
  verb.add_flag("--test", o.test,
                "Evaluate the final runs on test, too: do so once, when nothing is left to choose");
  verb.add_flag("--estimate", o.estimate,
                "Say how many runs that would be, how long they would take and how much memory, by "
                "a few steps of one; train nothing");
  verb.add_flag("--json", o.json, "Print one JSON object on stdout");
}

}  // namespace

Command add_tune_lr(Verb program) {
  auto o = std::make_shared<TuneLrFlags>();
  const Verb verb = program.add_verb(
      "tune-lr", "Tune learning rates: as many trials for each optimiser at each batch size");
  verb.add_option("cache", o->tune.cache, "Cache made by winnow ingest").required();
  verb.add_option("train", o->tune.train, "After --: words for winnow train");
  verb.add_option("--out", o->out, "Folder of the tuning: runs, results, table.csv, page.html")
      .required();
  add_space_flags(verb, *o);
  add_run_flags(verb, *o);
  verb.footer(footer());
  return {verb, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
