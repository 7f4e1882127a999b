#include "app/page/gallery_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/page/gallery_assets.h"

namespace winnow::app::gallery_page_test {

using Json = nlohmann::json;

constexpr std::string_view kHostile =
    "a</script><script>alert('x')</script>/]]>&\"\xFF\x1B\xEF\xBF\xBF\xE2\x80\xAE.jpg";

GalleryPage example() {
  GalleryPage page;
  page.title = std::string(kHostile);
  page.made = "made <here>";
  page.summary.images = 10;
  page.summary.groups = 3;
  page.summary.removed = 2;
  page.summary.leaks = {{Split::kTrain, Split::kTest, 1, 2}};
  page.summary.by_reason = {1, 0, 0, 0, 2};
  page.summary.classes = {{std::string(kHostile), 4, 2}};
  page.summary.folders = {{std::string(kHostile), "b", 1}, {"", "", 2}};
  page.summary.decided = "phash within 4 bits";
  page.pictures = "Pictures <are> small.";
  GalleryGroup group;
  group.facts = {.number = 2, .size = 2, .distance = 3, .reasons = 1, .splits = 0b1010};
  group.folders = {std::string(kHostile)};
  GalleryMember member;
  member.id = 7;
  member.name = std::string(kHostile);
  member.labels = {std::string(kHostile)};
  member.picture = "data:image/jpeg;base64,AAAA";
  group.members = {member, member};
  page.groups = {group};
  page.config = config_of(page.groups);
  return page;
}

// The content of the script element with this id.
std::string_view script(std::string_view html, const std::string& id) {
  const std::string begins = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t at = html.find(begins);
  if (at == std::string_view::npos) return {};
  html.remove_prefix(at + begins.size());
  return html.substr(0, html.find("</script>"));
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(GalleryPage, HoldsItsGroupsAsData) {
  const std::string html = html_of(example());
  const Json groups = Json::parse(script(html, "groups"));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.at(0).at("number"), 2);
  EXPECT_EQ(groups.at(0).at("members").at(1).at("id"), "7");
  const Json config = Json::parse(script(html, "config"));
  EXPECT_EQ(config.at("source"), "static");
  EXPECT_EQ(config.at("most_distance"), 3);
  EXPECT_EQ(config.at("facets").at("splits"), (Json{"train", "test"}));
  EXPECT_EQ(config.at("facets").at("classes").size(), 1U);
}

TEST(GalleryPage, NamesReachItEscaped) {
  const std::string html = html_of(example());
  EXPECT_EQ(count_of(html, "<script"), 3U);
  EXPECT_EQ(count_of(html, "</script>"), 3U);
  EXPECT_EQ(count_of(html, "]]>"), 1U);
  EXPECT_EQ(html.find('\xFF'), std::string::npos);
  EXPECT_EQ(html.find('\x1B'), std::string::npos);
  EXPECT_EQ(html.find("\xEF\xBF\xBF"), std::string::npos);
  const std::string name = Json::parse(script(html, "groups")).at(0).at("members").at(0).at("name");
  EXPECT_NE(name.find("</script>"), std::string::npos);  // but the script gets the whole name
  EXPECT_NE(name.find("\xEF\xBF\xBF"), std::string::npos);
}

TEST(GalleryPage, FetchesNothing) {
  const std::string html = html_of(example());
  for (const std::string_view word :
       {"url(", "@import", "<link", "<iframe", "import(", "src=\"h"}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(count_of(html, "://"), 1U);  // the XML namespace of its elements
}

TEST(GalleryPage, SaysWhatItLeavesOut) {
  EXPECT_NE(html_of(example()).find("This page shows 1 of 3 groups"), std::string::npos);
  GalleryPage all = example();
  all.summary.groups = 1;
  EXPECT_EQ(html_of(all).find("This page shows"), std::string::npos);
}

TEST(GalleryPage, SaysWhatItsVerbSays) {
  EXPECT_NE(html_of(example()).find("winnow dedup --review FILE obeys"), std::string::npos);
  GalleryPage page = example();
  page.frame = {.verb = "winnow <split>",
                .applying_verb = "winnow split",
                .about = "splits",
                .verdict = "<b>No leak.</b>",
                .tiles = "<i>tiles</i>",
                .sections = "<section>before</section>",
                .counts = false,
                .listed = "Nowhere."};
  page.config.fates = {{"kept", "in <train>"}};
  page.config.first_line = R"({"sample":{"hash":"phash"}})";
  const std::string html = html_of(page);
  for (const std::string_view words :
       {"winnow &lt;split&gt;", "winnow split --review FILE obeys", ": splits</title>",
        "<b>No leak.</b>", "<i>tiles</i>", "<section>before</section>", "Nowhere."}) {
    EXPECT_NE(html.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(html.find("What was found"), std::string::npos);
  EXPECT_EQ(html.find("--list-groups"), std::string::npos);
  const Json config = Json::parse(script(html, "config"));
  EXPECT_EQ(config.at("fates").at("kept"), "in <train>");
  EXPECT_EQ(config.at("first_line").at("sample").at("hash"), "phash");
  EXPECT_FALSE(Json::parse(script(html_of(example()), "config")).contains("fates"));
}

TEST(GalleryPage, OfAServerHasNoGroups) {
  GalleryPage page = example();
  page.groups.clear();
  page.config.server = true;
  const std::string html = html_of(page);
  EXPECT_EQ(html.find("id=\"groups\""), std::string::npos);
  EXPECT_EQ(Json::parse(script(html, "config")).at("source"), "server");
  EXPECT_EQ(html.find("This page shows"), std::string::npos);
}

TEST(GalleryPage, IsTheSameForTheSameGroups) {
  EXPECT_EQ(html_of(example()), html_of(example()));
  GalleryPage other = example();
  other.groups[0].members[0].hash.bytes[0] = 1;
  EXPECT_NE(config_of(other.groups).key, example().config.key);
}

TEST(GalleryAssets, CanStandInAScriptAndAStyle) {
  EXPECT_EQ(kGalleryJs.find("</"), std::string_view::npos);
  EXPECT_EQ(kGalleryJs.find("]]>"), std::string_view::npos);
  EXPECT_EQ(kGalleryCss.find('<'), std::string_view::npos);
  EXPECT_EQ(kGalleryCss.find('&'), std::string_view::npos);
  EXPECT_NE(kGalleryJs.find("\\u001f"), std::string_view::npos);  // backslashes are preserved
}

}  // namespace winnow::app::gallery_page_test
