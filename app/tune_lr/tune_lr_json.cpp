#include <utility>

#include "app/experiment/figures.h"
#include "app/tune_lr/tune_lr_page.h"
#include "common/json.h"

namespace winnow::app {
namespace {

Json setting_json(const TuneArm& arm, std::size_t setting) {
  Json json = Json::object();
  for (std::size_t i = 0; i < arm.axes.size(); ++i) {
    json[arm.axes[i].flag] = arm.settings[setting][i];
  }
  return json;
}

Json trials_json(const TuneView& view, std::size_t arm) {
  Json trials = Json::array();
  const ArmRuns& runs = view.state.runs[arm];
  for (std::size_t rung = 0; rung < runs.rungs.size(); ++rung) {
    for (std::size_t k = 0; k < runs.rungs[rung].size(); ++k) {
      const TunedRun& run = *runs.rungs[rung][k];
      const std::size_t setting = runs.halving.trials[rung][k];
      trials.push_back({{"trial", setting + 1},
                        {"epochs", view.plan.rungs[rung].epochs},
                        {"setting", setting_json(view.plan.arms[arm], setting)},
                        {"top1", run.score.failed ? Json(nullptr) : Json(run.score.top1)},
                        {"loss", run.score.loss},
                        {"why", run.score.failed ? Json(run.why) : Json(nullptr)}});
    }
  }
  return trials;
}

Json findings_json(const TuneRow& row) {
  Json findings = Json::array();
  for (const AxisFinding& finding : row.findings) {
    findings.push_back({{"flag", finding.axis.flag},
                        {"best", finding.best},
                        {"is_lowest", finding.is_lowest},
                        {"is_highest", finding.is_highest},
                        {"at_stake", finding.at_stake}});
  }
  return findings;
}

Json arm_json(const TuneView& view, std::size_t i) {
  const TuneArm& arm = view.plan.arms[i];
  const TuneRow& row = view.rows[i];
  Json json{{"optimizer", arm.optimizer}, {"batch_size", arm.batch}};
  json["setting"] = row.best ? setting_json(arm, *row.best) : Json(nullptr);
  json["command"] =
      row.best ? Json(command_of(view, final_job(view.plan, i, *row.best, 1))) : Json(nullptr);
  json["top1"] = row.top1;
  json["mean"] = row.mean;
  json["deviation"] = row.deviation;
  json["least"] = row.interval ? Json(row.interval->least) : Json(nullptr);
  json["most"] = row.interval ? Json(row.interval->most) : Json(nullptr);
  json["steps"] = row.steps;
  json["seconds"] = row.seconds;
  json["trials_diverged"] = row.diverged;
  json["finals_diverged"] = row.finals_diverged;
  json["beside_first"] = json_of(row.versus_first);
  json["p"] = row.p;
  json["test"] = nullptr;
  if (!view.test.arms.empty()) {
    json["test"] = {{"top1", view.test.arms[i].top1},
                    {"top1_leak_free", view.test.arms[i].top1_leak_free}};
  }
  json["axes"] = findings_json(row);
  json["trials"] = trials_json(view, i);
  return json;
}

}  // namespace

std::string json_of(const TuneView& view) {
  Json rungs = Json::array();
  for (const Rung& rung : view.plan.rungs) {
    rungs.push_back({{"trials", rung.trials}, {"epochs", rung.epochs}});
  }
  Json arms = Json::array();
  for (std::size_t i = 0; i < view.rows.size(); ++i) arms.push_back(arm_json(view, i));
  return Json{{"schema", "winnow.tune_lr/1"},
              {"training", view.plan.training},
              {"held_out", view.plan.held_out},
              {"epochs", view.plan.options.arms.epochs},
              {"rungs", std::move(rungs)},
              {"test", {{"images", view.plan.test}, {"looks", view.test.looks}}},
              {"advice", advice_of(view)},
              {"arms", std::move(arms)}}
      .dump();
}

}  // namespace winnow::app
