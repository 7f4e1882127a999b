#include "app/sweep/sweep_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "app/experiment/figures.h"
#include "app/experiment/sweep_verdict.h"
#include "app/page/curves.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/report/run_page.h"
#include "app/words.h"
#include "common/csv.h"

namespace winnow::app {
namespace {

// Half the width of Student's t interval of the mean accuracy.
double spread_of(const ArmResult& result) {
  if (!result.deviation) return 0;
  const auto runs = static_cast<double>(result.runs());
  return student_t_bound(0.05, runs - 1) * *result.deviation / std::sqrt(runs);
}

std::string sweep_chart(const SweepView& view, const std::string& budget) {
  std::map<std::pair<std::string, bool>, Curve> curves;  // by series; controls are dashed
  std::map<std::string, int> colours;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    if (arm.budget != budget || arm.series == "all" || view.results[i].runs() == 0) continue;
    Curve& curve = curves[{arm.series, arm.is_control()}];
    curve.name = arm.series + (arm.is_control() ? ", as many at random" : "");
    curve.dashed = arm.is_control();
    curve.colour = colours.try_emplace(arm.series, colours.size() % 8).first->second;
    curve.points.push_back({100 * arm.removed_share(), view.results[i].mean,
                            arm.is_control() ? 0 : spread_of(view.results[i])});
  }
  CurveChart chart{.name = "Accuracy over the share removed, equal " + budget,
                   .x_name = "% removed",
                   .percent = true,
                   .curves = {}};
  const ArmResult& all = view.results.front();
  for (auto& [series, curve] : curves) {
    if (all.runs() > 0) curve.points.push_back({0, all.mean, curve.dashed ? 0 : spread_of(all)});
    std::ranges::sort(curve.points, {}, &Curve::Point::x);
    chart.curves.push_back(std::move(curve));
  }
  const std::string svg = curves_svg(chart);
  if (svg.empty()) return "";
  std::string keys;
  for (const auto& [series, colour] : colours) {
    keys += run_key(static_cast<std::size_t>(colour), series);
  }
  return figure(escaped(chart.name), svg + paragraph(keys));
}

// Whether an arm has the same runs as the first, under another budget.
bool is_first_again(const SweepView& view, std::size_t place) {
  return place > 0 && view.arms[place].jobs == view.arms.front().jobs;
}

std::string budget_of(const SweepView& view, std::size_t place) {
  if (place > 0 || view.arms.size() < 2 || !is_first_again(view, 1)) return view.arms[place].budget;
  return view.arms[0].budget + ", " + view.arms[1].budget;
}

// Accuracy with its deviation over seeds.
std::string accuracy_cell(const ArmResult& result) {
  if (result.runs() == 0) return number_cell("");
  return number_cell(accuracy_in_words(result.mean, result.deviation));
}

std::string points_table(const SweepView& view) {
  const auto best = recommend(view.arms, view.results, view.judge);
  std::string rows;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    if (arm.is_control() || is_first_again(view, i)) continue;
    const ArmResult& result = view.results[i];
    rows += row(key_cell(name_html(arm.name)) + key_cell(budget_of(view, i)) +
                    number_cell(percent(arm.removed_share())) + accuracy_cell(result) +
                    number_cell(points_html(result.versus_all)) +
                    key_cell(verdict_in_words(arm, result)) +
                    (arm.control ? accuracy_cell(view.results[*arm.control]) : number_cell("")) +
                    number_cell(points_html(result.versus_control)),
                i == best ? RowLook::kMarked : RowLook::kPlain);
  }
  return table({"arm", "equal", "#removed", "#accuracy", "#points versus all", "verdict",
                "#as many at random", "#points versus that"},
               rows);
}

// Arms with different data: those of one budget.
std::vector<std::size_t> arms_of_data(const SweepView& view) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    if (view.arms[i].budget == view.arms.front().budget) places.push_back(i);
  }
  return places;
}

