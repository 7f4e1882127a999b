#include <gtest/gtest.h>

#include <string_view>

#include "app/page/curves.h"
#include "app/page/html.h"
#include "app/page/ingest_page.h"
#include "app/page/page.h"
#include "app/page/svg.h"

namespace winnow::app::report_test {

using pipeline::Fate;
using pipeline::Stage;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The first element that is not closed in order, or a stray character; empty if the text is well
// formed.
std::string fault_of(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string tag(html.substr(at + 1, end - at - 1));
    at = end;
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return "</" + tag.substr(1) + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

pipeline::LedgerRow input(std::string name, Fate fate, std::string reason) {
  return {.id = 0,
          .name = std::move(name),
          .split = Split::kTrain,
          .fate = fate,
          .reason = std::move(reason)};
}

constexpr std::string_view kHostile = "<script>alert('x')</script>&\"\xFF\x1B[31m\xE2\x80\xAE.jpg";

IngestPage example(std::size_t classes = 3) {
  IngestPage page;
  pipeline::Manifest& m = page.manifest;
  m.sources = {{.name = std::string(kHostile),
                .format = "image_folder",
                .inputs = 1240,
                .listing_hash = {},
                .class_names = {}}};
  m.inputs.by_fate = pipeline::by_name({});
  m.inputs.by_fate["ok"] = 1200;
  m.inputs.by_fate["truncated"] = 35;
  m.inputs.by_fate["unsupported"] = 5;
  m.inputs.total = 1240;
  m.images.split_counts = {0, 1000, 0, 200};
  m.images.channels = 3;
  m.images.pixel_sums = {.pixels = 2, .sum = {255, 102, 51}, .sum_of_squares = {65025, 5202, 2601}};
  m.store = "original";
  m.settings.store = "original";
  m.settings.fingerprints.hashes = {"phash:1"};
  m.settings.shard_bytes = 1 << 20;
  pipeline::Statistics s(classes);
  for (std::size_t i = 0; i < classes; ++i) {
    m.classes.push_back(i == 0 ? std::string(kHostile) : "class " + std::to_string(i));
    s.splits[1].classes[i] = 1 + i;
  }
  s.short_side = {.first = 16, .counts = {1000, 200}};
  s.pixels = {.first = 17, .counts = {1200}};
  s.aspect = {.first = pipeline::kSquare, .counts = {300, 0, 900}};
  s.file_bytes = {.first = 16, .counts = {1200}};
  s.total_pixels = 1200 * 187'500;
  s.total_file_bytes = std::uint64_t{1200} * 110'000;
  s.smallest = {.id = 3, .width_px = 300, .height_px = 256};
  s.largest = {.id = 5, .width_px = 500, .height_px = 400};
  m.images.statistics = std::move(s);
  for (int i = 0; i < 35; ++i) {
    page.examples.add(
        input("cut " + std::to_string(i) + std::string(kHostile), Fate::kTruncated, "ends early"));
  }
  page.examples.add(input("a.heic", Fate::kUnsupported, "HEIC: convert <it>"));
  page.examples.add(input("fine.jpg", Fate::kOk, ""));
  page.examples.add(input("odd.jpg", Fate::kOk, "premature end of a scan"));
  page.remarks.warned = 1;
  page.remarks.unsupported = {{"HEIC: convert <it>", 5}};
  page.digest = std::string(32, 'd');
  page.cache = "my cache";
  IngestPage::Run& run = page.run.emplace();
  run.times.emplace();
  run.times->wall_seconds = 10;
  run.times->stages = {{{2, 4}, {14, 2}, {4, 2}, {1, 2}, {3, 1}}};
  run.seconds = 10;
  run.inputs_done = 1240;
  run.skipped = {{"no image by its <name>", 17}};
  run.command = {"winnow", "ingest", "my photos", "--out", "my cache"};
  run.folder = "/home/<me>";
  page.made = "made by hand";
  return page;
}

TEST(Page, IsWellFormedWhateverTheNamesAre) {
  for (const std::size_t classes : {0, 1, 3, 500}) {
    const std::string html = html_of(example(classes));
    EXPECT_EQ(fault_of(html), "");
    EXPECT_EQ(count_of(html, "<script"), 0U);
    EXPECT_EQ(html.find('\x1B'), std::string::npos);
    EXPECT_EQ(html.find('\xFF'), std::string::npos);
    EXPECT_NE(
        html.find("<bdi>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\\xFF\\x1B[31m"),
        std::string::npos);
    EXPECT_EQ(html.find("http://"), html.find("http://www.w3.org/1999/xhtml"));
    EXPECT_EQ(count_of(html, "://"), 1U);  // nothing is fetched from elsewhere
  }
  EXPECT_NE(fault_of("<p><b>x</p></b>"), "");
  EXPECT_NE(fault_of("<p>x"), "");
}

TEST(Page, HasTheNumbers) {
  const std::string html = html_of(example());
  for (const char* part :
       {"40 inputs of 1,240 could not be read (3.23 %)",
        "<td class=\"n\">1,200</td>",
        "<td class=\"n\">35</td><td class=\"n\">2.82 %</td>",
        "0.19 megapixels",
        "107 KiB",
        "256-362 px: 1,000 images",
        "363-511 px: 200 images",
        "300 × 256",
        "500 × 400",
        "<td class=\"n\">0.5000</td>",
        "124 inputs a second",
        "Decoding is the slowest stage: its 2 workers worked 95 % of the time, 74 % of that on it",
        "<pre>winnow ingest &#39;my photos&#39; --out &#39;my cache&#39;</pre>",
        "<pre>winnow verify &#39;my cache&#39;</pre>",
        "[&quot;phash:1&quot;]",
        "dddddddddddddddddddddddddddddddd",
        "HEIC: convert &lt;it&gt;",
        "premature end of a scan",
        "3 classes: 1 to 3 images a class.",
        "no image by its &lt;name&gt;",
        "made by hand",
        "/home/&lt;me&gt;"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(html.find("fine.jpg"), std::string::npos);
  EXPECT_NE(html.find("35 inputs; the first 20 are shown"), std::string::npos);
  EXPECT_NE(html.find("cut 19"), std::string::npos);
  EXPECT_EQ(html.find("cut 20"), std::string::npos);
}

TEST(Page, OfManyClassesShowsTheEnds) {
  const std::string html = html_of(example(500));
  EXPECT_NE(html.find("The 15 largest"), std::string::npos);
  EXPECT_NE(html.find("<bdi>class 499</bdi>"), std::string::npos);
  EXPECT_NE(html.find("<bdi>class 14</bdi>"), std::string::npos);
  EXPECT_EQ(html.find("<bdi>class 250</bdi>"), std::string::npos);
}

TEST(Page, OfAnOlderCacheDoesWithoutStatistics) {
  IngestPage page = example();
  page.manifest.images.statistics.reset();
  page.run->times.reset();
  EXPECT_EQ(fault_of(html_of(page)), "");
  page.run.reset();
  EXPECT_EQ(fault_of(html_of(page)), "");
  EXPECT_EQ(html_of(page).find("inputs a second"), std::string::npos);
}

TEST(Page, OfNothing) {
  IngestPage page;
  page.manifest.inputs.by_fate = pipeline::by_name({});
  page.manifest.images.statistics.emplace();
  EXPECT_EQ(fault_of(html_of(page)), "");
  page.manifest.inputs.by_fate["corrupt"] = page.manifest.inputs.total = 3;
  EXPECT_EQ(fault_of(html_of(page)), "");
}

// Another report needs no more than this.
TEST(Parts, MakeAnyPage) {
  const std::string shelf(kHostile);
  std::string rows = row(cell(name_html(shelf)) + number_cell("12") + bar_cell({3, 9}, 12));
  rows += row(key_cell("none") + number_cell("0") + cell(""), RowLook::kFaint);
  rows += row(cell("all") + number_cell("12") + cell(""), RowLook::kSum);
  const std::string chart =
      figure("Pages", columns_svg("Pages", {{"1", "one", 4}, {"<", "more", 8}}));
  const std::string html = html_page(
      {.title = shelf,
       .body =
           page_header("books", name_html(shelf), "All are there.", tile("12", "books")) +
           section("Shelves", paragraph("Two " + aside("of oak") + ".") + colour_key(1, "read") +
                                  table({"shelf", "#books", ""}, rows)) +
           section("Pages", heading("By book") + figures(chart + chart) +
                                picture("<look>", as_bytes("Many hands make light work.")) +
                                picture("a", as_bytes("a")) + picture("ab", as_bytes("ab")) +
                                details("The rest", command_line("ls <books>"), true)),
       .made = shelf});
  EXPECT_EQ(fault_of(html), "");
  EXPECT_EQ(count_of(html, "<script"), 0U);
  EXPECT_EQ(count_of(html, "<section>"), 2U);
  EXPECT_NE(html.find("<th>shelf</th><th class=\"n\">books</th><th></th>"), std::string::npos);
  EXPECT_NE(html.find("<tr class=\"none\"><td class=\"k\">none</td>"), std::string::npos);
  EXPECT_NE(html.find("<pre>ls &lt;books&gt;</pre>"), std::string::npos);
  for (const char* coded : {"TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu\"", "YQ==\"", "YWI=\""}) {
    EXPECT_NE(html.find(std::string("src=\"data:image/png;base64,") + coded), std::string::npos);
  }
  EXPECT_NE(html.find("alt=\"&lt;look&gt;\""), std::string::npos);
  EXPECT_NE(html.find("<details open=\"open\">"), std::string::npos);
}

TEST(Svg, ColumnsAreAsHighAsTheyCount) {
  const std::string svg =
      columns_svg("sizes", {{"1", "a", 100}, {"2", "b", 50}, {"3", "c", 0}, {"<", "d", 1}});
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_EQ(count_of(svg, "<rect"), 3U);
  EXPECT_NE(svg.find("height=\"150.0\""), std::string::npos);
  EXPECT_NE(svg.find("height=\"75.0\""), std::string::npos);
  EXPECT_NE(svg.find(">66 %<"), std::string::npos);
  EXPECT_EQ(count_of(svg, " %<"), 2U);  // the last has less than 1 %
  EXPECT_NE(svg.find(">&lt;<"), std::string::npos);
}

TEST(Svg, BarsAreAsLongAsTheyCount) {
  const std::string svg = bar_svg({50, 0, 25}, 100);
  EXPECT_NE(svg.find("class=\"part0\" x=\"0.00\" width=\"100.00\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"part2\" x=\"100.00\" width=\"50.00\""), std::string::npos);
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_EQ(fault_of(bar_svg({0}, 0)), "");
}

TEST(Curves, EveryLineIsDrawnAndNamesAreEscaped) {
  CurveChart chart{.name = "a < b",
                   .x_name = "epoch",
                   .curves = {{.name = "<i>", .points = {{0.5, 1}, {1, 3}, {2, 2}}},
                              {.name = "once", .points = {{2, 2}}, .colour = 9, .dashed = true},
                              {.name = "none", .points = {}}}};
  const std::string svg = curves_svg(chart);
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_EQ(count_of(svg, "<path "), 1U);
  EXPECT_EQ(count_of(svg, "<circle class=\"curve run1 dashed\""), 1U);
  EXPECT_NE(svg.find("&lt;i&gt;: 2 at 2"), std::string::npos);
  EXPECT_NE(svg.find("M142.0,200.0L238.0,10.0L430.0,105.0"), std::string::npos) << svg;
  chart.curves = {{.name = "none", .points = {}}};
  EXPECT_EQ(curves_svg(chart), "");
}

TEST(Curves, WideRangesAreLogarithmicWhereThatIsWanted) {
  CurveChart chart{.name = "loss",
                   .x_name = "epoch",
                   .log_if_wide = true,
                   .curves = {{.name = "run", .points = {{0, 0.01}, {1, 100}}}}};
  EXPECT_NE(curves_svg(chart).find(">0.01<"), std::string::npos);
  EXPECT_NE(curves_svg(chart).find(">1<"), std::string::npos);
  chart.curves.front().points.front().y = 0;  // has no logarithm
  EXPECT_EQ(curves_svg(chart).find(">0.01<"), std::string::npos);
  EXPECT_NE(curves_svg(chart).find(">80<"), std::string::npos);
}

TEST(Curves, RatesAreShownByTheirLogarithms) {
  CurveChart chart{
      .name = "accuracy",
      .x_name = "rate",
      .log_x = true,
      .curves = {{.name = "a", .points = {{0.01, 1}, {0.1, 2}, {1, 3}}, .scattered = true}}};
  const std::string svg = curves_svg(chart);
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_EQ(count_of(svg, "<circle "), 3U);
  EXPECT_EQ(count_of(svg, "<path "), 0U);
  EXPECT_NE(svg.find("cx=\"238.0\""), std::string::npos) << "in the middle" << svg;
  for (const char* const tick : {">0.01<", ">0.02<", ">0.05<", ">0.1<", ">0.5<", ">1<"}) {
    EXPECT_NE(svg.find(tick), std::string::npos) << tick;
  }
  chart.curves[0].points = {{1e-5, 1}, {10, 2}};  // six decades: only powers of ten
  EXPECT_EQ(curves_svg(chart).find(">0.02<"), std::string::npos);
  EXPECT_NE(curves_svg(chart).find(">0.001<"), std::string::npos);
  chart.curves[0].points = {{0.3, 1}};
  EXPECT_NE(curves_svg(chart).find(">0.3<"), std::string::npos);
}

TEST(Curves, OfTheLargestAndTheSmallestNumbersAreDrawnInNumbers) {
  for (const bool log : {false, true}) {
    CurveChart chart{.name = "loss",
                     .x_name = "epoch",
                     .log_if_wide = log,
                     .curves = {{.name = "run", .points = {}}}};
    for (const double y : {5e-324, 1e-320, 1e-101, 1.0, 1e100}) {
      chart.curves[0].points.push_back({y, y});
      chart.curves[0].points.push_back({y, log ? y : -y});
      const std::string svg = curves_svg(chart);
      EXPECT_EQ(svg.find("inf"), std::string::npos) << y << svg;
      EXPECT_EQ(svg.find("nan"), std::string::npos) << y << svg;
    }
  }
}

TEST(Curves, HaveBarsThatStayInThePicture) {
  CurveChart chart{
      .name = "accuracy",
      .x_name = "% removed",
      .percent = true,
      .curves = {{.name = "phash", .points = {{0, 0.9, 0.2}, {10, 0.85, 0}, {20, 0.8, 0.05}}}}};
  const std::string svg = curves_svg(chart);
  EXPECT_EQ(count_of(svg, "stroke-opacity"), 2U) << "one without a spread has none";
  EXPECT_NE(svg.find("phash: 0.75 to 0.85 at 20"), std::string::npos);
  EXPECT_NE(svg.find(">70 %<"), std::string::npos) << "the axis holds them";
  EXPECT_EQ(svg.find(">110 %<"), std::string::npos);
  EXPECT_NE(svg.find("y1=\"200.0\" x2=\"46.0\" y2=\"10.0\""), std::string::npos) << "cut at 100 %";
}

TEST(Names, AreCutBetweenCharacters) {
  EXPECT_EQ(shown_short("a name"), "a name");
  EXPECT_EQ(shown_short(std::string(100, 'a')), std::string(100, 'a'));
  EXPECT_EQ(shown_short(std::string(101, 'a')), std::string(100, 'a') + "…");
  std::string wide;
  for (int i = 0; i < 60; ++i) wide += "é";
  EXPECT_EQ(shown_short("a" + wide), "a" + wide.substr(0, 98) + "…");
  EXPECT_EQ(shown_short(std::string(60, '\x01')).size(), 103U);
  EXPECT_EQ(shown_short(std::string(1'000'000, '&')).size(), 103U);
}

TEST(Curves, ThousandsOfPointsBecomeHundreds) {
  CurveChart chart{.name = "loss", .x_name = "epoch", .curves = {{.name = "run", .points = {}}}};
  for (int i = 0; i < 100'000; ++i) chart.curves[0].points.push_back({i * 1.0, 2});
  const std::string svg = curves_svg(chart);
  EXPECT_LT(svg.size(), 8000U);
  EXPECT_EQ(count_of(svg, ",105.0"), 300U) << "all means are the number itself";
}

}  // namespace winnow::app::report_test
