#include "app/report/run_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "app/page/curves.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "common/checksum.h"
#include "common/utf8.h"
#include "train/run/record/best.h"

namespace winnow::app {
namespace {

using train::MetricsRow;
using train::StoredEvaluation;

constexpr std::size_t kColours = 8;
constexpr std::size_t kMostSettings = 2000;
constexpr std::size_t kMostListed = 12;  // classes, confusions
constexpr std::size_t kMostClassesDrawn = 200;
constexpr std::size_t kMostClassesWritten = 12;  // with names and numbers in the picture

// Style of this page besides that of all pages: colours of runs, curves, a matrix, mistakes.
constexpr std::string_view kRunStyle = R"(:root {
  --run0: #2f6feb; --run1: #d9822b; --run2: #2a9d6f; --run3: #b5476d;
  --run4: #6f5bd0; --run5: #a38300; --run6: #1594a8; --run7: #8b5e3c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --run0: #5b93ff; --run1: #e5a15a; --run2: #4dbf92; --run3: #e07fa2;
    --run4: #a394f5; --run5: #d1b13a; --run6: #45c3d6; --run7: #bb8a63;
  }
}
.run0 { --own: var(--run0); } .run1 { --own: var(--run1); } .run2 { --own: var(--run2); }
.run3 { --own: var(--run3); } .run4 { --own: var(--run4); } .run5 { --own: var(--run5); }
.run6 { --own: var(--run6); } .run7 { --own: var(--run7); }
.key.run0::before, .key.run1::before, .key.run2::before, .key.run3::before, .key.run4::before,
.key.run5::before, .key.run6::before, .key.run7::before { background: var(--own); }
.curve { fill: none; stroke: var(--own); stroke-width: 1.8; stroke-linejoin: round; }
circle.curve { fill: var(--own); }
.dashed { stroke-dasharray: 4 3; stroke-width: 1.3; opacity: .85; }
.right { fill: var(--part3); } .wrong { fill: var(--part2); }
.matrix { max-width: 40rem; }
.cell { font-size: 10px; text-anchor: middle; fill: var(--ink); }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .75rem; }
.mistakes figure { padding: .5rem; overflow-wrap: anywhere; }
.mistakes img { display: block; max-width: 100%; height: 7rem; margin: 0 auto .4rem; object-fit: contain; }
@media print { figure, tr { break-inside: avoid; } }
)";

}  // namespace

std::string run_key(std::size_t run, const std::string& name) {
  return fmt::format("<span class=\"key run{}\">{}</span> ", run % kColours, name_html(name));
}

namespace {

// The last value with that name.
std::optional<double> last_of(const RunView& run, const std::string& name) {
  for (auto row = run.rows.rbegin(); row != run.rows.rend(); ++row) {
    if (const auto value = row->values.find(name); value != row->values.end()) return value->second;
  }
  return std::nullopt;
}

Curve curve_of(const RunView& run, std::size_t index, const std::string& name, bool dashed) {
  Curve curve{.name = shown(run.name) + " " + name,
              .points = {},
              .colour = static_cast<int>(index),
              .dashed = dashed};
  for (const MetricsRow& row : run.rows) {
    const auto value = row.values.find(name);
    if (value != row.values.end()) curve.points.push_back({row.epoch, value->second});
  }
  return curve;
}

// A figure of these metrics for all runs; training is dashed. Empty if there are none.
std::string chart_of(const std::vector<RunView>& runs, const std::string& title,
                     const std::vector<std::string>& names, bool percent) {
  const bool log_if_wide = names.front().ends_with(".loss") || names.front().ends_with("_norm");
  CurveChart chart{.name = title,
                   .x_name = "epoch",
                   .percent = percent,
                   .log_if_wide = log_if_wide,
                   .curves = {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const std::string& name : names) {
      const bool dashed = names.size() > 1 && name.starts_with("train.");
      chart.curves.push_back(curve_of(runs[i], i, name, dashed));
    }
  }
  const std::string svg = curves_svg(chart);
  return svg.empty() ? "" : figure(escaped(title), svg);
}

}  // namespace

