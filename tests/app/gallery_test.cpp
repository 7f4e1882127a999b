#include "app/page/gallery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/page/gallery_make.h"
#include "dedup/decisions/deduplicate.h"
#include "tests/dedup/tables.h"

namespace winnow::app::gallery_test {

using dedup::Fingerprints;
using Json = nlohmann::json;

struct Picture {
  std::uint64_t code;
  Split split;
  std::int32_t label;  // -1: none
  std::string name;
};

// A data set small enough to follow by hand.
struct Case {
  std::vector<Picture> pictures;
  dedup::Options options{.threshold = 8};
  std::vector<std::string> classes{"cat", "dog"};
  Fingerprints table = table_of(pictures);
  dedup::Result result = dedup::deduplicate(table, options);

  static Fingerprints table_of(const std::vector<Picture>& pictures) {
    std::vector<dedup::TestImage> images;
    for (const Picture& picture : pictures) {
      const std::uint64_t i = images.size();
      const auto labels =
          picture.label < 0 ? std::vector<std::int32_t>{} : std::vector{picture.label};
      images.push_back({.id = 10 + i,
                        .split = picture.split,
                        .labels = labels,
                        .code = picture.code,
                        .file = i,
                        .pixels = i,
                        .width_px = static_cast<std::uint32_t>(100 + i)});
    }
    return dedup::make_table(images);
  }

