#include "app/predict/predict_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/predict/map_file.h"
#include "app/predict/open_picture.h"
#include "app/words.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/decode/encode.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kMostBytes = 8'000'000;
constexpr std::size_t kMostClasses = 200;  // shown with pictures
constexpr std::size_t kMostMaps = 60;      // maps shown
constexpr int kMapSide = 512;              // side of their pictures, in pixels

constexpr std::string_view kStyle = R"(
.examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(7.25rem, 1fr)); gap: .75rem; }
.examples figure { padding: .5rem; overflow-wrap: anywhere; }
.examples img { display: block; max-width: 100%; height: 7rem; margin: 0 auto .4rem; object-fit: contain; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; align-items: start; }
.maps figure { padding: .5rem; overflow-wrap: anywhere; }
.maps .picture { position: relative; overflow: hidden; width: fit-content; margin: 0 auto .4rem; }
.maps .picture img { display: block; max-width: 100%; max-height: 20rem; }
.maps .picture img + img { position: absolute; top: 0; left: 0; max-width: none; max-height: none; }
.maps .picture:hover img + img { visibility: hidden; }
@media print { figure, tr { break-inside: avoid; } }
)";

// Classes by falling number of images; on a tie in their order.
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
  const std::string rest = none == 0 ? ""
                                     : paragraph(aside(count_of(none, "other class has no image.",
                                                                "other classes have no image.")));
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
  return section("Inputs", paragraph("What happened to each; ledger.jsonl says why.") +
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

std::string map_html(const ShownMap& map) {
  const std::string of_class = name_html(shown_short(from_utf8(map.of_class)));
  return fmt::format(
      "<figure>\n<div class=\"picture\"><img alt=\"\" src=\"{}\" /><img alt=\"map of {}\" "
      "src=\"{}\" "
      "style=\"width: {:.3f}%; height: {:.3f}%\" /></div>\n<figcaption><b>{}</b><br "
      "/>{}</figcaption>\n</figure>\n",
      data_uri("image/jpeg", map.jpeg), escaped(shown_short(from_utf8(map.of_class))),
      data_uri("image/png", map.png), 100 * map.width, 100 * map.height, of_class,
      aside(name_html(shown_short(map.name))));
}

std::string maps_section(const PredictPage& page) {
  if (page.maps.empty()) return "";
  std::string all;
  for (const ShownMap& map : page.maps) all += map_html(map);
  return section("Maps",
                 paragraph("Where each class is: the redder, the more probable. Windows that were "
                           "left out are clear, too. Point at a picture to see it without its map. "
                           "The numbers are in the folder maps.") +
                     "<div class=\"maps\">\n" + all + "</div>\n");
}

std::string header_of(const PredictPage& page) {
  const PredictReport& report = page.report;
  const std::uint64_t readable = report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)];
  std::string verdict =
      fmt::format("{} predicted by {}.", count_of(readable, "image"), name_html(page.by));
  if (readable < report.images) {
    verdict += fmt::format(" {} could not be read.", count_of(report.images - readable, "input"));
  }
  if (report.without_class > 0) {
    verdict +=
        fmt::format(" {} no class above {}.",
                    count_of(report.without_class, "image has", "images have"), page.threshold);
  }
  return page_header("winnow predict", name_html(page.title), verdict,
                     tile(grouped(readable), "images") +
                         tile(grouped(report.classes.size()), "classes") +
                         tile(grouped(report.images - readable), "not readable"));
}

// The maps of the pictures at these places, up to the number that is shown.
std::vector<ShownMap> read_shown_maps(const PredictRequest& request, const Inputs& inputs,
                                      const std::set<std::uint64_t>& places) {
  const WindowOptions& windows = *request.windows;
  std::vector<ShownMap> shown;
  for (const std::uint64_t at : places) {
    if (shown.size() + windows.map.classes.size() > kMostMaps || windows.map.classes.empty()) break;
    const std::string name = inputs.name(at);
    const auto path = request.out / "maps" / map_path(name, windows.map);
    const SmallPicture picture =
        small_picture(inputs, at, windows.memory_bytes, kMapSide, request.inputs.stop);
    if (picture.image.pixels.empty()) continue;
    const ClassMaps maps = read_maps(read_file(path), path.string());
    const Bytes jpeg = pipeline::encode_jpeg(picture.image.view(), 80);
    const auto step = static_cast<double>(map_step_of(windows));
    for (std::size_t c = 0; c < windows.map.classes.size(); ++c) {
      const Image overlay = map_overlay(maps, c, kMapSide);
      shown.push_back({.name = name,
                       .of_class = windows.map.classes[c],
                       .jpeg = jpeg,
                       .png = pipeline::encode_png(overlay.view()),
                       .height = step * static_cast<double>(maps.rows) / picture.size.height_px,
                       .width = step * static_cast<double>(maps.columns) / picture.size.width_px});
    }
  }
  return shown;
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
  const std::uint64_t memory = request.windows.value_or(WindowOptions()).memory_bytes;
  const pipeline::PictureOf picture_of = [&](SampleId at, int side_px) -> std::optional<Image> {
    SmallPicture picture = small_picture(*inputs, at, memory, 2 * side_px, request.inputs.stop);
    if (picture.image.pixels.empty()) return std::nullopt;
    return std::move(picture.image);
  };
  const std::vector<SampleId> ids(places.begin(), places.end());
  pipeline::Thumbnails thumbnails = pipeline::make_thumbnails(
      picture_of, ids, {.most_bytes = kMostBytes, .stop = request.inputs.stop});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!thumbnails.jpegs[i].empty()) page.jpegs.emplace(ids[i], std::move(thumbnails.jpegs[i]));
  }
  if (request.windows) page.maps = read_shown_maps(request, *inputs, places);
  return page;
}

std::string html_of(const PredictPage& page, const std::string& made) {
  const std::string body = header_of(page) + counts_section(page) + maps_section(page) +
                           examples_section(page) + inputs_section(page.report);
  return html_page({.title = "predictions for " + shown_short(page.title),
                    .body = body,
                    .made = made,
                    .style = kStyle});
}

}  // namespace winnow::app