std::string curves_section(const std::vector<RunView>& runs) {
  std::string keys;
  for (std::size_t i = 0; i < runs.size(); ++i) keys += run_key(i, runs[i].name);
  const std::string all =
      chart_of(runs, "Loss", {"train.loss", "val.loss", "test.loss"}, false) +
      chart_of(runs, "Accuracy", {"train.top1", "val.top1", "test.top1"}, true) +
      chart_of(runs, "Mean average precision", {"val.map", "test.map"}, true) +
      chart_of(runs, "Accuracy of the moving average", {"val_ema.top1", "test_ema.top1"}, true) +
      chart_of(runs, "Label among the five largest logits", {"val.top5", "test.top5"}, true) +
      chart_of(runs, "Learning rate", {"train.lr"}, false) +
      chart_of(runs, "Norm of the gradients", {"train.gradient_norm"}, false) +
      chart_of(runs, "Norm of the weights", {"train.weight_norm"}, false) +
      chart_of(runs, "Images per second", {"train.total_ips"}, false);
  if (all.empty()) return section("Curves", paragraph("Nothing is logged yet."));
  return section(
      "Curves",
      paragraph(keys +
                aside("dashed line: training; solid line: evaluation; a point: a single value")) +
          figures(all));
}

namespace {

std::string figure_html(const std::string& name, double value) {
  if (name.find(".top") != std::string::npos || name.ends_with(".map")) return percent(value);
  if (name.ends_with("_time")) return in_seconds(value);
  if (name == "memory.peak") {
    return in_bytes(static_cast<std::uint64_t>(std::clamp(value, 0.0, 1e18)));
  }
  return fmt::format("{:.4g}", value);
}

// The best evaluation by that metric.
std::string best_html(const RunView& run, const std::string& metric) {
  const MetricsRow* best = nullptr;
  for (const MetricsRow& row : run.rows) {
    const auto value = row.values.find(metric);
    if (value == row.values.end()) continue;
    if (best == nullptr || train::is_better(metric, value->second, best->values.at(metric))) {
      best = &row;
    }
  }
  if (best == nullptr) return "";
  return fmt::format("{}, step {}", figure_html(metric, best->values.at(metric)),
                     grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(0, best->step))));
}

// A row of a table with one column per run.
std::string row_of_runs(const std::string& title, const std::vector<std::string>& cells) {
  if (std::ranges::all_of(cells, [](const std::string& cell) { return cell.empty(); })) return "";
  std::string html = key_cell(name_html(title));
  for (const std::string& text : cells) html += number_cell(text);
  return row(html);
}

template <class Html>
std::string row_of(const std::vector<RunView>& runs, const std::string& title, const Html& html) {
  std::vector<std::string> cells;
  for (const RunView& run : runs) cells.push_back(run.rows.empty() ? "" : html(run));
  return row_of_runs(title, cells);
}

std::vector<std::string> run_columns(const std::vector<RunView>& runs, const std::string& first) {
  std::vector<std::string> columns{first};
  for (std::size_t i = 0; i < runs.size(); ++i) columns.push_back("#" + run_key(i, runs[i].name));
  return columns;
}

std::string figures_section(const std::vector<RunView>& runs) {
  std::string rows =
      row_of(runs, "steps",
             [](const RunView& run) {
               return grouped(
                   static_cast<std::uint64_t>(std::max<std::int64_t>(0, run.rows.back().step)));
             }) +
      row_of(runs, "epochs",
             [](const RunView& run) { return fmt::format("{:.4g}", run.rows.back().epoch); }) +
      row_of(runs, "time", [](const RunView& run) { return in_seconds(run.rows.back().wall); });
  constexpr std::array kNames{"test.top1",          "test.top5",      "test.top1_leak_free",
                              "test.map",           "val.map",        "test.loss",
                              "test_ema.top1",      "val.top1",       "val.top5",
                              "val.top1_leak_free", "val.loss",       "val_ema.top1",
                              "train.top1",         "train.loss",     "train.lr",
                              "train.total_ips",    "data.wait_time", "comm.exposed_time",
                              "memory.peak"};
  for (const std::string name : kNames) {
    rows += row_of(runs, name, [&](const RunView& run) {
      const auto value = last_of(run, name);
      return value ? figure_html(name, *value) : std::string();
    });
  }
  std::set<std::string> metrics;
  for (const RunView& run : runs) metrics.insert(run.watched.empty() ? "val.top1" : run.watched);
  for (const std::string& metric : metrics) {
    rows +=
        row_of(runs, "best " + metric, [&](const RunView& run) { return best_html(run, metric); });
  }
  return section("Figures", table(run_columns(runs, "the last of each"), rows));
}

// `cv` for the fold `cv-3`; empty for a selection whose name does not end in a number.
std::string folds_of(const std::string& selection) {
  const std::size_t dash = selection.find_last_not_of("0123456789");
  if (dash == std::string::npos || selection[dash] != '-' || dash + 1 == selection.size())
    return "";
  return selection.substr(0, dash);
}

