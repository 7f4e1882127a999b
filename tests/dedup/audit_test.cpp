// The measures that the audit takes of pictures, and the issues that it finds in tables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"
#include "common/resample.h"
#include "dedup/audit/measure.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/decisions/issues.h"
#include "dedup/decisions/settings.h"
#include "dedup/lists/report.h"
#include "dedup/review/decided.h"
#include "tests/common/formula_images.h"
#include "tests/common/vectors.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::audit_test {

using testing::ElementsAre;
using testing::HasSubstr;

Image flat(int height, int width, std::array<std::uint8_t, 3> colour) {
  Image image(height, width, 3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = colour[i % 3];
  return image;
}

// A picture and cleanvision's measures of it.
struct Golden {
  std::string kind;
  int width;
  int height;
  bool gray;
  float brightness_99;
  float brightness_5;
  float entropy;
  float edges;
  float histogram;
};

Golden golden_of(const JsonReader& row) {
  const auto measured = [&](const char* name) { return static_cast<float>(row.at(name).real()); };
  return {row.at("picture").text(),
          row.at("width").number<int>(),
          row.at("height").number<int>(),
          row.at("gray").boolean(),
          measured("brightness_99"),
          measured("brightness_5"),
          measured("entropy"),
          measured("edges"),
          measured("histogram")};
}

TEST(Measures, AreCleanvisions) {
  for (const JsonReader& row : test::vectors("dedup/audit", "measures")) {
    const Golden g = golden_of(row);
    const Image rgb = test::formula_image(g.kind, g.width, g.height);
    const Image image = g.gray ? to_gray(rgb.view()) : rgb;
    const Measures m = measure(image.view());
    const std::string what = testing::PrintToString(g.kind) + " " + std::to_string(g.width) +
                             " x " + std::to_string(g.height) + (g.gray ? " gray" : "");
    const bool whole = g.width <= 64 && g.height <= 64;  // not resized
    const bool all = g.width * g.height <= 512;          // every pixel is a sample
    EXPECT_NEAR(m.edges, g.edges, whole ? 1e-4 * g.edges : 0.06) << what;
    const double histogram = m.edges < 35 ? g.histogram : 0;
    EXPECT_NEAR(m.histogram, histogram, (whole ? 1e-4 : 0.04) * g.histogram) << what;
    if (g.width * g.height >= 100) {  // otherwise a rank falls between values that are far apart
      EXPECT_NEAR(m.brightness_99, g.brightness_99, all ? 0.01 : 0.03) << what;
      EXPECT_NEAR(m.brightness_5, g.brightness_5, all ? 0.01 : 0.03) << what;
    }
    EXPECT_NEAR(m.entropy, g.entropy, all ? 1e-3 : 0.4) << what;
    EXPECT_TRUE(is_sound(m));
    EXPECT_EQ(m.orientation, 1U);
  }
}

TEST(Measures, AreTheSameHoweverRowsCome) {
  for (const auto& [height, width] :
       {std::pair{1, 1}, {1, 5000}, {5000, 1}, {2, 3}, {32, 32}, {97, 130}, {200, 61}}) {
    for (const int channels : {1, 3}) {
      const Image rgb = test::formula_image("lcg", width, height);
      const Image gray = to_gray(rgb.view());
      const Image& image = channels == 1 ? gray : rgb;
      for (const int at_once : {1, 7}) {
        RowMeasures rows(height, width, channels);
        for (int y = 0; y < height; y += at_once) {
          ImageView some = image.view();
          ImageView some_gray = gray.view();
          some.data = some.row(y);
          some_gray.data = some_gray.row(y);
          some.height_px = some_gray.height_px = std::min(at_once, height - y);
          rows.add(some, some_gray);
        }
        EXPECT_EQ(rows.finish(), measure(image.view())) << height << " x " << width;
      }
    }
  }
}

TEST(Measures, OfPlainPictures) {
  const Measures white = measure(flat(40, 50, {255, 255, 255}).view());
  EXPECT_FLOAT_EQ(white.white, 1);
  EXPECT_NEAR(white.brightness_5, 1, 1e-3);
  EXPECT_NEAR(white.edges, 72.24, 0.01);  // the border stays white, as in cleanvision
  EXPECT_EQ(white.colour, 0);
  EXPECT_NEAR(white.entropy, std::log2(3), 1e-4);
  const Measures red = measure(flat(40, 50, {200, 0, 0}).view());
  EXPECT_EQ(red.white, 0);
  EXPECT_NEAR(red.brightness_99, std::sqrt(0.241) * 200 / 255, 2e-3);
  EXPECT_NEAR(red.colour, 200.0 / 255, 1e-5);
  const Measures black = measure(Image(3000, 2, 1).view());
  EXPECT_LT(black.brightness_99, 0.05);
  EXPECT_EQ(black.entropy, 0);
  EXPECT_EQ(black.edges, 0);
  EXPECT_NEAR(black.histogram, 3.99, 0.01);
}

TEST(Measures, ThatNoPictureHasAreRefused) {
  EXPECT_TRUE(is_sound({}));
  EXPECT_FALSE(is_sound({.edges = -1}));
  EXPECT_FALSE(is_sound({.colour = std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(is_sound({.entropy = std::numeric_limits<float>::infinity()}));
  EXPECT_FALSE(is_sound({.orientation = 0}));
  EXPECT_FALSE(is_sound({.orientation = 9}));
}

// The measures of a picture without issues.
constexpr Measures kFine{.brightness_99 = 0.9F,
                         .brightness_5 = 0.1F,
                         .white = 0.01F,
                         .entropy = 7,
                         .edges = 60,
                         .histogram = 10,
                         .colour = 0.2F};

Fingerprints table_of(const std::vector<Measures>& measures) {
  std::vector<TestImage> images;
  for (std::uint64_t i = 0; i < measures.size(); ++i) {
    images.push_back({.id = i, .code = 0x1234567 * (i + 1), .file = i, .pixels = 1000 + i});
  }
  Fingerprints table = make_table(images);
  table.widths_px.assign(measures.size(), 400);
  table.heights_px.assign(measures.size(), 300);
  table.audit = measures;
  return table;
}

ColumnSource columns_of(const Fingerprints& table) {
  return [&table](const ColumnNames& names) { return select_columns(table, names); };
}

std::vector<std::uint32_t> rows_with(Issue issue, const Fingerprints& table) {
  IssueSet wanted;
  wanted.add(issue);
  const std::vector<IssueSet> found = find_issues(wanted, columns_of(table), "phash");
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < found.size(); ++row) {
    if (found[row].has(issue)) rows.push_back(row);
    EXPECT_EQ(found[row].has(issue), !found[row].empty());
  }
  return rows;
}

std::vector<float> scores_of(Issue issue, const Fingerprints& table, const std::string& hash) {
  IssueSet wanted;
  wanted.add(issue);
  std::vector<float> scores;
  for_each_issue(wanted, columns_of(table), hash,
                 [&](const IssueRow&, const std::vector<float>& found) { scores = found; });
  return scores;
}

TEST(Issues, OfOnePictureBeginBelowTheirThresholds) {
  Fingerprints table = table_of(std::vector(12, kFine));
  for (const IssueRow& row : issue_rows()) EXPECT_THAT(rows_with(row.issue, table), ElementsAre());
  table.audit[0].brightness_99 = 0.319F;
  table.audit[1].brightness_99 = 0.321F;
  table.audit[2].brightness_5 = 0.951F;
  table.audit[3].brightness_5 = 0.949F;
  table.audit[4].white = 0.51F;
  table.audit[5].edges = 34.2F;  // 1 - exp(-0.342) = 0.2897
  table.audit[6].edges = 34.3F;
  table.audit[7].edges = 5;
  table.audit[7].histogram = 30;  // informative enough: 0.0488 + 0.2592
  table.audit[8].entropy = 2.99F;
  table.audit[9].orientation = 6;
  table.audit[10].colour = 0.001F;
  table.heights_px[11] = 139;  // 0.3475 of 400
  EXPECT_THAT(rows_with(Issue::kDark, table), ElementsAre(0));
  EXPECT_THAT(rows_with(Issue::kBright, table), ElementsAre(2));
  EXPECT_THAT(rows_with(Issue::kOverExposed, table), ElementsAre(4));
  EXPECT_THAT(rows_with(Issue::kBlurry, table), ElementsAre(5));
  EXPECT_THAT(rows_with(Issue::kLowInformation, table), ElementsAre(8));
  EXPECT_THAT(rows_with(Issue::kTurned, table), ElementsAre(9));
  EXPECT_THAT(rows_with(Issue::kGray, table), ElementsAre(10));
  EXPECT_THAT(rows_with(Issue::kOddShape, table), ElementsAre(11));
}

TEST(Issues, WhatMostPicturesAreIsNone) {
  Fingerprints table = table_of(std::vector(4, kFine));
  for (const std::size_t row : {0, 1}) table.audit[row].colour = 0;
  EXPECT_THAT(rows_with(Issue::kGray, table), ElementsAre());
  table.audit[1].colour = 0.3F;
  EXPECT_THAT(rows_with(Issue::kGray, table), ElementsAre(0));
  table.widths_px = {31, 40, 32, 500};
  table.heights_px = {500, 40, 32, 31};
  EXPECT_THAT(rows_with(Issue::kTiny, table), ElementsAre());
  table.heights_px[3] = 32;
  EXPECT_THAT(rows_with(Issue::kTiny, table), ElementsAre(0));
}

TEST(Issues, OddSizesLieFarOutsideTheQuartiles) {
  Fingerprints table = table_of(std::vector(9, kFine));
  // Square pictures with sides 100, 110, ..., 180. The quartiles are 120 and 160, so 0 to 280 is
  // usual.
  for (std::uint32_t i = 0; i < 9; ++i) table.widths_px[i] = table.heights_px[i] = 100 + 10 * i;
  EXPECT_THAT(rows_with(Issue::kOddSize, table), ElementsAre());
  table.widths_px[8] = table.heights_px[8] = 279;
  EXPECT_THAT(rows_with(Issue::kOddSize, table), ElementsAre());
  table.widths_px[8] = table.heights_px[8] = 281;
  EXPECT_THAT(rows_with(Issue::kOddSize, table), ElementsAre(8));
  // All equal except one.
  table.widths_px.assign(9, 100);
  table.heights_px.assign(9, 100);
  EXPECT_THAT(rows_with(Issue::kOddSize, table), ElementsAre());
  table.heights_px[3] = 101;
  EXPECT_THAT(rows_with(Issue::kOddSize, table), ElementsAre(3));
  EXPECT_THAT(rows_with(Issue::kOddSize, table_of({})), ElementsAre());
}

TEST(Issues, OfPicturesBesideEachOther) {
  Fingerprints table = table_of(std::vector(8, kFine));
  table.file_hashes[1] = table.file_hashes[0];
  table.pixel_hashes[1] = table.pixel_hashes[0];
  table.codes[0].words[1] = table.codes[0].words[0];
  table.pixel_hashes[3] = table.pixel_hashes[2];
  table.codes[0].words[5] = table.codes[0].words[4];
  table.codes[0].words[7] = table.codes[0].words[6];
  table.quality[6] = 0;  // too little in it to match on
  EXPECT_THAT(rows_with(Issue::kExactDuplicate, table), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(rows_with(Issue::kNearDuplicate, table), ElementsAre(4, 5));
  EXPECT_THAT(rows_with(Issue::kLabelConflict, table), ElementsAre());
  table.labels = {};
  for (const std::int32_t label : {0, 0, 0, 1, 2, 3, 4, 5}) {
    table.labels.push_back(std::span(&label, 1));
  }
  EXPECT_THAT(rows_with(Issue::kLabelConflict, table), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(scores_of(Issue::kNearDuplicate, table, ""), testing::Each(1.0F));
}

TEST(Issues, OfNearPicturesAreOfThoseThatHaveEnoughForTheHash) {
  Fingerprints table = table_of(std::vector(6, kFine));
  for (const std::size_t row : {1, 3, 5}) table.codes[0].words[row] = table.codes[0].words[row - 1];
  table.quality = {0.5F, 0.5F, 49, 50, 50, 51};
  table.labels = {};
  for (const std::int32_t label : {0, 1, 2, 3, 4, 5}) table.labels.push_back(std::span(&label, 1));
  for (const Issue issue : {Issue::kNearDuplicate, Issue::kLabelConflict}) {
    EXPECT_THAT(rows_with(issue, table), ElementsAre(0, 1, 2, 3, 4, 5));
  }
  table.codes[0].hash = "pdq";  // whose advised least quality is 50
  for (const Issue issue : {Issue::kNearDuplicate, Issue::kLabelConflict}) {
    EXPECT_THAT(scores_of(issue, table, "pdq"), ElementsAre(1, 1, 1, 1, 0, 0));
  }
}

TEST(Issues, ReadEachColumnOnceAndComeInOrder) {
  Fingerprints table = table_of(std::vector(8, kFine));
  table.codes[0].words[1] = table.codes[0].words[0];
  std::map<std::string, int> reads;
  const ColumnSource counted = [&](const ColumnNames& names) {
    for (const std::string& name : names) ++reads[name];
    return select_columns(table, names);
  };
  std::vector<Issue> seen;
  for_each_issue(all_issues(), counted, "phash",
                 [&](const IssueRow& row, const std::vector<float>& scores) {
                   seen.push_back(row.issue);
                   // The score of an issue alone equals its score among all issues.
                   EXPECT_EQ(scores, scores_of(row.issue, table, "phash")) << row.name;
                 });
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kIssueCount));
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  for (const char* name : {"audit", "widths_px", "heights_px", "file_hashes", "pixel_hashes",
                           "labels", "quality", "codes:phash"}) {
    EXPECT_EQ(reads[name], 1) << name;
  }
}

TEST(Issues, NeedMeasuresOrSaySo) {
  Fingerprints table = table_of(std::vector(3, kFine));
  EXPECT_TRUE(is_audited(columns_of(table)));
  table.audit.clear();
  EXPECT_FALSE(is_audited(columns_of(table)));
  EXPECT_THAT([&] { rows_with(Issue::kBlurry, table); },
              testing::ThrowsMessage<UsageError>(HasSubstr("without an audit")));
  EXPECT_THAT(rows_with(Issue::kOddShape, table), ElementsAre());
}

TEST(Issues, HaveNames) {
  EXPECT_EQ(names_of(parse_issues({"dark", "blurry"})),
            (std::vector<std::string>{"dark", "blurry"}));
  EXPECT_TRUE(parse_issues({}).empty());
  EXPECT_THAT([] { parse_issues({"ugly"}); },
              testing::ThrowsMessage<UsageError>(HasSubstr("over_exposed, blurry")));
  for (int i = 0; i < kIssueCount; ++i) {
    EXPECT_EQ(static_cast<int>(issue_rows()[static_cast<std::size_t>(i)].issue), i);
  }
}

TEST(Issues, AreListedWorstFirst) {
  Fingerprints table = table_of(std::vector(4, kFine));
  table.audit[1].brightness_99 = 0.2F;
  table.audit[3].brightness_99 = 0.1F;
  table.audit[2].orientation = 3;
  const ColumnSource columns = columns_of(table);
  const auto found = find_issues(parse_issues({"dark", "exif_orientation"}), columns, "phash");
  std::string text;
  list_issues(found, columns, "phash", [](SampleId id) { return "n" + std::to_string(id); },
              {ListForm::kCsv, [&](std::string_view line) { text += line; }});
  EXPECT_EQ(text,
            "id,name,split,labels,issue,score\n"
            "3,n3,train,0,dark,0.1\n"
            "1,n1,train,0,dark,0.2\n"
            "2,n2,train,0,exif_orientation,0.0\n");
}

Result drop(const Fingerprints& table, const std::vector<std::string>& issues, Policy policy = {}) {
  Options options;
  options.policy = std::move(policy);
  options.policy.drop_issues = parse_issues(issues);
  return deduplicate(table, options);
}

TEST(DropIssues, RemovesThemFirst) {
  Fingerprints table = table_of(std::vector(6, kFine));
  table.splits = {Split::kTrain, Split::kTrain, Split::kTrain,
                  Split::kTest,  Split::kNone,  Split::kTest};
  for (const std::size_t row : {0, 3, 4}) table.audit[row].brightness_99 = 0.1F;
  for (const std::size_t row : {1, 2}) table.file_hashes[row] = table.file_hashes[0];
  const Result result = drop(table, {"dark", "blurry"});
  EXPECT_THAT(result.selection.weights, ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(result.selection.rules, ElementsAre(Rule::kIssue, Rule::kKept, Rule::kDuplicate,
                                                  Rule::kKept, Rule::kIssue, Rule::kKept));
  EXPECT_THAT(result.selection.kept, ElementsAre(0, 1, 1, 3, 4, 5));
  EXPECT_EQ(result.removed, 3U);
  EXPECT_THAT(names_of(result.issues[0]), ElementsAre("dark"));
  EXPECT_TRUE(result.issues[3].empty());  // in an evaluation split
  EXPECT_THAT(settings_in_words(result.selection.settings), HasSubstr("drops dark, blurry"));
  const auto json = nlohmann::json::parse(
      json_summary(result, {.policy = {.drop_issues = parse_issues({"dark", "blurry"})}}));
  EXPECT_EQ(json["issues"], (nlohmann::json{{"dark", 2}, {"blurry", 0}}));
  EXPECT_FALSE(nlohmann::json::parse(json_summary(result, {})).contains("issues"));

  Policy thinning;
  thinning.thin[static_cast<std::size_t>(Split::kTest)] = true;
  EXPECT_THAT(drop(table, {"dark"}, thinning).selection.weights, ElementsAre(0, 1, 0, 0, 0, 1));
  Policy guarding;
  guarding.precedence = std::make_shared<const Precedence>(
      Precedence{.is_protected = {true, false, false, false, false, false}});
  EXPECT_THAT(drop(table, {"dark"}, guarding).selection.weights, ElementsAre(1, 0, 0, 1, 0, 1));
}

TEST(DropIssues, ObeysWhatPeopleSaid) {
  Fingerprints table = table_of(std::vector(5, kFine));
  table.splits[3] = Split::kTest;
  for (const std::size_t row : {0, 1, 2, 3}) table.audit[row].brightness_99 = 0.1F;
  Options options;
  options.policy.drop_issues = parse_issues({"dark"});
  options.decided = std::make_shared<const Decided>(Decided{
      .same = {}, .apart = {}, .kept = {}, .spared = {1, 3}, .dropped = {2, 4}, .reviews = {}});
  const Result result = deduplicate(table, options);
  EXPECT_THAT(result.selection.rules,
              ElementsAre(Rule::kIssue, Rule::kKept, Rule::kReview, Rule::kKept, Rule::kReview));
  // The other is in test, where no image is removed for an issue
  EXPECT_EQ(result.spared_by_review, 1U);
  EXPECT_EQ(result.dropped_by_review, 2U);
  const auto json = nlohmann::json::parse(json_summary(result, options));
  EXPECT_EQ(json["review"]["spared"], 1);
  EXPECT_EQ(json["review"]["dropped"], 2);
  EXPECT_EQ(json["issues"]["dark"], 1);  // the review removed the other one
}

TEST(IssuePictures, AreOfOneFileEachTheWorstOfEachIssueFirst) {
  Fingerprints table = table_of(std::vector(7, kFine));
  for (std::size_t row = 0; row < 7; ++row) table.file_hashes[row] = hash_of_number(row);
  table.file_hashes[5] = table.file_hashes[1];
  table.audit[1].brightness_99 = table.audit[5].brightness_99 = 0.2F;
  table.audit[2].brightness_99 = 0.1F;
  table.audit[3].orientation = 3;
  table.audit[2].orientation = 6;
  const ColumnSource columns = columns_of(table);
  const auto of_row = find_issues(parse_issues({"dark", "exif_orientation"}), columns, "");
  const auto pictures = issue_pictures({5, 3, 2, 1, 6}, of_row, columns, "");
  ASSERT_EQ(pictures.size(), 4U);
  EXPECT_THAT(pictures[0].rows, ElementsAre(2));
  ASSERT_EQ(pictures[0].scores.size(), 2U);
  EXPECT_EQ(pictures[0].scores[0].issue, Issue::kDark);
  EXPECT_EQ(pictures[0].scores[0].score, 0.1F);
  EXPECT_EQ(pictures[0].scores[1].issue, Issue::kTurned);
  EXPECT_THAT(pictures[1].rows, ElementsAre(1, 5));
  EXPECT_THAT(pictures[2].rows, ElementsAre(3));
  EXPECT_THAT(pictures[3].rows, ElementsAre(6));
  EXPECT_TRUE(pictures[3].scores.empty());
  const auto without = issue_pictures({3, 1}, {}, columns, "");
  EXPECT_THAT(without.at(0).rows, ElementsAre(1));
}

// Removing a leaking picture for an issue frees its copy in the other split.
TEST(DropIssues, BeforeLeaksAreSettled) {
  Fingerprints table = table_of(std::vector(2, kFine));
  table.splits = {Split::kTrain, Split::kVal};
  table.file_hashes[1] = table.file_hashes[0];
  table.audit[0].brightness_99 = 0.1F;
  Policy policy{.order = kTrainingFirst};
  EXPECT_THAT(drop(table, {}, policy).selection.weights, ElementsAre(1, 0));
  EXPECT_THAT(drop(table, {"dark"}, policy).selection.weights, ElementsAre(0, 1));
}

TEST(DropIssues, RefusesWhatItCannotJudge) {
  Fingerprints table = table_of(std::vector(2, kFine));
  for (const char* name : {"exact_duplicate", "near_duplicate", "label_conflict"}) {
    EXPECT_THAT(
        [&] { drop(table, {name}); },
        testing::ThrowsMessage<UsageError>(HasSubstr("is not an issue of a single picture")));
  }
  table.audit.clear();
  EXPECT_THROW(drop(table, {"dark"}), UsageError);
}

TEST(DropIssues, IsAnOlderSelectionWithoutAny) {
  Fingerprints table = table_of(std::vector(2, kFine));
  const Bytes none = serialize(drop(table, {}).selection);
  EXPECT_EQ(static_cast<int>(none.at(8)), 1);  // version
  table.audit[0].brightness_99 = 0.1F;
  const Selection selection = drop(table, {"dark"}).selection;
  Bytes some = serialize(selection);
  EXPECT_EQ(static_cast<int>(some.at(8)), 3);
  EXPECT_EQ(parse_selection(some, "selection"), selection);
  // A version that does not fit the contents is refused.
  some.at(8) = std::byte{1};
  const std::uint64_t sum = xxh3_64(BytesView(some).first(some.size() - 8));
  std::memcpy(some.data() + some.size() - 8, &sum, 8);
  EXPECT_THROW(parse_selection(some, "selection"), FormatError);
}

}  // namespace winnow::dedup::audit_test
