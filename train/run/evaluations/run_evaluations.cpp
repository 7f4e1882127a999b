#include "train/run/evaluations/run_evaluations.h"

#include <filesystem>
#include <map>
#include <string>

#include "common/comm/agreement.h"
#include "common/file.h"
#include "train/run/evaluations/split_evaluation.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::train {
namespace {

std::optional<double> find(const std::map<std::string, double>& figures, const std::string& name) {
  const auto figure = figures.find(name);
  return figure == figures.end() ? std::nullopt : std::optional(figure->second);
}

}  // namespace

bool RunEvaluations::is_due(std::int64_t done, bool ends_epoch) const {
  const std::int64_t interval = run_.evaluation.interval;
  return interval == 0 ? ends_epoch : done % interval == 0 || done == job_.batches.total_steps;
}

bool RunEvaluations::evaluate_due(std::int64_t step, std::optional<BestEvaluation>& best) {
  evaluate(Split::kVal, step);
  const std::string metric = watched_metric(run_.evaluation.keep_best);
  return !metric.empty() && enter_evaluation(best, metric, figures_, step);
}

void RunEvaluations::evaluate_end(std::int64_t step) {
  if (val_step_ != step) evaluate(Split::kVal, step);
  evaluate(Split::kTest, step);
}

void RunEvaluations::evaluate(Split split, std::int64_t step) {
  if (job_.data.evaluation_sets.at(split).samples.ids.empty()) return;
  if (split == Split::kVal) val_step_ = step;
  const std::string name(split_name(split));
  const Evaluation found = evaluate_split(job_, threads_, engine_, comm_, split);
  figures_ = log(found, name, step);
  store(found, split, step);
  score_ = {.split = name,
            .top1 = figures_.at(name + ".top1"),
            .top1_leak_free = find(figures_, name + ".top1_leak_free"),
            .top1_ema = {}};
  if (!engine_.has_ema()) return;
  engine_.swap_ema();
  const Figures ema =
      log(evaluate_split(job_, threads_, engine_, comm_, split), name + "_ema", step);
  engine_.swap_ema();
  score_->top1_ema = ema.at(name + "_ema.top1");
  figures_.insert(ema.begin(), ema.end());
}

RunEvaluations::Figures RunEvaluations::log(const Evaluation& evaluation, const std::string& name,
                                            std::int64_t step) {
  Figures figures = figures_of(evaluation, name, job_.setup.options.classes);
  std::map<std::string, std::string> texts;
  if (!job_.tta.empty()) texts["tta"] = job_.tta;
  log_.write(step, figures, texts);
  return figures;
}

void RunEvaluations::store(const Evaluation& evaluation, Split split, std::int64_t step) {
  on_root(comm_, [&] {
    const StoredEvaluation stored = stored_evaluation(
        evaluation, job_.data.evaluation_sets.at(split).samples.ids, job_.data.info.classes,
        {.step = step,
         .epoch = job_.batches.epoch_at(step),
         .split = std::string(split_name(split)),
         .cache = std::filesystem::absolute(job_.data.folder).string(),
         .cache_digest = job_.data.info.digest});
    write_file_durably(run_.out / "evaluation.json", to_text(stored));
  });
}

}  // namespace winnow::train