// The settings that runs of one recipe over folds and seeds share.
std::map<std::string, std::string> settings_but_fold_and_seed(const RunView& run) {
  std::map<std::string, std::string> settings = run.settings;
  settings.erase("recipe.seed");
  const auto selection = settings.find("data.selection");
  if (selection == settings.end()) return settings;
  const std::string folds = folds_of(selection->second);
  if (folds.empty()) return settings;
  selection->second = folds;
  settings.erase("data.selection_digest");
  return settings;
}

// Groups of runs that differ only in fold or seed, with two or more of them.
std::vector<std::vector<const RunView*>> repetitions(const std::vector<RunView>& runs) {
  std::map<std::map<std::string, std::string>, std::vector<const RunView*>> alike;
  for (const RunView& run : runs) alike[settings_but_fold_and_seed(run)].push_back(&run);
  std::vector<std::vector<const RunView*>> found;
  for (const auto& [settings, same] : alike) {
    const bool differ = std::ranges::any_of(
        same, [&](const RunView* run) { return run->settings != same.front()->settings; });
    if (differ) found.push_back(same);
  }
  return found;
}

// "89.10 % ± 0.42 %": mean and standard deviation (n - 1). Empty if a run lacks the figure.
std::string mean_html(const std::vector<const RunView*>& runs, const std::string& name) {
  std::vector<double> values;
  double mean = 0;
  for (const RunView* run : runs) {
    const auto value = last_of(*run, name);
    if (!value) return "";
    values.push_back(*value);
    mean += *value / static_cast<double>(runs.size());
  }
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return figure_html(name, mean) + " ± " + figure_html(name, deviation);
}

// Empty if no runs differ only in fold or seed.
std::string repetitions_section(const std::vector<RunView>& runs) {
  const auto groups = repetitions(runs);
  std::vector<std::string> names;
  for (const std::string name : {"test.top1", "test.map", "test.loss", "test_ema.top1", "val.top1",
                                 "val.map", "val.loss", "val_ema.top1", "train.loss"}) {
    const auto has = [&](const auto& group) { return !mean_html(group, name).empty(); };
    if (std::ranges::any_of(groups, has)) names.push_back(name);
  }
  if (names.empty()) return "";
  std::vector<std::string> columns{"runs", "#number"};
  for (const std::string& name : names) columns.push_back("#" + name);
  std::string rows;
  for (const auto& group : groups) {
    std::string members;
    for (const RunView* run : group) members += (members.empty() ? "" : ", ") + run->name;
    std::string cells = key_cell(name_html(members)) + number_cell(grouped(group.size()));
    for (const std::string& name : names) cells += number_cell(mean_html(group, name));
    rows += row(cells);
  }
  return section("Over folds and seeds",
                 paragraph("Runs that differ only in the seed, or in the number at the end of "
                           "their selection's name. The last value of each figure: mean over runs, "
                           "equally weighted, ± standard deviation between runs (n - 1).") +
                     table(columns, rows));
}

// Texts with several lines, such as a net's description, keep their lines.
std::string value_html(const std::string& text) {
  if (text.find('\n') == std::string::npos) return name_html(text);
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  return details(fmt::format("{} lines, XXH3 {}", grouped(lines), to_hex(xxh3_64(as_bytes(text)))),
                 preformatted(text), false);
}

std::string settings_table(const std::vector<RunView>& runs, bool differing) {
  std::set<std::string> names;
  for (const RunView& run : runs) {
    for (const auto& [name, value] : run.settings) names.insert(name);
  }
  std::string rows;
  std::size_t count = 0;
  for (const std::string& name : names) {
    std::string cells = key_cell(name_html(shown_short(name)));
    std::set<std::string> values;
    for (const RunView& run : runs) {
      const auto value = run.settings.find(name);
      const std::string text = value == run.settings.end() ? "" : value->second;
      values.insert(text);
      cells += cell(value_html(text));
    }
    if (differing && values.size() == 1) continue;
    if (++count <= kMostSettings) rows += row(cells);
  }
  if (rows.empty()) return "";
  std::vector<std::string> columns{"setting"};
  for (std::size_t i = 0; i < runs.size(); ++i) columns.push_back(run_key(i, runs[i].name));
  if (count <= kMostSettings) return table(columns, rows);
  return table(columns, rows) +
         paragraph(aside(fmt::format("and {} more", grouped(count - kMostSettings))));
}

}  // namespace

std::string settings_section(const std::vector<RunView>& runs) {
  std::string content;
  if (runs.size() > 1) {
    const std::string differing = settings_table(runs, true);
    content = differing.empty() ? paragraph("All settings are the same.")
                                : heading("What differs") + differing;
  }
  return section("Settings",
                 content + details("All settings", settings_table(runs, false), runs.size() == 1));
}

