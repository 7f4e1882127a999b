#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "tools/command.h"
#include "tools/train_jobs.h"
#include "tools/tune_lr_page.h"
#include "train/run/metrics.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

struct TuneLrFlags {
  TuneLrOptions tune{.optimizers = {"sgd"}, .arms = {.batches = {128}}};
  // What is tried of each, as people say it.
  std::vector<std::string> lr;
  std::vector<std::string> weight_decay;
  std::vector<std::string> warmup_epochs;
  std::vector<std::string> lars_eta;
  int lanes = 1;
  int threads = 0;
  fs::path out;
  double margin_points = 0.5;
  bool json = false;
};

TuneLrOptions with_axes(const TuneLrFlags& flags) {
  TuneLrOptions o = flags.tune;
  const auto add = [&](std::string_view flag, const std::vector<std::string>& all, bool above_0) {
    for (const std::string& words : all) {
      o.arms.axes.push_back(parse_axis(flag, words, above_0));
    }
  };
  add("lr", flags.lr, true);
  add("weight-decay", flags.weight_decay, true);
  add("warmup-epochs", flags.warmup_epochs, false);
  add("lars-eta", flags.lars_eta, true);
  return o;
}

// What is kept of a run: metrics.jsonl has what --json does not print.
std::string outcome_of_run(const Claim& claim, const JsonReader& printed) {
  nlohmann::ordered_json json{
      {"top1", printed.at("top1").real(0, 1)}, {"loss", nullptr}, {"steps", 0}, {"seconds", 0}};
  for (const train::MetricsRow& row :
       train::read_metrics(claim.folder() / "run" / "metrics.jsonl")) {
    json["steps"] = row.step;
    json["seconds"] = row.wall;
    const auto loss = row.values.find("val.loss");
    if (loss != row.values.end()) json["loss"] = loss->second;
  }
  return json.dump();
}

std::string announcement(const TunePlan& plan) {
  double epochs = 0;
  for (const Rung& rung : plan.rungs) epochs += static_cast<double>(rung.trials) * rung.epochs;
  const TuneLrOptions& o = plan.options;
  const auto arms = static_cast<double>(plan.arms.size());
  return fmt::format(
      "{} of each of {} {}, then {} {} of the best: up to {:.4g} epochs in all; judged on {} "
      "images "
      "held out, {} are trained on",
      plan.rungs.front().trials == 1 ? "1 trial" : grouped(plan.rungs.front().trials) + " trials",
      grouped(plan.arms.size()),
      plan.arms.size() == 1 ? "optimiser and batch size" : "optimisers and batch sizes", o.seeds,
      o.seeds == 1 ? "run" : "runs", arms * (epochs + o.seeds * o.arms.epochs),
      grouped(plan.held_out), grouped(plan.training));
}

void tell(const TuneLrFlags& flags, const TuneView& view, const Session& session) {
  for (std::size_t i = 0; i < view.rows.size(); ++i) say(session, in_words(view, i));
  for (const std::string& sentence : advice_of(view)) say(session, sentence);
  say(session, fmt::format("page: {}, table: {}", (flags.out / "page.html").string(),
                           (flags.out / "table.csv").string()));
  if (flags.json) fmt::print("{}\n", json_of(view));
}

void run(const TuneLrFlags& flags, Session& session) {
  const TunePlan plan = plan_tuning(with_axes(flags));
  JobQueue queue(flags.out, "cache " + plan.cache_digest);
  say(session, announcement(plan));
  const TrainJobs how{.verb = "tune-lr",
                      .cache = plan.options.cache,
                      .lanes = flags.lanes,
                      .threads = flags.threads,
                      .words = tuned_words,
                      .outcome = outcome_of_run};
  const auto outcome_of = [&](const std::string& job) { return queue.outcome(job); };
  TuneState state = state_of(plan, outcome_of);
  for (; !state.ended; state = state_of(plan, outcome_of)) {
    train_jobs(how, state.jobs, queue, session);
  }
  const TuneJudge judge{.margin = flags.margin_points / 100, .held_out_images = plan.held_out};
  const std::vector<TuneRow> rows = rows_of(plan.arms, state.runs, judge);
  const TuneView view{.plan = plan, .state = state, .rows = rows, .judge = judge};
  write_file_durably(flags.out / "table.csv", table_csv(view));
  write_file_durably(flags.out / "trials.csv", trials_csv(view));
  write_file_durably(flags.out / "page.html", html_of(view, made_here()));
  tell(flags, view, session);
}