  GalleryInput input() const {
    return {.result = result,
            .table = table,
            .threshold = dedup::effective_threshold(options),
            .classes = classes,
            .name_of = [this](SampleId id) { return pictures[id - 10].name; }};
  }
};

constexpr std::uint64_t ones(int count) { return (std::uint64_t{1} << count) - 1; }

TEST(Facts, SayWhyAGroupIsWorthALook) {
  const Case leak{{{0, Split::kTrain, 0, "a"}, {ones(2), Split::kTest, 0, "b"}}};
  ASSERT_EQ(leak.result.groups.size(), 1U);
  const GroupFacts facts = facts_of(leak.input(), 0);
  EXPECT_TRUE(facts.has(GroupReason::kLeak));
  EXPECT_FALSE(facts.has(GroupReason::kConflict));
  EXPECT_FALSE(facts.has(GroupReason::kChain));
  EXPECT_FALSE(facts.has(GroupReason::kNear));
  EXPECT_TRUE(facts.has(Split::kTrain));
  EXPECT_TRUE(facts.has(Split::kTest));
  EXPECT_FALSE(facts.has(Split::kVal));
  EXPECT_EQ(facts.distance, 2U);
  EXPECT_EQ(facts.removed, 1U);
  EXPECT_EQ(facts.label, 0);

  const Case conflict{{{0, Split::kTrain, 0, "a"}, {ones(8), Split::kTrain, 1, "b"}}};
  const GroupFacts differing = facts_of(conflict.input(), 0);
  EXPECT_TRUE(differing.has(GroupReason::kConflict));
  EXPECT_TRUE(differing.has(GroupReason::kNear));
  EXPECT_FALSE(differing.has(GroupReason::kLeak));

  const Case chain{{{0, Split::kTrain, -1, "a"},
                    {ones(6), Split::kTrain, -1, "b"},
                    {ones(12), Split::kTrain, -1, "c"}}};
  const GroupFacts far = facts_of(chain.input(), 0);
  EXPECT_TRUE(far.has(GroupReason::kChain));
  EXPECT_FALSE(far.has(GroupReason::kNear));  // further apart than the threshold
  EXPECT_EQ(far.distance, 12U);
  EXPECT_EQ(far.diameter, 12U);
  EXPECT_EQ(far.label, -1);
}

TEST(Facts, NearIsAnEighthBelowTheThresholdAndAtLeastOneBit) {
  const auto near_at = [](int threshold, int distance) {
    const Case one{{{0, Split::kTrain, -1, "a"}, {ones(distance), Split::kTrain, -1, "b"}},
                   {.threshold = threshold}};
    return facts_of(one.input(), 0).has(GroupReason::kNear);
  };
  EXPECT_TRUE(near_at(8, 8));
  EXPECT_TRUE(near_at(8, 7));
  EXPECT_FALSE(near_at(8, 6));
  EXPECT_TRUE(near_at(16, 14));
  EXPECT_FALSE(near_at(16, 13));
  EXPECT_TRUE(near_at(4, 3));
  EXPECT_FALSE(near_at(4, 2));
  EXPECT_TRUE(near_at(1, 1));
  EXPECT_FALSE(near_at(1, 0));  // equal codes leave no doubt
}

TEST(Facts, AGroupOfWhichAllStayHasItsDiameterForADistance) {
  const Case stays{{{0, Split::kTest, 0, "a"}, {ones(5), Split::kTest, 0, "b"}}};
  ASSERT_EQ(stays.result.removed, 0U);
  EXPECT_EQ(facts_of(stays.input(), 0).distance, 5U);
}

TEST(Group, ShowsThoseThatStayThenThoseThatGoTheFurthestFirst) {
  const Case one{{{ones(1), Split::kTrain, 0, "x/0"},
                  {ones(3), Split::kTrain, 0, "x/1"},
                  {ones(2), Split::kTest, 0, "y/2"},
                  {0, Split::kTest, 0, "z/3"}}};
  ASSERT_EQ(one.result.groups.size(), 1U);
  EXPECT_EQ(shown_rows(one.input(), 0, 12), (std::vector<std::uint32_t>{2, 3, 0, 1}));
  EXPECT_EQ(shown_rows(one.input(), 0, 3), (std::vector<std::uint32_t>{2, 3, 0}));
  EXPECT_EQ(shown_rows(one.input(), 0, 2), (std::vector<std::uint32_t>{2, 0}));
  const GalleryGroup group = describe_group(one.input(), facts_of(one.input(), 0), 3);
  EXPECT_EQ(group.facts.size, 4U);
  EXPECT_EQ(group.members.size(), 3U);
  EXPECT_EQ(group.folders, (std::vector<std::string>{"x", "y", "z"}));
}

TEST(Group, OfManyThatStayAndFewThatGoAllThatGoAreShown) {
  std::vector<Picture> pictures{{0, Split::kTrain, 0, "t"}};
  for (int i = 0; i < 30; ++i) pictures.push_back({0, Split::kTest, 0, "e"});
  const Case one{pictures};
  const auto rows = shown_rows(one.input(), 0, 12);
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_EQ(rows.back(), 0U);
}

TEST(Folder, IsWhatComesBeforeTheLastSlash) {
  EXPECT_EQ(folder_of("a/b/c.jpg"), "a/b");
  EXPECT_EQ(folder_of("c.jpg"), "");
  EXPECT_EQ(folder_of("/c.jpg"), "");
}

TEST(GroupJson, HasWhatThePageShows) {
  const Case one{{{0, Split::kTrain, 1, "a/x.jpg"}, {ones(7), Split::kTest, 7, "b/\xFF\"<!--"}}};
  GalleryGroup group = describe_group(one.input(), facts_of(one.input(), 0));
  group.members[0].picture = "picture/11";
  const Json json = Json::parse(to_json(group));
  EXPECT_EQ(json.at("number"), 0);
  EXPECT_EQ(json.at("reasons"), (Json{"leak", "conflict", "near"}));
  EXPECT_EQ(json.at("distance"), 7);
  EXPECT_EQ(json.at("diameter"), 7);
  EXPECT_EQ(json.at("splits"), (Json{"train", "test"}));
  EXPECT_EQ(json.at("folders"), (Json{"a", "b"}));
  EXPECT_EQ(json.at("size"), 2);
  const Json& kept = json.at("members").at(0);
  EXPECT_EQ(kept.at("id"), "11");
  EXPECT_EQ(kept.at("name"), "b/\uefff\"<!--");
  EXPECT_EQ(kept.at("split"), "test");
  EXPECT_EQ(kept.at("labels"), (Json{"7"}));  // a label without a name
  EXPECT_EQ(kept.at("width"), 101);
  EXPECT_EQ(kept.at("height"), 32);
  EXPECT_EQ(kept.at("fate"), "kept");
  EXPECT_EQ(kept.at("weight"), 1.0);
  EXPECT_EQ(kept.at("hash"), to_hex(dedup::hash_of_number(1)));
  EXPECT_EQ(kept.at("picture"), "picture/11");
  EXPECT_FALSE(kept.contains("used_in"));
  const Json& gone = json.at("members").at(1);
  EXPECT_EQ(gone.at("labels"), (Json{"dog"}));
  EXPECT_EQ(gone.at("distance"), 7);
  EXPECT_EQ(gone.at("fate"), "leak");
  EXPECT_EQ(gone.at("weight"), 0.0);
}

TEST(Facts, SayWhatPicturesTold) {
  const Case one{{{0, Split::kTrain, 0, "a"},
                  {ones(3), Split::kTrain, 0, "b"},
                  {ones(2), Split::kTrain, 0, "c"}}};
  ASSERT_EQ(one.result.selection.kept[1], 10U);
  GalleryInput input = one.input();
  EXPECT_EQ(facts_of(input, 0).probability, 0);
  const std::vector<dedup::VerifiedPair> told{
      {.row_a = 0, .row_b = 1, .probability = 0.98F, .map = {.xx = 0.5, .x0 = 0.25, .yy = 0.5}},
      {.row_a = 0, .row_b = 2, .probability = 0.99F, .map = {}},
      {.row_a = 1, .row_b = 2, .probability = 0.5F, .map = {}}};  // neither represents the other
  input.compared = true;
  input.told = told;
  const GroupFacts facts = facts_of(input, 0);
  EXPECT_EQ(facts.probability, 0.98F);
  const Json json = Json::parse(to_json(describe_group(input, facts)));
  EXPECT_EQ(json.at("probability"), 0.98);
  const Json& members = json.at("members");
  EXPECT_FALSE(members.at(0).contains("edit"));
  EXPECT_FALSE(members.at(0).contains("probability"));
  EXPECT_EQ(members.at(1).at("name"), "b");
  EXPECT_EQ(members.at(1).at("probability"), 0.98);
  EXPECT_EQ(members.at(1).at("edit"), "more around (50 × 50 %)");
  EXPECT_EQ(members.at(2).at("edit"), "whole");
  const GalleryPage page = make_gallery(
      input, {.title = "t", .made = "m", .picture_of = {}, .no_pictures = "None."}, {});
  const std::string html = html_of(page);
  EXPECT_NE(html.find("chain: some images are not shown to be one picture"), std::string::npos);
  EXPECT_NE(html.find(R"("compared":true)"), std::string::npos);
  // If no member represents another, the probability is that of any two members.
  const Case stay{{{0, Split::kTest, 0, "a"}, {ones(3), Split::kTest, 0, "b"}}};
  GalleryInput of_two = stay.input();
  of_two.told = std::span(told).first(1);
  EXPECT_EQ(facts_of(of_two, 0).probability, 0.98F);
}

TEST(GroupJson, OfAPictureHasItsScores) {
  using dedup::Issue;
  const Case one{{{0, Split::kTrain, 1, "a/x.jpg"}, {ones(20), Split::kTest, 0, "b/y.jpg"}}};
  ASSERT_EQ(one.result.groups.size(), 0U);
  const std::vector<dedup::IssuePicture> pictures{
      {.rows = {1}, .scores = {{Issue::kBlurry, 0.123456F}, {Issue::kTiny, 0.25F}}}};
  GalleryInput input = one.input();
  input.pictures = pictures;
  ASSERT_EQ(group_count(input), 1U);
  const GroupFacts facts = facts_of(input, 0);
  EXPECT_TRUE(facts.is_picture);
  EXPECT_TRUE(facts.issues.has(Issue::kTiny));
  EXPECT_EQ(facts.label, 0);
  const Json json = Json::parse(to_json(describe_group(input, facts)));
  EXPECT_EQ(json.at("reasons"), (Json{"blurry", "tiny"}));
  EXPECT_EQ(json.at("scores"), (Json{{"blurry", 0.1235}, {"tiny", 0.25}}));
  EXPECT_EQ(json.at("members").size(), 1U);

  const GalleryPage page = make_gallery(
      input, {.title = "t", .made = "m", .picture_of = {}, .no_pictures = "None."}, {});
  EXPECT_EQ(page.summary.groups, 0U);
  EXPECT_EQ(page.summary.pictures, 1U);
  EXPECT_EQ(page.summary.by_issue[static_cast<std::size_t>(Issue::kTiny)], 1U);
  EXPECT_FALSE(page.config.duplicates);
  EXPECT_TRUE(page.config.pictures);
  const std::string html = html_of(page);
  EXPECT_NE(html.find(R"("issues":[{"name":"blurry",)"), std::string::npos);
  EXPECT_EQ(html.find("This page shows"), std::string::npos);
  EXPECT_EQ(html.find("No two images are duplicates"), std::string::npos);
}

TEST(GroupJson, SaysWhereAMovedPictureIsUsed) {
  const Case one{
      {{0, Split::kTrain, 0, "a"}, {0, Split::kTrain, 0, "b"}, {0, Split::kTest, 0, "c"}},
      {.threshold = 8, .policy = {.on_leak = dedup::LeakAction::kMove}}};
  const Json json = Json::parse(to_json(describe_group(one.input(), facts_of(one.input(), 0))));
  bool moved = false;
  for (const Json& member : json.at("members")) {
    if (!member.contains("used_in")) continue;
    moved = true;
    EXPECT_EQ(member.at("split"), "test");
    EXPECT_EQ(member.at("used_in"), "train");
  }
  EXPECT_TRUE(moved);
}

// Two leaks and two ordinary groups.
Case four_groups() {
  std::vector<Picture> pictures;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::uint64_t code = ~std::uint64_t{0} << (16 * i);  // at least 16 bits apart
    pictures.push_back({code, Split::kTrain, -1, "a/" + std::to_string(i)});
    pictures.push_back({code, i < 2 ? Split::kTest : Split::kTrain, -1, "b/" + std::to_string(i)});
  }
  return Case{pictures};
}

