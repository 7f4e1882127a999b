#include "app/predict/predict_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "common/utf8.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kMostBytes = 8'000'000;
constexpr std::size_t kMostClasses = 200;  // that are shown with pictures

constexpr std::string_view kStyle = R"(
.examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .75rem; }
.examples figure { padding: .5rem; overflow-wrap: anywhere; }
.examples img { display: block; max-width: 100%; height: 7rem; margin: 0 auto .4rem; object-fit: contain; }
@media print { figure, tr { break-inside: avoid; } }
)";

// The classes with the most images first, of equal ones in their order.
std::vector<std::size_t> by_images(const PredictReport& report) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < report.classes.size(); ++k) {
    if (report.by_class[k].images > 0) order.push_back(k);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return report.by_class[a].images > report.by_class[b].images;
  });
  return order;
}

std::string class_html(const PredictReport& report, std::size_t k) {
  return name_html(shown_short(from_utf8(report.classes[k])));
}

std::string counts_section(const PredictPage& page) {
  const PredictReport& report = page.report;
  const std::vector<std::size_t> order = by_images(report);
  if (order.empty()) return "";
  const std::uint64_t most = report.by_class[order.front()].images;
  std::string rows;
  for (const std::size_t k : order) {
    const std::uint64_t images = report.by_class[k].images;
    rows += row(key_cell(class_html(report, k)) + number_cell(grouped(images)) +
                bar_cell({images}, most));
  }
  const std::size_t none = report.classes.size() - order.size();
  const std::string rest =
      none == 0 ? "" : paragraph(aside(fmt::format("No image is of {} other classes.", none)));
  return section("Classes", table({"class", "#images", ""}, rows) + rest);
}

std::string inputs_section(const PredictReport& report) {
  std::string rows;
  for (int fate = 0; fate < pipeline::kFateCount; ++fate) {
    const std::uint64_t count = report.by_fate[static_cast<std::size_t>(fate)];
    if (count == 0) continue;
    rows += row(key_cell(escaped(pipeline::fate_name(static_cast<pipeline::Fate>(fate)))) +
                number_cell(grouped(count)));
  }
  return section("Inputs", paragraph("What became of each; ledger.jsonl says why.") +
                               table({"", "#inputs"}, rows));
}

std::string examples_html(const PredictPage& page, const std::vector<Example>& examples) {
  std::string all;
  for (const Example& example : examples) {
    const auto jpeg = page.jpegs.find(example.at);
    const std::string picture =
        jpeg == page.jpegs.end()
            ? ""
            : fmt::format("<img alt=\"\" src=\"{}\" />\n", data_uri("image/jpeg", jpeg->second));
    all += fmt::format("<figure>\n{}<figcaption><b>{}</b><br />{}</figcaption>\n</figure>\n",
                       picture, percent(double{example.probability}),
                       aside(name_html(shown_short(example.name))));
  }
  return "<div class=\"examples\">\n" + all + "</div>\n";
}

std::string examples_section(const PredictPage& page) {
  const PredictReport& report = page.report;
  std::string content;
  std::size_t shown = 0;
  for (const std::size_t k : by_images(report)) {
    if (shown++ == kMostClasses) break;
    const ClassSummary& one = report.by_class[k];
    const std::string both = heading("The surest") + examples_html(page, one.surest) +
                             heading("The least sure") + examples_html(page, one.least_sure);
    content += details(fmt::format("{}: {} images", class_html(report, k), grouped(one.images)),
                       both, shown <= 10);
  }
  return content.empty() ? "" : section("The surest and the least sure of each class", content);
}

std::string header_of(const PredictPage& page) {
  const PredictReport& report = page.report;
  const std::uint64_t readable = report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)];
  std::string verdict =
      fmt::format("{} images predicted by {}.", grouped(readable), name_html(page.by));
  if (readable < report.images) {
    verdict += fmt::format(" {} inputs could not be read.", grouped(report.images - readable));
  }
  if (report.without_class > 0) {
    verdict += fmt::format(" {} images have no class above {}.", grouped(report.without_class),
                           page.threshold);
  }
  return page_header("winnow predict", name_html(page.title), verdict,
                     tile(grouped(readable), "images") +
                         tile(grouped(report.classes.size()), "classes") +
                         tile(grouped(report.images - readable), "not readable"));
}

}  // namespace

PredictPage read_predict_page(const PredictRequest& request, const PredictReport& report) {
  PredictPage page{.report = report,
                   .title = name_of_folder(request.inputs.sources.front()),
                   .by = name_of_folder(request.net.run),
                   .threshold = request.table.threshold};
  std::set<std::uint64_t> places;
  std::size_t shown = 0;
  for (const std::size_t k : by_images(report)) {
    if (shown++ == kMostClasses) break;
    for (const auto* examples : {&report.by_class[k].surest, &report.by_class[k].least_sure}) {
      for (const Example& example : *examples) places.insert(example.at);
    }
  }
  const std::unique_ptr<Inputs> inputs = open_inputs(request.inputs);
  const pipeline::PictureOf picture_of = [&](SampleId at, int) -> std::optional<Image> {
    auto loaded = inputs->load(at);
    if (!loaded) return std::nullopt;
    return std::move(loaded->image);
  };
  const std::vector<SampleId> ids(places.begin(), places.end());
  pipeline::Thumbnails thumbnails = pipeline::make_thumbnails(
      picture_of, ids, {.most_bytes = kMostBytes, .stop = request.inputs.stop});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!thumbnails.jpegs[i].empty()) page.jpegs.emplace(ids[i], std::move(thumbnails.jpegs[i]));
  }
  return page;
}

std::string html_of(const PredictPage& page, const std::string& made) {
  const std::string body =
      header_of(page) + counts_section(page) + examples_section(page) + inputs_section(page.report);
  return html_page({.title = "predictions for " + shown_short(page.title),
                    .body = body,
                    .made = made,
                    .style = kStyle});
}

}  // namespace winnow::app