std::string data_section(const SweepView& view) {
  std::string rows;
  for (const std::size_t i : arms_of_data(view)) {
    const SweepArm& arm = view.arms[i];
    const ArmFacts& facts = arm.facts;
    rows += row(key_cell(name_html(arm.name)) + number_cell(grouped(arm.kept)) +
                    number_cell(grouped(arm.removed)) + number_cell(percent(arm.removed_share())) +
                    number_cell(facts.bits ? fmt::format("{}", *facts.bits) : "") +
                    number_cell(facts.precision ? percent(*facts.precision) : "") +
                    number_cell(fmt::format("{:.4g}", facts.leaks)) +
                    number_cell(fmt::format("{:.4g}", facts.conflicts)) +
                    number_cell(facts.classes_gone > 0 ? grouped(facts.classes_gone) : ""),
                arm.is_control() ? RowLook::kFaint : RowLook::kPlain);
  }
  const std::string about =
      "Precision: the share of the pairs within so many bits that are expected to be duplicates, "
      "as winnow tune "
      "estimates it; by pictures, of the pairs that show one. Leaks: test images that still have a "
      "duplicate in training. Conflicts: groups "
      "of duplicates in training whose labels differ. Of what is removed at random: means over "
      "seeds.";
  return section("Effects on the training samples",
                 paragraph(about) + table({"arm", "#kept", "#removed", "#share", "#within bits",
                                           "#expected precision", "#leaks left", "#conflicts left",
                                           "#classes lost"},
                                          rows));
}

std::string cost_section(const SweepView& view) {
  const auto whole = static_cast<double>(view.arms.front().images_seen());
  const std::optional<double> seconds = view.results.front().seconds;
  std::string rows;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    const std::optional<double> taken = view.results[i].seconds;
    if (arm.is_control() || is_first_again(view, i)) continue;
    const auto saved = [](double part, double all) {
      return number_cell(fmt::format("{:.1f} %", 100 * (1 - part / all)));
    };
    const auto images = static_cast<double>(arm.images_seen());
    rows += row(key_cell(name_html(arm.name)) + key_cell(budget_of(view, i)) +
                number_cell(fmt::format("{:.4g}", arm.epochs)) +
                number_cell(grouped(arm.images_seen())) + saved(images, whole) +
                number_cell(taken ? in_seconds(*taken) : "") +
                (taken && seconds ? saved(*taken, *seconds) : number_cell("")));
  }
  return section(
      "Cost",
      paragraph("Times are means of runs, as they were: other work on the machine is in them.") +
          table({"arm", "equal", "#epochs", "#images a run trains on", "#saved", "#time of a run",
                 "#saved"},
                rows));
}

// Classes that lost most come first.
std::string classes_table(const SweepView& view, std::size_t place) {
  constexpr std::size_t kMost = 200;
  const std::vector<ClassHits>& all = view.results.front().classes;
  const std::vector<ClassHits>& here = view.results[place].classes;
  const auto gain = [&](std::size_t i) -> std::optional<double> {
    if (i >= all.size() || i >= here.size() || !all[i].share() || !here[i].share()) {
      return std::nullopt;
    }
    return *here[i].share() - *all[i].share();
  };
  std::vector<std::size_t> order(view.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return gain(i).value_or(2); });
  std::string rows;
  for (std::size_t k = 0; k < std::min(order.size(), kMost); ++k) {
    const std::size_t i = order[k];
    const std::uint64_t removed = view.arms[place].facts.removed.at(i);
    const std::uint64_t samples = view.class_samples[i];
    const auto share = [](const std::vector<ClassHits>& hits, std::size_t of) {
      return number_cell(of < hits.size() && hits[of].share() ? percent(*hits[of].share()) : "");
    };
    rows +=
        row(key_cell(name_html(view.classes[i])) + number_cell(grouped(samples)) +
            number_cell(grouped(removed)) +
            number_cell(samples > 0
                            ? percent(static_cast<double>(removed) / static_cast<double>(samples))
                            : "") +
            share(all, i) + share(here, i) +
            number_cell(gain(i) ? fmt::format("{:+.2f}", 100 * *gain(i)) : ""));
  }
  return table({"class", "#training samples", "#removed", "#share", "#accuracy of all", "#here",
                "#points"},
               rows) +
         (order.size() > kMost
              ? paragraph(grouped(order.size() - kMost) + " more are in classes.csv.")
              : "");
}

std::string classes_section(const SweepView& view) {
  const std::optional<std::size_t> best = recommend(view.arms, view.results, view.judge);
  const std::string& budget = view.arms[best.value_or(0)].budget;
  std::string all;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    if (arm.removed == 0 || arm.is_control() || arm.budget != budget) continue;
    all += details(name_html(arm.name) + (i == best ? ", which is recommended" : ""),
                   classes_table(view, i), i == best);
  }
  const std::string about =
      "At equal " + budget +
      ". Accuracies are of all runs of an arm together, and of few images each: classes "
      "that lost most come first, and some of that is chance.";
  return section("By class", paragraph(escaped(about)) + all);
}

