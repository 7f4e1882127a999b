#include "app/review/group_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "app/review/review_site.h"
#include "common/error.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/lists/groups_with_evidence.h"
#include "tests/dedup/tables.h"

namespace winnow::app::group_list_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kThreshold = 4;

// Random images, some of them near each other, also in chains.
dedup::Fingerprints random_table(std::uint32_t rows) {
  auto random = dedup::test_rng(7);
  std::vector<dedup::TestImage> images;
  for (std::uint32_t row = 0; row < rows; ++row) {
    dedup::TestImage image{.id = row * 3, .file = row, .pixels = row};
    image.code = random.next_u64();
    image.split = static_cast<Split>(1 + random.below(3));
    image.labels = {static_cast<std::int32_t>(random.below(3))};
    if (row > 0 && random.below(2) == 0) {
      const dedup::TestImage& like = images[random.below(row)];
      image.code = like.code ^ dedup::random_flips(random, static_cast<int>(random.below(5)));
      if (random.below(6) == 0) image.file = like.file;
    }
    images.push_back(image);
  }
  return dedup::make_table(images);
}

struct Reviewed {
  explicit Reviewed(std::uint32_t rows, const dedup::Policy& policy = {})
      : table(random_table(rows)),
        decided(dedup::deduplicate(table, {.threshold = kThreshold, .policy = policy})),
        result(dedup::result_of(
            decided.selection, table,
            dedup::groups_by_codes(decided.selection, table, &table.codes[0], kThreshold).groups)) {
  }

  GalleryInput input() const {
    return {.result = result,
            .table = table,
            .threshold = kThreshold,
            .classes = classes,
            .name_of = [](SampleId id) {
              return "folder" + std::to_string(id % 7) + "/" + std::to_string(id) + ".jpg";
            }};
  }

  std::vector<std::string> classes{"ant", "bee", "cat"};
  dedup::Fingerprints table;
  dedup::Result decided;
  dedup::Result result;
};

TEST(GroupList, FindsWhatALinearScanFinds) {
  const Reviewed reviewed(400);
  const GroupList list(reviewed.input(), false);
  const auto matches = [&](const GroupFilter& filter, std::uint32_t number) {
    const GalleryGroup group = list.describe(number);
    const auto any = [&](const auto& holds) { return std::ranges::any_of(group.members, holds); };
    return group.facts.distance >= filter.least && group.facts.distance <= filter.most &&
           (!filter.split || any([&](const auto& m) { return m.split == *filter.split; })) &&
           (!filter.label || any([&](const auto& m) { return m.labels.at(0) == *filter.label; })) &&
           (!filter.reason || group.facts.has(*filter.reason)) &&
           (!filter.text || any([&](const auto& m) {
             return m.name.find(*filter.text) != std::string::npos ||
                    m.labels.at(0) == *filter.text || std::to_string(m.id) == *filter.text;
           })) &&
           (!filter.folder ||
            any([&](const auto& m) { return folder_of(m.name) == *filter.folder; }));
  };
  for (const GroupFilter& filter : std::vector<GroupFilter>{
           {},
           {.split = Split::kTest},
           {.label = "bee"},
           {.label = "wasp"},
           {.folder = "folder3"},
           {.folder = "folder"},
           {.reason = GroupReason::kChain},
           {.reason = GroupReason::kNear},
           {.text = "lder3/"},
           {.text = "bee"},
           {.text = "33"},
           {.text = "nowhere"},
           {.least = 2, .most = 3},
           {.split = Split::kVal, .label = "cat", .folder = "folder1", .least = 1}}) {
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t number = 0; number < list.size(); ++number) {
      if (matches(filter, number)) wanted.push_back(number);
    }
    EXPECT_EQ(list.find(filter, GroupOrder::kNumber), wanted);
    for (const GroupOrder order :
         {GroupOrder::kReason, GroupOrder::kDistance, GroupOrder::kFolders, GroupOrder::kSize}) {
      auto found = list.find(filter, order);
      std::ranges::sort(found);
      EXPECT_EQ(found, wanted);
    }
  }
}

TEST(GroupList, FindsTextAsItIsShownInAnyCase) {
  const Reviewed reviewed(40);
  GalleryInput input = reviewed.input();
  const SampleId odd = reviewed.table.ids[reviewed.result.groups.at(0).rows.at(0)];
  input.name_of = [odd](SampleId id) {
    return id == odd ? std::string("A\xFF \xC3\x89.JPG") : std::string("b");
  };
  const GroupList list(input, false);
  const auto found = [&](const std::string& text) {
    return list.find({.text = text}, GroupOrder::kNumber);
  };
  EXPECT_THAT(found("a\\XFF \xC3\x89.jpg"), ElementsAre(0U));
  EXPECT_THAT(found("\xFF"), IsEmpty());  // names are searched raw, not as displayed
  EXPECT_EQ(found("B").size(), list.size());
  EXPECT_EQ(found("").size(), list.size());
}

TEST(GroupList, SortsTheMostUrgentFirst) {
  const Reviewed reviewed(400);
  const GroupList list(reviewed.input(), false);
  const auto urgency = [&](std::uint32_t number) {
    for (int i = 0; i < kGroupReasonCount; ++i) {
      if (list.facts()[number].has(static_cast<GroupReason>(i))) return i;
    }
    return kGroupReasonCount;
  };
  const auto found = list.find({}, GroupOrder::kReason);
  for (std::size_t i = 1; i < found.size(); ++i) {
    const auto key = [&](std::uint32_t n) {
      return std::tuple(urgency(n), -static_cast<int>(list.facts()[n].distance), n);
    };
    EXPECT_LT(key(found[i - 1]), key(found[i]));
  }
}

