#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/plan/plan.h"
#include "app/plan/plan_toml.h"
#include "app/plan/tables.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/text_cache.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/numbers.h"
#include "tools/train_flags.h"
#include "tools/training_recipe_flags.h"

namespace winnow::tools {
namespace {

constexpr int kMostHosts = 4096;

// Description of a data set that does not exist yet.
struct ShapeFlags {
  std::int64_t images = 0;
  std::optional<std::uint64_t> evaluation_images;
  int classes = 0;
  int channels = 3;
};

struct PlanFlags {
  TrainChoice train;
  ShapeFlags shape;
  PlanRequest request;
  bool memory_alone = false;
  std::filesystem::path write;
  bool json = false;
};

void add_data_set_flags(Verb verb, PlanFlags& o) {
  verb.add_option("cache", o.train.train.data.cache,
                  "Cache made by winnow ingest; or give --images and --classes");
  verb.add_option("--images", o.shape.images, "Without a cache: images to train on")
      .check(whole_in(0, std::int64_t{1} << 40))
      .type_name("N");
  verb.add_option("--evaluation-images", o.shape.evaluation_images,
                  "Without a cache: images evaluated after each epoch (default: 4 % of --images)")
      .check(whole_in(0, std::int64_t{1} << 32));
  verb.add_option("--classes", o.shape.classes, "Without a cache: classes")
      .check(whole_in(0, train::kMostClasses));
  verb.add_option("--channels", o.shape.channels, "Without a cache: 1, gray, or 3")
      .check(whole_in(1, 3))
      .show_default();
}

void add_question_flags(Verb verb, PlanFlags& o) {
  PlanRequest& r = o.request;
  const Verb group = verb.add_group("Plan");
  group
      .add_option(
          "--hosts", r.scaling.hosts,
          "N,...: also plan for these numbers of machines like this one, with one rank each")
      .delimiter(',')
      .check(whole_in(1, kMostHosts));
  group.add_option("--network", r.scaling.network,
                   "Of these machines: rate and latency, as 10gbit,20us, or a file of winnow bench "
                   "allreduce --write; not given, under mpirun on several machines: measured");
  group
      .add_option("--efficiency", r.scaling.efficiency,
                  "Smallest acceptable efficiency of several machines")
      .check(real_in(0.01, 1))
      .show_default();
  group.add_option("--price", r.scaling.hour_price, "Price of a machine per hour, in any currency")
      .check(real_in(0, 1e9));
  group
      .add_option("--runs", r.runs,
                  "Runs that reached --target with other batches, each with its rate tuned: how "
                  "steps and time to the target depend on the batch")
      .type_name("RUN");
  group.add_option("--target", r.target, "METRIC[:SPLIT]=NUMBER that --runs reached: top1=0.9");
  group.add_option("--seconds", r.seconds, "Rough limit for measuring steps")
      .check(real_in(0, kMostSeconds))
      .show_default();
  group.add_flag("--measure-again", r.measures_again,
                 "Measure also what an earlier plan measured on this machine");
  group.add_flag("--kernels", r.kernels,
                 "Also measure the library's kernels for each layer of the best row, and choose "
                 "the fastest that fit into memory; --write keeps them for winnow train");
  group.add_flag("--memory-only", o.memory_alone, "Plan memory alone, and measure nothing");
  group.add_option("--write", o.write,
                   "Write the best row as a file for winnow train --config FILE");
  group.add_flag("--json", o.json, "Print one JSON object on stdout");
}

// The given flags of `verb` that are flags of `winnow train`.
PlannedFlags given_of(Verb verb, const std::set<std::string>& own) {
  PlannedFlags given;
  for (const Flag flag : verb.all_flags()) {
    const std::string name = flag.long_name();
    const bool planned = name == "micro-batch" || name == "lane-threads";
    if (name.empty() || planned || own.contains(name) || !flag.given()) continue;
    for (const std::string& value : flag.texts()) given.emplace_back(name, value);
  }
  return given;
}

std::optional<train::DataShape> shape_of(const PlanFlags& o) {
  const bool has_cache = !o.train.train.data.cache.empty();
  if (has_cache && (o.shape.images > 0 || o.shape.classes > 0)) {
    throw UsageError("--images and --classes are for plans without a cache; leave them out");
  }
  if (has_cache) return std::nullopt;
  if (o.shape.images < 1 || o.shape.classes < 1) {
    throw UsageError(
        "give a cache, or what it would have: --images 1281167 --classes 1000 --image-size 224");
  }
  if (o.shape.channels == 2) throw UsageError("--channels is 1 or 3, it is 2");
  const std::int64_t share = o.shape.images / 25;
  return train::DataShape{
      .images = o.shape.images,
      .evaluation_images =
          o.shape.evaluation_images ? static_cast<std::int64_t>(*o.shape.evaluation_images) : share,
      .classes = o.shape.classes,
      .channels = o.shape.channels};
}

void print_report(const PlanFlags& o, const PlanReport& report, Session& session) {
  if (o.json) {
    print(session, json_of(report).dump() + "\n");
  } else {
    print(session, tables_of(report));
  }
  if (session.to.flush) session.to.flush();
  for (const std::string& note : report.notes) say(session, note);
  comm::on_all(session.comm, [&] {
    if (!report.best) throw UsageError(report.refusal);
  });
}

void run(PlanFlags& o, Session& session, const PlannedFlags& given) {
  comm::on_all(session.comm, [&] { o.request.shape = shape_of(o); });
  o.request.train = train_options(o.train, session);
  o.request.measures = !o.memory_alone;
  o.request.rates = user_cache_folder("rates");
  o.request.given = given;
  if (!o.train.recipe.sentence.empty()) say(session, o.train.recipe.sentence);
  const PlanReport report = run_plan(o.request, session);
  print_report(o, report, session);
  if (o.write.empty()) return;
  comm::on_root(session.comm, [&] {
    write_file_durably(o.write, plan_toml(report.flags,
                                          "winnow train CACHE --out RUN "
                                          "--config FILE; by winnow plan"));
  });
  say(session, fmt::format("plan: {}", o.write.string()));
}

constexpr const char* kExamples = R"(Examples:
  winnow plan cache --net resnet50 --image-size 224 --epochs 90
  winnow plan --images 1281167 --classes 1000 --net resnet50 --image-size 224 --epochs 90
  winnow plan cache --net resnet50 --memory-limit 8G --micro-batch auto --write plan.toml
  winnow plan cache --net resnet18 --dtype bf16 --kernels --write plan.toml
  winnow plan cache --net resnet50 --hosts 1,2,4,8,16,64 --network 10gbit,20us --price 1.20
  winnow plan cache --runs run128 run512 run2048 --target top1=0.9)";

}  // namespace

Command add_plan(Verb program) {
  auto o = std::make_shared<PlanFlags>();
  const Verb verb = program.add_verb(
      "plan", "Estimate memory and time of a training, its machines and its batch");
  add_data_set_flags(verb, *o);
  add_question_flags(verb, *o);
  std::set<std::string> own;
  for (const Flag flag : verb.all_flags()) own.insert(flag.long_name());
  add_train_flags(verb, o->train);
  add_pause_flags(verb.add_group("Run"), o->train.train.run);
  verb.flag("--micro-batch").word("auto", "0", [o] { o->request.any_micro_batch = true; });
  verb.footer(kExamples);
  shorten_help(verb,
               {"--images", "--classes", "--net", "--epochs", "--batch-size", "--micro-batch",
                "--image-size", "--memory-limit", "--hosts", "--network", "--runs", "--target",
                "--write", "--json"},
               kExamples);
  const auto work = [o, verb, own](Session& session) {
    const PlannedFlags given = given_of(verb, own);
    take_own_recipe(verb, o->train.recipe, session.comm);
    run(*o, session, given);
  };
  return {verb, true, work, /*stops=*/true};
}

}  // namespace winnow::tools