std::string footer() {
  return "What is tried: a list, --lr 0.1,0.2,0.4; between two ends, --lr 0.01:1, of which "
         "--trials\n"
         "draws; of one optimiser alone, --lr lars=2,8,32. Each optimiser has as many trials at "
         "each\n"
         "batch size, and as many epochs. Not given, without --trials: seven rates, a warm-up of "
         "a\n"
         "tenth of the epochs, and each optimiser's own decay; with --trials: rates and decays\n"
         "between the ends below, and a warm-up of up to a fifth of the epochs.\n\n"
         "Ends where none are given; rates are for a batch of 512 and follow its root, but for\n"
         "those of lars and lars_paper:" +
         tune_ranges_help() +
         R"(

Words after -- go to winnow train, the same for all runs. Unless they name a --recipe, all runs have
the plain defaults (--recipe none), as the net's own would go with one optimiser alone. With
--halving all trials are short, the best third is trained anew three times as long, and so on up to
--epochs. Runs that are done are not done again: stop it at any time, and go on by the same command.
The same command on another machine that sees the folder of --out helps.

Examples:
  winnow tune-lr cache --out tuning -- --net resnet20
  winnow tune-lr cache --out tuning --lr 0.1,0.2,0.4 --weight-decay 1e-4,5e-4 --batch-sizes 512
  winnow tune-lr cache --out tuning --optimizers sgd,lars,lamb --batch-sizes 512,2048,8192 \
    --trials 27 --halving --epochs 27 --lanes 2 -- --net resnet20)";
}

void add_space_flags(CLI::App& app, TuneLrFlags& o) {
  app.add_option("--optimizers", o.tune.optimizers, "Optimisers to tune, as of winnow train")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--batch-sizes", o.tune.arms.batches, "Batch sizes to tune each at")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  const auto add = [&](const char* flag, std::vector<std::string>& into, const char* what) {
    app.add_option(flag, into, what)->allow_extra_args(false)->type_name("[OPTIMIZER=]LIST|A:B");
  };
  add("--lr", o.lr, "Learning rates");
  add("--weight-decay", o.weight_decay, "Weight decays");
  add("--warmup-epochs", o.warmup_epochs, "Epochs of warm-up; of shorter runs as large a share");
  add("--lars-eta", o.lars_eta, "Trust coefficients (lars, lars_paper, larc)");
  app.add_option("--trials", o.tune.arms.trials,
                 "Settings to draw; 0: every combination of the lists")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  app.add_flag("--halving", o.tune.halving,
               "Train all trials for a short time, and the best third of them three times as long, "
               "again and again");
}

void add_run_flags(CLI::App& app, TuneLrFlags& o) {
  app.add_option("--epochs", o.tune.arms.epochs, "Epochs of the longest trials and the final runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
         "--seeds", o.tune.seeds,
         "Final runs of each best setting, with seeds that no trial had; of one nothing can "
         "be said")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--seed", o.tune.arms.seed, "Seed of the trials, and of what is drawn")
      ->capture_default_str();
  app.add_option("--selection", o.tune.selection, "Selection made by winnow dedup to obey");
  app.add_option("--holdout", o.tune.holdout,
                 "Share of the training samples that runs are judged on, cut by duplicate group; "
                 "test is left alone")
      ->check(CLI::Range(0.001, 0.9))
      ->capture_default_str();
  app.add_option("--margin", o.margin_points, "Points of accuracy that matter little")
      ->check(CLI::Range(1e-6, 100.0))
      ->capture_default_str()
      ->type_name("POINTS");
  app.add_option("--lanes", o.lanes, "Runs at the same time, with a share of the cores each")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "Cores of all lanes together; 0: this process's share")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--json", o.json, "Print one JSON object on stdout");
}

}  // namespace

Command add_tune_lr(CLI::App& program) {
  auto o = std::make_shared<TuneLrFlags>();
  CLI::App* app = program.add_subcommand(
      "tune-lr", "Tune learning rates: as many trials for each optimiser at each batch size");
  app->add_option("cache", o->tune.cache, "Cache made by winnow ingest")->required();
  app->add_option("train", o->tune.train, "After --: words for winnow train");
  app->add_option("--out", o->out, "Folder of the tuning: runs, results, table.csv, page.html")
      ->required();
  add_space_flags(*app, *o);
  add_run_flags(*app, *o);
  app->footer(footer());
  return {app, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
