#include "app/tune_lr/tune_lr_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/experiment/figures.h"
#include "app/experiment/train_words.h"
#include "app/page/curves.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/report/run_page.h"
#include "app/words.h"
#include "common/csv.h"

namespace winnow::app {
namespace {

// The value of an axis; nullopt: the arm has no such axis.
std::optional<double> value_of(const TuneArm& arm, const TuneSetting& setting,
                               std::string_view flag) {
  const auto axis = std::ranges::find(arm.axes, flag, &TuneAxis::flag);
  if (axis == arm.axes.end()) return std::nullopt;
  return setting[static_cast<std::size_t>(axis - arm.axes.begin())];
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

std::string values_csv(const TuneArm& arm, const std::optional<std::size_t>& setting) {
  std::string text;
  for (const TuneFlag& flag : kTuneFlags) {
    text += "," + (setting ? number(value_of(arm, arm.settings[*setting], flag.flag)) : "");
  }
  return text;
}

// ",lr,weight_decay,...": the columns of values_csv().
std::string columns_csv() {
  std::string text;
  for (const TuneFlag& flag : kTuneFlags) text += "," + std::string(flag.flag);
  std::ranges::replace(text, '-', '_');
  return text;
}

std::string points(double share) { return fmt::format("{:.2f}", 100 * share); }

std::string interval_html(const TuneRow& row) {
  return row.interval ? points(row.interval->least) + " to " + points(row.interval->most) : "";
}

bool knows_leaks(const TuneView& view) {
  return std::ranges::any_of(view.test.arms, [](const TestedRuns& arm) {
    return mean_of(arm.top1_leak_free).has_value();
  });
}

std::string beside_html(const TuneRow& row) {
  const std::string text = points_html(row.versus_first);
  if (text.empty()) return "";
  const std::string words = versus_first_in_words(row);
  return words.empty() ? text : text + " " + words;
}

// The flags that some arm tunes, in their order.
std::vector<std::string> flags_of(const TuneView& view) {
  std::vector<std::string> flags;
  for (const TuneFlag& flag : kTuneFlags) {
    if (std::ranges::any_of(view.plan.arms, [&](const TuneArm& arm) {
          return std::ranges::find(arm.axes, flag.flag, &TuneAxis::flag) != arm.axes.end();
        })) {
      flags.emplace_back(flag.flag);
    }
  }
  return flags;
}

std::string accuracy_table(const TuneView& view) {
  std::string rows;
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const TuneArm& arm = view.plan.arms[i];
    const TuneRow& row = view.rows[i];
    std::string cells = number_cell(grouped(arm.batch)) + key_cell(escaped(arm.optimizer)) +
                        number_cell(row.mean ? accuracy_in_words(*row.mean, row.deviation) : "") +
                        number_cell(interval_html(row)) + number_cell(beside_html(row));
    if (!view.test.arms.empty()) cells += number_cell(mean_in_percent(view.test.arms[i].top1));
    if (knows_leaks(view)) cells += number_cell(mean_in_percent(view.test.arms[i].top1_leak_free));
    cells += number_cell(row.steps > 0 ? grouped(row.steps) : "") +
             number_cell(row.steps > 0 ? in_seconds(row.seconds) : "") +
             number_cell(grouped(row.finals_diverged));
    rows += app::row(cells);
  }
  std::vector<std::string> columns{"#batch", "optimiser", "#accuracy", "#its mean, 95 %",
                                   "#beside " + escaped(view.plan.arms.front().optimizer)};
  if (!view.test.arms.empty()) columns.emplace_back("#on test");
  if (knows_leaks(view)) columns.emplace_back("#without leaked images");
  for (const char* const title : {"#steps", "#time", "#diverged"}) columns.emplace_back(title);
  return table(columns, rows);
}

std::string settings_table(const TuneView& view) {
  const std::vector<std::string> flags = flags_of(view);
  std::vector<std::string> columns{"#batch", "optimiser"};
  for (const std::string& flag : flags) columns.push_back("#--" + flag);
  columns.emplace_back("#trials");
  columns.emplace_back("#diverged");
  std::string rows;
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const TuneArm& arm = view.plan.arms[i];
    const TuneRow& row = view.rows[i];
    std::string cells = number_cell(grouped(arm.batch)) + key_cell(escaped(arm.optimizer));
    for (const std::string& flag : flags) {
      cells += number_cell(row.best ? number(value_of(arm, arm.settings[*row.best], flag))
                                    : std::string());
    }
    rows += app::row(cells + number_cell(grouped(arm.settings.size())) +
                     number_cell(grouped(row.diverged)));
  }
  return table(columns, rows);
}

std::string in_epochs(double epochs) {
  return fmt::format("{:.4g} {}", epochs, epochs == 1 ? "epoch" : "epochs");
}

// Accuracy over learning rate for the trials of a batch size, all trained equally long. For a list
// of rates, a line connects the best of each.
std::string chart_of(const TuneView& view, std::uint64_t batch) {
  CurveChart chart{
      .name = "Batch " + grouped(batch) + ", " + in_epochs(view.plan.rungs.front().epochs),
      .x_name = "--lr",
      .percent = true,
      .log_x = true,
      .curves = {}};
  std::string keys;
  int colour = 0;
  for (std::size_t i = 0; i < view.plan.arms.size(); ++i) {
    const TuneArm& arm = view.plan.arms[i];
    if (arm.batch != batch) continue;
    std::map<double, double> best;
    Curve trials{.name = arm.optimizer, .points = {}, .colour = colour, .scattered = true};
    for (std::size_t k = 0; k < arm.settings.size(); ++k) {
      const TrialScore& score = view.state.runs[i].rungs.front()[k]->score;
      if (score.failed) continue;
      const double lr = arm.settings[k].front();
      trials.points.push_back({lr, score.top1});
      double& there = best.try_emplace(lr, score.top1).first->second;
      there = std::max(there, score.top1);
    }
    keys += run_key(static_cast<std::size_t>(colour++), arm.optimizer);
    if (trials.points.empty()) continue;
    if (!arm.axes.front().is_drawn() && best.size() > 1) {
      Curve line{.name = arm.optimizer, .points = {}, .colour = trials.colour};
      for (const auto& [lr, top1] : best) line.points.push_back({lr, top1});
      chart.curves.push_back(std::move(line));
    }
    chart.curves.push_back(std::move(trials));
  }
  const std::string svg = curves_svg(chart);
  return svg.empty() ? "" : figure(escaped(chart.name), svg + paragraph(keys));
}

std::string charts(const TuneView& view) {
  std::string all;
  for (const std::uint64_t batch : view.plan.options.arms.batches) all += chart_of(view, batch);
  return all.empty() ? "" : figures(all);
}

// A sentence: the arm with the highest mean, among those whose final runs all ended.
std::string verdict_of(const TuneView& view) {
  const auto rank = [](const TuneRow& row) {
    return std::pair(row.mean && row.finals_diverged == 0, row.mean.value_or(-1));
  };
  const auto best = std::ranges::max_element(view.rows, {}, rank) - view.rows.begin();
  return (view.rows.size() > 1 ? "The highest: " : "") +
         in_words(view, static_cast<std::size_t>(best));
}

std::string advice_section(const TuneView& view) {
  std::string rows;
  for (const std::string& sentence : advice_of(view)) rows += row(cell(escaped(sentence)));
  return rows.empty() ? "" : section("Mind", table({"what"}, rows));
}

// Results of a trial in each rung that it was trained in.
std::string outcome_html(const std::optional<TunedRun>& run) {
  if (!run) return "";
  return run->score.failed ? "diverged" : percent(run->score.top1);
}

std::string trials_of(const TuneView& view, std::size_t arm_place) {
  const TuneArm& arm = view.plan.arms[arm_place];
  const ArmRuns& runs = view.state.runs[arm_place];
  std::vector<std::string> columns{"setting"};
  for (const Rung& rung : view.plan.rungs) {
    columns.push_back("#" + in_epochs(rung.epochs));
  }
  std::string rows;
  std::string commands;
  for (std::size_t setting = 0; setting < arm.settings.size(); ++setting) {
    std::string cells = key_cell(escaped(in_words(arm, arm.settings[setting])));
    std::size_t last = 0;
    for (std::size_t rung = 0; rung < view.plan.rungs.size(); ++rung) {
      std::string outcome;
      if (rung < runs.rungs.size()) {
        const std::vector<std::size_t>& trials = runs.halving.trials[rung];
        const auto place = std::ranges::lower_bound(trials, setting);
        if (place != trials.end() && *place == setting) {
          outcome =
              outcome_html(runs.rungs[rung][static_cast<std::size_t>(place - trials.begin())]);
          last = rung;
        }
      }
      cells += number_cell(outcome);
    }
    commands += command_of(view, trial_job(view.plan, arm_place, setting, last)) + "\n";
    rows += row(cells, setting == runs.halving.best ? RowLook::kMarked : RowLook::kPlain);
  }
  return details(escaped(arm.name()), table(columns, rows) + preformatted(commands), false);
}

std::string settings_section(const TuneView& view) {
  std::string all;
  for (std::size_t i = 0; i < view.plan.arms.size(); ++i) {
    if (!view.rows[i].best) continue;
    all += details(escaped(view.plan.arms[i].name()),
                   command_line(command_of(view, final_job(view.plan, i, *view.rows[i].best, 1))),
                   false);
  }
  const std::string about = fmt::format(
      "Without --holdout {:.6g} these commands train on all samples, and evaluate on test: do that "
      "once, with what you chose.",
      view.plan.options.holdout);
  return section("Best settings", settings_table(view) + paragraph(escaped(about)) + all);
}

}  // namespace

