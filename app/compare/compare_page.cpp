#include "app/compare/compare_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "common/statistics.h"

namespace winnow::app {
namespace {

std::string range_html(const Interval& shares) {
  return fmt::format("{} to {}", percent(shares.least), percent(shares.most));
}

std::string runs_section_of(const ComparePage& page) {
  std::string rows;
  for (std::size_t recipe = 0; recipe < page.comparison.recipes.size(); ++recipe) {
    for (const std::size_t i : page.comparison.recipes[recipe]) {
      const ComparedRun& run = page.runs[i];
      const std::uint64_t right = run.right();
      rows += row(key_cell(run_key(i, run.name)) + number_cell(grouped(recipe + 1)) +
                  number_cell(name_html(run.seed())) + number_cell(grouped(right)) +
                  number_cell(percent(static_cast<double>(right) /
                                      static_cast<double>(page.comparison.images))) +
                  number_cell(range_html(wilson(right, page.comparison.images))) +
                  bar_cell({right}, page.comparison.images));
    }
  }
  return section(
      "Runs",
      paragraph(fmt::format("On the same {} images of {}. The range is what other images of this "
                            "kind would give, with 95 % confidence (Wilson); it says nothing of "
                            "other seeds.",
                            grouped(page.comparison.images), name_html(page.split))) +
          table({"run", "#recipe", "#seed", "#right", "#accuracy", "#95 %", ""}, rows));
}

std::string pairs_table(const ComparePage& page, const ComparisonWithFirst& beside) {
  std::string rows;
  for (const RunPair& pair : beside.pairs) {
    rows +=
        row(key_cell(name_html(page.runs[pair.first].name)) +
            key_cell(name_html(page.runs[pair.other].name)) + number_cell(grouped(pair.hits.both)) +
            number_cell(grouped(pair.hits.only_a)) + number_cell(grouped(pair.hits.only_b)) +
            number_cell(grouped(pair.hits.neither)) + number_cell(fmt::format("{:.3g}", pair.p)) +
            number_cell(fmt::format("{:+.2f} to {:+.2f}", 100 * pair.difference.least,
                                    100 * pair.difference.most)));
  }
  return table({"first", "other", "#both right", "#first alone", "#other alone", "#neither",
                "#p (McNemar)", "#points, 95 %"},
               rows);
}

std::string folds_table(const ComparisonWithFirst& beside) {
  std::string rows;
  for (const FoldPair& fold : beside.folds) {
    rows += row(key_cell(fmt::format("{}", fold.fold)) + number_cell(grouped(fold.images)) +
                number_cell(percent(fold.first)) + number_cell(percent(fold.other)) +
                number_cell(fmt::format("{:+.2f}", 100 * (fold.other - fold.first))));
  }
  return table({"fold", "#images left out", "#first", "#other", "#points"}, rows);
}

// The prediction of each run of a recipe: "cat, cat, dog".
std::string predictions_html(const ComparePage& page, std::size_t recipe, std::size_t place) {
  std::string text;
  for (const std::size_t run : page.comparison.recipes[recipe]) {
    const auto predicted = static_cast<std::size_t>(page.runs[run].predictions[place]);
    text += (text.empty() ? "" : ", ") + name_html(shown_short(page.classes[predicted]));
  }
  return text;
}

std::string images_html(const ComparePage& page, std::size_t recipe, const std::string& title,
                        const std::vector<ShownDifference>& images, std::size_t more) {
  if (images.empty()) return "";
  std::string all;
  for (const ShownDifference& shown : images) {
    const std::size_t place = shown.image.place;
    const auto label = static_cast<std::size_t>(page.runs.front().labels[place]);
    const std::string picture =
        shown.jpeg.empty()
            ? ""
            : fmt::format("<img alt=\"\" src=\"{}\" />\n", data_uri("image/jpeg", shown.jpeg));
    all += fmt::format(
        "<figure>\n{}<figcaption><b>{}</b><br />first: {}<br />other: {}<br />{}</figcaption>\n"
        "</figure>\n",
        picture, name_html(shown_short(page.classes[label])), predictions_html(page, 0, place),
        predictions_html(page, recipe, place), aside(name_html(shown.name)));
  }
  const std::string rest =
      more == 0 ? "" : paragraph(aside(fmt::format("and {} more", grouped(more))));
  return heading(title) + "<div class=\"mistakes\">\n" + all + "</div>\n" + rest;
}

std::string beside_section(const ComparePage& page, std::size_t number) {
  const ComparisonWithFirst& beside = page.comparison.others[number];
  const ComparedRun& first = page.runs[page.comparison.recipes.front().front()];
  const ComparedRun& other = page.runs[page.comparison.recipes[beside.recipe].front()];
  std::string content = paragraph(escaped(in_words(beside, page.margin))) +
                        paragraph(aside(escaped(what_differs(first, other))));
  if (!beside.folds.empty()) content += folds_table(beside);
  if (!beside.pairs.empty()) content += pairs_table(page, beside);
  const ShownDifferences& images = page.differences[number];
  if (!page.no_pictures.empty()) content += paragraph(escaped(page.no_pictures));
  content += images_html(page, beside.recipe, "Right more often than by the first", images.gained,
                         images.more_gained) +
             images_html(page, beside.recipe, "Right less often than by the first", images.lost,
                         images.more_lost);
  return section(fmt::format("{} versus {}", name_html(recipe_name(page, beside.recipe)),
                             name_html(recipe_name(page, 0))),
                 content);
}

std::string header_of(const ComparePage& page) {
  std::string verdict;
  std::string tiles;
  for (const ComparisonWithFirst& beside : page.comparison.others) {
    verdict += fmt::format("{}: {}. ", name_html(recipe_name(page, beside.recipe)),
                           escaped(in_words(beside, page.margin)));
  }
  for (std::size_t recipe = 0; recipe < std::min<std::size_t>(8, page.comparison.recipes.size());
       ++recipe) {
    const std::vector<std::size_t>& runs = page.comparison.recipes[recipe];
    double mean = 0;
    for (const std::size_t run : runs) {
      mean += static_cast<double>(page.runs[run].right()) /
              static_cast<double>(page.comparison.images * runs.size());
    }
    tiles += tile(percent(mean), name_html(recipe_name(page, recipe)));
  }
  return page_header("winnow compare",
                     fmt::format("{} runs on {} images of {}", page.runs.size(),
                                 grouped(page.comparison.images), name_html(page.split)),
                     verdict, tiles);
}

}  // namespace

std::string recipe_name(const ComparePage& page, std::size_t recipe) {
  const std::vector<std::size_t>& runs = page.comparison.recipes[recipe];
  const std::string& name = page.runs[runs.front()].name;
  if (runs.size() == 1) return name;
  return fmt::format("{} and {} more of its recipe", name, runs.size() - 1);
}

std::string html_of(const ComparePage& page, const std::string& made) {
  std::string body = header_of(page) + runs_section_of(page);
  for (std::size_t i = 0; i < page.comparison.others.size(); ++i) body += beside_section(page, i);
  if (page.folds > 0) {
    body += paragraph(fmt::format("Curves are of the first of {} folds.", page.folds));
  }
  body += curves_section(page.views) + settings_section(page.views);
  return html_page({.title = "runs compared", .body = body, .made = made, .style = run_style()});
}

}  // namespace winnow::app