std::optional<Image> gray(SampleId id, int) {
  if (id == 10) return std::nullopt;
  Image image(300, 200, 1);
  std::ranges::fill(image.pixels, std::uint8_t{100});
  return image;
}

TEST(MakeGallery, ShowsAllWhereThereIsRoom) {
  const Case four = four_groups();
  const GalleryPage page = make_gallery(
      four.input(), {.title = "t", .made = "m", .picture_of = gray, .no_pictures = ""}, {});
  ASSERT_EQ(page.groups.size(), 4U);
  EXPECT_EQ(page.summary.groups, 4U);
  EXPECT_EQ(page.summary.by_reason, (std::array<std::uint64_t, 5>{2, 0, 0, 0, 2}));
  ASSERT_EQ(page.summary.folders.size(), 1U);
  EXPECT_EQ(page.summary.folders[0].a, "a");
  EXPECT_EQ(page.summary.folders[0].b, "b");
  EXPECT_EQ(page.summary.folders[0].groups, 4U);
  std::size_t missing = 0;
  for (const GalleryGroup& group : page.groups) {
    for (const GalleryMember& member : group.members) {
      missing += member.picture.empty() ? 1 : 0;
      if (!member.picture.empty()) {
        EXPECT_TRUE(member.picture.starts_with("data:image/jpeg;base64,/9j/"));
      }
    }
  }
  EXPECT_EQ(missing, 1U);
  EXPECT_NE(page.pictures.find("at most 160 pixels"), std::string::npos);
  EXPECT_NE(page.pictures.find("1 could not be read"), std::string::npos);
}

TEST(MakeGallery, KeepsItsLimits) {
  const Case four = four_groups();
  const GallerySubject subject{.title = "t", .made = "m", .picture_of = gray, .no_pictures = ""};
  const GalleryPage page = make_gallery(four.input(), subject, {.groups = 2, .bytes = 1});
  ASSERT_EQ(page.groups.size(), 2U);  // one for each reason
  EXPECT_TRUE(page.groups[0].facts.has(GroupReason::kLeak) !=
              page.groups[1].facts.has(GroupReason::kLeak));
  EXPECT_EQ(page.summary.groups, 4U);
  EXPECT_NE(page.pictures.find("at most 64 pixels"), std::string::npos);
}

TEST(MakeGallery, SaysWhyThereAreNoPictures) {
  const Case four = four_groups();
  const GalleryPage page = make_gallery(
      four.input(), {.title = "t", .made = "m", .picture_of = {}, .no_pictures = "None."}, {});
  EXPECT_EQ(page.pictures, "None.");
  EXPECT_EQ(page.groups[0].members[0].picture, "");
}

}  // namespace winnow::app::gallery_test