std::string command_of(const TuneView& view, const std::string& job) {
  return train_command(view.plan.options.cache, tuned_words(job));
}

std::string in_words(const TuneView& view, std::size_t arm_place) {
  const TuneArm& arm = view.plan.arms[arm_place];
  const TuneRow& row = view.rows[arm_place];
  std::string text = arm.name() + ": ";
  if (!row.best) return text + fmt::format("all {} trials diverged", arm.settings.size());
  text += row.mean ? accuracy_in_words(*row.mean, row.deviation) : "all finals diverged";
  if (row.interval) text += " (" + interval_html(row) + ")";
  text += " by " + in_words(arm, arm.settings[*row.best]);
  if (row.steps > 0) text += fmt::format(", {} steps", grouped(row.steps));
  if (row.diverged > 0) {
    text += fmt::format(", {} of {} trials diverged", row.diverged, arm.settings.size());
  }
  if (row.finals_diverged > 0) {
    text += fmt::format(", {} of {} finals diverged", row.finals_diverged, row.top1.size());
  }
  if (!view.test.arms.empty() && row.mean) {
    text += ", on test " + mean_in_percent(view.test.arms[arm_place].top1);
  }
  if (const std::string words = versus_first_in_words(row); !words.empty()) {
    text +=
        fmt::format("; compared with {}: {}", view.plan.arms.front().optimizer, beside_html(row));
  }
  return text;
}