TEST(GroupList, ImagesAreThoseShownEachOnce) {
  const Reviewed reviewed(400);
  const GroupList list(reviewed.input(), false);
  const dedup::Ragged<Hash128> images = list.images();
  ASSERT_EQ(images.size(), list.size());
  for (std::uint32_t number = 0; number < list.size(); ++number) {
    std::set<Hash128> wanted;
    for (const auto& member : list.describe(number).members) wanted.insert(member.hash);
    EXPECT_TRUE(std::ranges::equal(images[number], wanted));
  }
}

TEST(GroupList, PicturesComeByTheirIssuesTheWorstFirst) {
  using dedup::Issue;
  Reviewed reviewed(40);
  reviewed.result.groups.clear();
  reviewed.result.selection = dedup::keep_all(reviewed.table.ids);
  const std::vector<dedup::IssuePicture> pictures{
      {.rows = {3}, .scores = {{Issue::kDark, 0.1F}, {Issue::kBlurry, 0.2F}}},
      {.rows = {9}, .scores = {{Issue::kDark, 0.3F}}},
      {.rows = {4, 5}, .scores = {{Issue::kBlurry, 0.1F}}},
      {.rows = {7}, .scores = {}}};
  GalleryInput input = reviewed.input();
  input.pictures = pictures;
  const GroupList list(input, false);
  const auto found = [&](const GroupFilter& filter) {
    return list.find(filter, GroupOrder::kReason);
  };
  EXPECT_THAT(found({}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(found({.issue = Issue::kBlurry}), ElementsAre(2, 0));
  EXPECT_THAT(found({.issue = Issue::kDark}), ElementsAre(0, 1));
  EXPECT_THAT(found({.issue = Issue::kGray}), IsEmpty());
  EXPECT_THAT(found({.reason = GroupReason::kLeak}), IsEmpty());
  EXPECT_THAT(found({.folder = "folder6"}), ElementsAre(1));  // the group of id 27
  EXPECT_THAT(found({.text = "/15."}), ElementsAre(2));
  const GalleryGroup group = list.describe(2);
  EXPECT_TRUE(group.facts.is_picture);
  EXPECT_EQ(group.members.size(), 2U);
  EXPECT_EQ(group.members[0].fate, dedup::Rule::kKept);
}

TEST(Pairs, StandInPlaceOfGroups) {
  Reviewed reviewed(50);
  const auto& hashes = reviewed.table.file_hashes;
  const auto pair = [&](std::size_t a, std::size_t b) {
    const auto [least, most] = std::minmax(hashes[a], hashes[b]);
    return std::array{least, most};
  };
  Hash128 unknown;
  unknown.bytes.fill(9);
  dedup::PairSample sample{.hash = "phash", .threshold = kThreshold};
  sample.strata.push_back({.distance = 1, .pairs = 5, .drawn = {pair(9, 2), pair(2, 9)}});
  sample.strata.push_back({.distance = 4, .pairs = 5, .drawn = {pair(1, 3), {unknown, hashes[3]}}});
  show_pairs(sample, reviewed.table, reviewed.result);
  const GroupList list(reviewed.input(), true);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.facts()[0].distance, 1U);
  EXPECT_FALSE(list.facts()[0].has(GroupReason::kNear));
  EXPECT_EQ(list.facts()[1].distance, 4U);
  EXPECT_TRUE(list.facts()[1].has(GroupReason::kNear));
  EXPECT_THAT(list.images()[1], testing::ElementsAreArray(pair(1, 3)));
}

TEST(ServedPage, HasItsScriptAndStyleApart) {
  const ServedPage page = without_inline(
      "<head><style>\np{}</style></head><p>&lt;script&gt;</p>"
      "<script type=\"application/json\" id=\"a\">{}</script>\n<script>run();\n</script></body>");
  EXPECT_EQ(page.style, "\np{}");
  EXPECT_EQ(page.script, "run();\n");
  EXPECT_EQ(page.html,
            "<head><link rel=\"stylesheet\" href=\"page.css\"/></head><p>&lt;script&gt;</p>"
            "<script type=\"application/json\" id=\"a\">{}</script>\n"
            "<script src=\"page.js\"></script></body>");
}

TEST(Judgements, OfABodyAreOneOrAList) {
  const std::string one = R"({"verdict":"keep","images":["000102030405060708090a0b0c0d0e0f"]})";
  EXPECT_EQ(parse_judgements(one).size(), 1U);
  EXPECT_EQ(parse_judgements("[" + one + ", " + one + "]").size(), 2U);
  EXPECT_THAT(parse_judgements("[]"), IsEmpty());
  const auto of_image =
      parse_judgements(R"({"image_verdict":"drop","images":["000102030405060708090a0b0c0d0e0f"]})");
  EXPECT_EQ(of_image.at(0).about, dedup::About::kImage);
  // A line feed in a name does not break its line.
  const auto named = parse_judgements(
      R"([{"verdict":"unsure","images":["000102030405060708090a0b0c0d0e0f"],"names":["a\nb"]}])");
  EXPECT_THAT(named.at(0).names, ElementsAre("a\nb"));
  for (const std::string body :
       {"", "{}", "[[]]", "null", "{\"sample\":{}}", "[1]", "x",
        R"([{"sample":{},"verdict":"keep","images":["000102030405060708090a0b0c0d0e0f"]}])"}) {
    try {
      parse_judgements(body);
      FAIL() << body << " was taken";
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("the request"),
                                               testing::HasSubstr("load the page again"),
                                               testing::Not(testing::HasSubstr("line"))));
    }
  }
}

}  // namespace winnow::app::group_list_test
