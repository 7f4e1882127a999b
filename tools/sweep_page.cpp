#include "tools/sweep_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/csv.h"
#include "tools/report/curves.h"
#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/words.h"
#include "tools/run_page.h"

namespace winnow::tools {
namespace {

// "+0.12 (-0.30 to +0.54)", in points.
std::string points_html(const std::optional<PairedDifference>& difference) {
  if (!difference) return "";
  std::string text = fmt::format("{:+.2f}", 100 * difference->mean);
  if (const auto& interval = difference->interval) {
    text += fmt::format(" ({:+.2f} to {:+.2f})", 100 * interval->least, 100 * interval->most);
  }
  return text;
}

std::string sweep_chart(const SweepView& view, const std::string& budget) {
  std::map<std::string, Curve> curves;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    if (arm.budget != budget || arm.series == "all" || view.results[i].runs() == 0) continue;
    Curve& curve = curves[arm.series];
    curve.name = arm.series;
    curve.dashed = arm.is_control();
    curve.points.push_back({100 * arm.removed_share(), view.results[i].mean});
  }
  CurveChart chart{.name = "Accuracy over the share removed, equal " + budget,
                   .x_name = "% removed",
                   .percent = true,
                   .curves = {}};
  for (auto& [series, curve] : curves) {
    if (view.results.front().runs() > 0) curve.points.push_back({0, view.results.front().mean});
    std::ranges::sort(curve.points, {}, &Curve::Point::x);
    curve.colour = static_cast<int>(chart.curves.size() % 8);
    chart.curves.push_back(std::move(curve));
  }
  const std::string svg = curves_svg(chart);
  if (svg.empty()) return "";
  std::string keys;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) keys += run_key(i, chart.curves[i].name);
  return figure(escaped(chart.name), svg + paragraph(keys));
}

std::string arms_table(const SweepView& view) {
  std::string rows;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    const ArmResult& result = view.results[i];
    const std::string spread =
        result.deviation ? fmt::format(" ± {:.2f}", 100 * *result.deviation) : std::string();
    rows +=
        row(key_cell(name_html(arm.name)) + key_cell(arm.budget) +
                number_cell(grouped(arm.removed)) + number_cell(percent(arm.removed_share())) +
                number_cell(fmt::format("{:.4g}", arm.epochs)) +
                number_cell(result.runs() == 0 ? "" : percent(result.mean) + spread) +
                number_cell(grouped(result.runs())) + number_cell(points_html(result.beside_all)) +
                number_cell(points_html(result.beside_control)) + key_cell(loss_in_words(result)),
            arm.is_control() ? RowLook::kFaint : RowLook::kPlain);
  }
  return table({"arm", "equal", "#removed", "#share", "#epochs", "#accuracy", "#runs",
                "#points beside all", "#beside its control", ""},
               rows);
}

std::string test_section(const SweepView& view) {
  std::string rows;
  for (const TestedArm& tested : view.test.arms) {
    const SweepArm& arm = view.arms[tested.arm];
    const auto accuracy = [](const std::vector<std::optional<double>>& values) {
      const std::optional<double> mean = mean_of(values);
      return number_cell(mean ? percent(*mean) : "");
    };
    rows += row(key_cell(name_html(arm.name)) + key_cell(arm.budget) +
                number_cell(percent(arm.removed_share())) + accuracy(tested.top1_leak_free) +
                number_cell(points_html(tested.beside_all)) + accuracy(tested.top1));
  }
  const std::string said = paragraph(escaped(in_words(view.test, view.arms)) + ".");
  if (rows.empty()) return section("Test", said);
  return section("Test",
                 said + table({"arm", "equal", "#removed", "#accuracy without leaked images",
                               "#points beside all", "#with them"},
                              rows));
}

std::string commands_section(const SweepView& view) {
  std::string all;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    all += details(name_html(view.arms[i].name) + ", equal " + view.arms[i].budget,
                   command_line(view.commands[i]), false);
  }
  return section("Commands that train them", all);
}

std::string failures_section(const SweepView& view) {
  std::string rows;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    for (const std::string& why : view.results[i].failures) {
      rows += row(key_cell(name_html(view.arms[i].name)) + cell(name_html(why)));
    }
  }
  for (const std::string& note : view.notes) rows += row(key_cell("") + cell(escaped(note)));
  return rows.empty() ? "" : section("Mind", table({"arm", "what"}, rows));
}

}  // namespace

std::string loss_in_words(const ArmResult& result) {
  if (!result.loss) return "";
  return *result.loss == Loss::kNone   ? "no loss"
         : *result.loss == Loss::kSome ? "a loss"
                                       : "not shown";
}

std::string sweep_csv(const SweepView& view) {
  std::string csv =
      "arm,equal,kept,removed,epochs,control,loss,seed,top1,test_top1,test_top1_leak_free\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    const auto tested = std::ranges::find(view.test.arms, i, &TestedArm::arm);
    for (std::size_t seed = 0; seed < view.results[i].top1.size(); ++seed) {
      csv += fmt::format(
          "{},{},{},{},{:.6g},{},{},{},{}", csv_field(arm.name), arm.budget, arm.kept, arm.removed,
          arm.epochs, arm.control ? csv_field(view.arms[*arm.control].name) : "",
          loss_in_words(view.results[i]), seed + 1, number(view.results[i].top1[seed]));
      csv += tested == view.test.arms.end() ? ",,\n"
                                            : "," + number(tested->top1[seed]) + "," +
                                                  number(tested->top1_leak_free[seed]) + "\n";
    }
  }
  return csv;
}

std::string html_of(const SweepView& view, const std::string& made) {
  const std::string verdict = recommendation(view.arms, view.results, view.judge);
  const std::string about = fmt::format(
      "On {} images held out of the training samples, by duplicate group. "
      "Ranges are Student's, over seeds, with 95 % confidence; a loss is one of {:.2f} points or "
      "more. Dashed: as many of each class removed at random.",
      grouped(view.judge.held_out_images), 100 * view.judge.margin);
  const std::string body =
      page_header("winnow sweep", name_html(view.cache), escaped(verdict) + ".", "") +
      section("Accuracy", paragraph(escaped(about)) +
                              figures(sweep_chart(view, "epochs") + sweep_chart(view, "steps")) +
                              arms_table(view)) +
      test_section(view) + failures_section(view) + commands_section(view);
  return html_page(
      {.title = "sweep of " + view.cache, .body = body, .made = made, .style = run_style()});
}

}  // namespace winnow::tools