std::vector<std::string> advice_of(const TuneView& view) {
  std::vector<std::string> all = view.plan.notes;
  if (view.test.looks > 1) {
    all.push_back(fmt::format(
        "test was evaluated for {} choices so far: it flatters the best of them", view.test.looks));
  }
  for (std::size_t i = 0; i < view.plan.arms.size(); ++i) {
    for (std::string& sentence : advice_of(view.plan.arms[i], view.rows[i], view.judge)) {
      all.push_back(std::move(sentence));
    }
  }
  return all;
}

std::string table_csv(const TuneView& view) {
  std::string csv = "optimizer,batch_size,runs,mean,deviation,least,most" + columns_csv() +
                    ",steps,trials,trials_diverged,finals_diverged,beside_first,beside,"
                    "test_top1,test_top1_leak_free\n";
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const TuneArm& arm = view.plan.arms[i];
    const TuneRow& row = view.rows[i];
    const auto least = row.interval ? std::optional(row.interval->least) : std::nullopt;
    const auto most = row.interval ? std::optional(row.interval->most) : std::nullopt;
    const auto beside =
        row.versus_first ? std::optional(row.versus_first->mean) : std::optional<double>();
    const bool looked = !view.test.arms.empty();
    const auto test = looked ? mean_of(view.test.arms[i].top1) : std::nullopt;
    const auto leak_free = looked ? mean_of(view.test.arms[i].top1_leak_free) : std::nullopt;
    csv += fmt::format("{},{},{},{},{},{},{}{},{},{},{},{},{},{},{},{}\n", csv_field(arm.optimizer),
                       arm.batch, row.top1.size() - row.finals_diverged, exactly(row.mean),
                       exactly(row.deviation), exactly(least), exactly(most),
                       values_csv(arm, row.best), row.steps, arm.settings.size(), row.diverged,
                       row.finals_diverged, exactly(beside), versus_first_in_words(row),
                       exactly(test), exactly(leak_free));
  }
  return csv;
}