namespace {

// For a class: number of images, number of correct ones.
struct ClassCount {
  std::size_t label = 0;
  std::uint64_t samples = 0;
  std::uint64_t correct = 0;
  double accuracy() const {
    return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
  }
};

std::vector<ClassCount> count_classes(const StoredEvaluation& evaluation) {
  std::vector<ClassCount> counts(evaluation.classes.size());
  for (std::size_t k = 0; k < counts.size(); ++k) counts[k].label = k;
  for (const StoredEvaluation::Confusion& c : evaluation.confusion) {
    ClassCount& count = counts[static_cast<std::size_t>(c.label)];
    count.samples += c.samples;
    if (c.label == c.prediction) count.correct += c.samples;
  }
  return counts;
}

// A class name may be of any length, and appears in many places.
std::string class_name(const StoredEvaluation& evaluation, std::int32_t label) {
  return shown_short(from_utf8(evaluation.classes[static_cast<std::size_t>(label)]));
}

std::string class_html(const StoredEvaluation& evaluation, std::int32_t label) {
  return name_html(class_name(evaluation, label));
}

// Rows are labels, columns predictions. Darker cells have a larger share of the label.
std::string matrix_svg(const StoredEvaluation& evaluation) {
  const std::size_t n = evaluation.classes.size();
  const bool written = n <= kMostClassesWritten;
  const double left = written ? 110 : 0;
  const double side = (written ? 330.0 : 440.0) / static_cast<double>(n);
  const std::vector<ClassCount> counts = count_classes(evaluation);
  std::vector<std::string> names;  // for SVG, which knows no HTML
  for (std::size_t k = 0; k < n; ++k) {
    names.push_back(escaped(class_name(evaluation, static_cast<std::int32_t>(k))));
  }
  std::string out = fmt::format(
      "<svg class=\"chart matrix\" viewBox=\"0 0 440 {0:.1f}\" role=\"img\" "
      "aria-label=\"confusion matrix\">\n<rect class=\"rest\" x=\"{1}\" width=\"{0:.1f}\" "
      "height=\"{0:.1f}\"/>\n",
      side * static_cast<double>(n), left);
  for (const StoredEvaluation::Confusion& c : evaluation.confusion) {
    const double x = left + side * c.prediction;
    const double y = side * c.label;
    const double share = static_cast<double>(c.samples) /
                         static_cast<double>(counts[static_cast<std::size_t>(c.label)].samples);
    out += fmt::format(
        "<g><title>{}: {} taken for {}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" "
        "width=\"{:.2f}\" height=\"{:.2f}\" fill-opacity=\"{:.2f}\"/>",
        names[static_cast<std::size_t>(c.label)], grouped(c.samples),
        names[static_cast<std::size_t>(c.prediction)], c.label == c.prediction ? "right" : "wrong",
        x, y, side, side, 0.08 + 0.92 * share);
    if (written) {
      out += fmt::format("<text class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + side / 2,
                         y + side / 2 + 3.5, c.samples);
    }
    out += "</g>\n";
  }
  for (std::size_t k = 0; written && k < n; ++k) {
    out += fmt::format("<text class=\"tick last\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", left - 6,
                       side * (static_cast<double>(k) + 0.5) + 4, names[k]);
  }
  return out + "</svg>\n";
}

std::string confusions_table(const StoredEvaluation& evaluation) {
  std::vector<StoredEvaluation::Confusion> wrong;
  for (const auto& c : evaluation.confusion) {
    if (c.label != c.prediction) wrong.push_back(c);
  }
  std::ranges::stable_sort(wrong,
                           [](const auto& a, const auto& b) { return a.samples > b.samples; });
  wrong.resize(std::min(kMostListed, wrong.size()));
  std::string rows;
  for (const auto& c : wrong) {
    rows += row(cell(class_html(evaluation, c.label)) + cell(class_html(evaluation, c.prediction)) +
                number_cell(grouped(c.samples)) + bar_cell({c.samples}, wrong.front().samples));
  }
  if (rows.empty()) return "";
  return heading("Most often confused") + table({"label", "taken for", "#images", ""}, rows);
}

std::string classes_table(const StoredEvaluation& evaluation) {
  std::vector<ClassCount> counts = count_classes(evaluation);
  std::erase_if(counts, [](const ClassCount& c) { return c.samples == 0; });
  std::ranges::stable_sort(
      counts, [](const auto& a, const auto& b) { return a.accuracy() < b.accuracy(); });
  counts.resize(std::min(kMostListed, counts.size()));
  std::string rows;
  for (const ClassCount& c : counts) {
    rows += row(cell(class_html(evaluation, static_cast<std::int32_t>(c.label))) +
                number_cell(grouped(c.samples)) + number_cell(percent(c.accuracy())) +
                bar_cell({c.correct}, c.samples));
  }
  return heading("Classes that are hardest") + table({"class", "#images", "#right", ""}, rows);
}

std::string mistakes_html(const RunView& run) {
  if (run.mistakes.empty()) return "";
  std::string all;
  for (const ShownMistake& shown : run.mistakes) {
    const StoredEvaluation::Mistake& m = shown.mistake;
    const std::string picture =
        shown.jpeg.empty()
            ? ""
            : fmt::format("<img alt=\"\" src=\"{}\" />", data_uri("image/jpeg", shown.jpeg));
    const std::string name = shown.name.empty() ? fmt::format("id {}", m.id) : shown.name;
    all += figure(
        fmt::format("{} taken for <b>{}</b><br />loss {:.3g}<br />{}",
                    class_html(*run.evaluation, m.label), class_html(*run.evaluation, m.prediction),
                    m.loss, aside(name_html(name))),
        "");
    if (!picture.empty()) all.insert(all.rfind("<figcaption>"), picture + "\n");
  }
  return heading(fmt::format("The {} mistakes of largest loss", run.mistakes.size())) +
         (run.no_pictures.empty() ? "" : paragraph(name_html(run.no_pictures))) +
         "<div class=\"mistakes\">\n" + all + "</div>\n";
}

std::string evaluation_section(const RunView& run) {
  if (!run.evaluation) return "";
  const StoredEvaluation& evaluation = *run.evaluation;
  std::uint64_t samples = 0;
  std::uint64_t correct = 0;
  for (const ClassCount& count : count_classes(evaluation)) {
    samples += count.samples;
    correct += count.correct;
  }
  std::string content =
      paragraph(fmt::format("{} of {} of {} correct after {}.", grouped(correct),
                            count_of(samples, "labelled image"), name_html(evaluation.about.split),
                            count_of(static_cast<std::uint64_t>(evaluation.about.step), "step")));
  if (evaluation.classes.size() <= kMostClassesDrawn) {
    content +=
        figure("Confusion: a row is a class, a column the class predicted", matrix_svg(evaluation));
  }
  return section(
      "Last evaluation: " + name_html(run.name),
      content + confusions_table(evaluation) + classes_table(evaluation) + mistakes_html(run));
}

std::string setting(const RunView& run, const std::string& name) {
  const auto value = run.settings.find(name);
  return value == run.settings.end() ? "" : value->second;
}

// The figure to compare runs by: on test, else on val.
std::optional<std::pair<std::string, double>> verdict_of(const RunView& run) {
  for (const std::string name : {"test.top1", "val.top1"}) {
    if (const auto value = last_of(run, name)) return std::pair(name, *value);
  }
  return std::nullopt;
}

std::string header_of(const std::vector<RunView>& runs) {
  std::string title;
  std::string verdict;
  for (const RunView& run : runs) {
    title += (title.empty() ? "" : ", ") + name_html(run.name);
    const auto figure = verdict_of(run);
    verdict += fmt::format("{}: {}{}. ", name_html(run.name), name_html(setting(run, "net.name")),
                           figure ? fmt::format(", {} {}", figure->first, percent(figure->second))
                                  : std::string(", not evaluated yet"));
  }
  std::string tiles;
  for (const RunView& run : runs) {
    const auto figure = verdict_of(run);
    if (figure && runs.size() <= kColours) {
      tiles += tile(percent(figure->second), name_html(run.name) + " " + figure->first);
    }
  }
  if (runs.size() == 1 && !runs.front().rows.empty()) {
    const MetricsRow& last = runs.front().rows.back();
    tiles +=
        tile(fmt::format("{:.4g}", last.epoch), "epochs") +
        tile(grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(0, last.step))), "steps") +
        tile(in_seconds(last.wall), "of training");
  }
  return page_header("winnow report", title, verdict, tiles);
}

}  // namespace

std::string_view run_style() noexcept { return kRunStyle; }

std::string html_of(const std::vector<RunView>& runs, const std::string& made) {
  std::string body = header_of(runs) + curves_section(runs) + figures_section(runs) +
                     repetitions_section(runs) + settings_section(runs);
  for (const RunView& run : runs) body += evaluation_section(run);
  std::string title;
  for (const RunView& run : runs) title += (title.empty() ? "" : ", ") + shown(run.name);
  return html_page({.title = title, .body = body, .made = made, .style = kRunStyle});
}

}  // namespace winnow::app