std::string test_section(const SweepView& view) {
  std::string rows;
  for (const TestedArm& tested : view.test.arms) {
    const SweepArm& arm = view.arms[tested.arm];
    rows += row(key_cell(name_html(arm.name)) + key_cell(arm.budget) +
                number_cell(percent(arm.removed_share())) +
                number_cell(mean_in_percent(tested.top1_leak_free)) +
                number_cell(points_html(tested.versus_all)) +
                number_cell(mean_in_percent(tested.top1)));
  }
  const std::string said = paragraph(escaped(in_words(view.test, view.arms)) + ".");
  if (rows.empty()) return section("Test", said);
  return section("Test",
                 said + table({"arm", "equal", "#removed", "#accuracy without leaked images",
                               "#points versus all", "#with them"},
                              rows));
}

std::string commands_section(const SweepView& view) {
  std::string recommended;
  if (const auto best = recommend(view.arms, view.results, view.judge)) {
    recommended = paragraph(name_html(view.arms[*best].name) + ", equal " +
                            view.arms[*best].budget + ", which is recommended:") +
                  command_line(view.commands[*best]);
  }
  std::string all;
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    if (is_first_again(view, i)) continue;
    all += paragraph(name_html(view.arms[i].name) + ", equal " + budget_of(view, i)) +
           command_line(view.commands[i]);
  }
  return section("Commands that train them",
                 recommended + details("Of all arms, each with its first seed", all, false));
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

std::string verdict_in_words(const SweepArm& arm, const ArmResult& result) {
  const std::string loss = loss_in_words(result);
  if (!arm.stopped_after) return loss;
  return fmt::format("{}{}stopped after {} seeds", loss, loss.empty() ? "" : ", ",
                     *arm.stopped_after);
}

std::string sweep_csv(const SweepView& view) {
  std::string csv =
      "arm,equal,kept,removed,bits,precision,leaks,conflicts,epochs,images,control,loss,seed,top1,"
      "test_top1,test_top1_leak_free\n";
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    const ArmFacts& facts = arm.facts;
    const auto tested = std::ranges::find(view.test.arms, i, &TestedArm::arm);
    const bool is_tested = tested != view.test.arms.end();
    for (std::size_t seed = 0; seed < view.results[i].top1.size(); ++seed) {
      csv += fmt::format(
          "{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{},{},{},{},{},{},{}\n", csv_field(arm.name),
          arm.budget, arm.kept, arm.removed, facts.bits ? fmt::format("{}", *facts.bits) : "",
          exactly(facts.precision), facts.leaks, facts.conflicts, arm.epochs, arm.images_seen(),
          arm.control ? csv_field(view.arms[*arm.control].name) : "",
          loss_in_words(view.results[i]), seed + 1, exactly(view.results[i].top1[seed]),
          is_tested ? exactly(tested->top1[seed]) : "",
          is_tested ? exactly(tested->top1_leak_free[seed]) : "");
    }
  }
  return csv;
}

std::string classes_csv(const SweepView& view) {
  std::string csv = "arm,equal,class,samples,removed,top1\n";
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const std::vector<ClassHits>& hits = view.results[i].classes;
    for (std::size_t k = 0; k < view.classes.size(); ++k) {
      csv += fmt::format("{},{},{},{},{},{}\n", csv_field(view.arms[i].name), view.arms[i].budget,
                         csv_field(view.classes[k]), view.class_samples[k],
                         view.arms[i].facts.removed.at(k),
                         k < hits.size() ? exactly(hits[k].share()) : "");
    }
  }
  return csv;
}

std::string html_of(const SweepView& view, const std::string& made) {
  const std::string verdict = recommendation(view.arms, view.results, view.judge);
  const std::string about = fmt::format(
      "On {} images held out of the training samples, by duplicate group. "
      "Ranges are Student's, over seeds, with 95 % confidence, each for itself; a loss is one of "
      "{:.2f} points or "
      "more, and verdicts are corrected for {} points (Holm), so that one false one among all is "
      "as rare as 5 %. "
      "Dashed: as many of each class removed at random. Bars: of the mean, over seeds.",
      grouped(view.judge.held_out_images), 100 * view.judge.margin, grouped(points_of(view.arms)));
  const std::string body =
      page_header("winnow sweep", name_html(view.cache), escaped(verdict) + ".", "") +
      section("Accuracy", paragraph(escaped(about)) +
                              figures(sweep_chart(view, "epochs") + sweep_chart(view, "steps")) +
                              points_table(view)) +
      test_section(view) + data_section(view) + cost_section(view) + classes_section(view) +
      failures_section(view) + commands_section(view);
  return html_page(
      {.title = "sweep of " + view.cache, .body = body, .made = made, .style = run_style()});
}

}  // namespace winnow::app