std::string trials_csv(const TuneView& view) {
  std::string csv = "optimizer,batch_size,trial,epochs" + columns_csv() + ",top1,loss,diverged\n";
  for (std::size_t i = 0; i < view.plan.arms.size(); ++i) {
    const TuneArm& arm = view.plan.arms[i];
    const ArmRuns& runs = view.state.runs[i];
    for (std::size_t rung = 0; rung < runs.rungs.size(); ++rung) {
      for (std::size_t k = 0; k < runs.rungs[rung].size(); ++k) {
        const std::size_t trial = runs.halving.trials[rung][k];
        const TrialScore& score = runs.rungs[rung][k]->score;
        csv += fmt::format("{},{},{},{:.6g}{},{},{},{}\n", csv_field(arm.optimizer), arm.batch,
                           trial + 1, view.plan.rungs[rung].epochs, values_csv(arm, trial),
                           score.failed ? "" : fmt::format("{}", score.top1), exactly(score.loss),
                           score.failed ? 1 : 0);
      }
    }
  }
  return csv;
}

std::string html_of(const TuneView& view, const std::string& made) {
  const TuneLrOptions& o = view.plan.options;
  std::string about = fmt::format(
      "Each optimiser had {} trials at each batch size, judged on {} images held out of the "
      "training samples, by duplicate group. Then the best setting was "
      "trained with {} other {}, {:.4g} epochs each: that is what the table says, with Student's "
      "range of the mean. Differences are paired by seed.",
      grouped(view.plan.arms.front().settings.size()), grouped(view.judge.held_out_images), o.seeds,
      o.seeds == 1 ? "seed" : "seeds", o.arms.epochs);
  about += view.test.arms.empty() ? " The test split was not evaluated."
                                  : " The test split was evaluated afterwards and decided nothing.";
  if (view.plan.rungs.size() > 1) {
    about += " Of the trials the best third was trained three times as long, and so on.";
  }
  std::string trials;
  for (std::size_t i = 0; i < view.plan.arms.size(); ++i) trials += trials_of(view, i);
  const std::string body = page_header("winnow tune-lr", name_html(o.cache.string()),
                                       escaped(verdict_of(view)) + ".", "") +
                           section("Accuracy", paragraph(escaped(about)) + accuracy_table(view)) +
                           advice_section(view) + section("Trials over their rates", charts(view)) +
                           settings_section(view) + section("All trials", trials);
  return html_page(
      {.title = "tuning on " + o.cache.string(), .body = body, .made = made, .style = run_style()});
}

}  // namespace winnow::app
