#include "dedup/review/review.h"

#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/dedup/judgements.h"

namespace winnow::dedup::review_test {

const std::string kHeader = "{\"schema\":\"winnow.review/1\"}\n";

std::string hex(std::uint64_t number) { return to_hex(hash_of_number(number)); }

std::string line(const std::string& verdict, const std::vector<std::uint64_t>& images,
                 const std::string& member = "verdict") {
  std::string out = "{\"" + member + "\":\"" + verdict + "\",\"images\":[";
  for (const std::uint64_t image : images) {
    out += (out.back() == '[' ? "\"" : ",\"") + hex(image) + "\"";
  }
  return out + "]}\n";
}

std::string image_line(const std::string& verdict, std::uint64_t image) {
  return line(verdict, {image}, "image_verdict");
}

// The reason for refusing this text.
std::string refusal(const std::string& text) {
  try {
    parse_review(text, "said.jsonl");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "nothing";
}

PairSample sample_of(std::uint64_t seed) {
  return {.hash = "phash",
          .threshold = 4,
          .scope = "all",
          .seed = seed,
          .certain = 12,
          .strata = {{.distance = 2, .classes = "same", .splits = "other", .pairs = 7},
                     {.distance = 4,
                      .classes = "unknown",
                      .splits = "same",
                      .pairs = 5312,
                      .drawn = {pair_of(1, 2)}}}};
}

TEST(Review, ComesBackAsItWasWritten) {
  const std::vector<Judgement> said{
      {.verdict = Verdict::kDuplicate,
       .images = {hash_of_number(1), hash_of_number(2)},
       .names = {"a/\xFF.jpg", "b \"c\".jpg"}},
      judgement(Verdict::kDifferent, {3, 2, 1}),
      judgement(Verdict::kKeep, {2}),
      judgement(Verdict::kUnsure, {4, 5}),
      judgement(Verdict::kNone, {2}),
      image_judgement(Verdict::kKeep, 1),
      image_judgement(Verdict::kDrop, 2),
      image_judgement(Verdict::kUnsure, 3),
      image_judgement(Verdict::kNone, 4),
  };
  std::string text = review_header();
  for (const Judgement& one : said) text += review_line(one);
  const Review review = parse_review(text, "said.jsonl");
  ASSERT_EQ(review.judgements.size(), said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(review.judgements[i].verdict, said[i].verdict);
    EXPECT_EQ(review.judgements[i].images, said[i].images);
    EXPECT_EQ(review.judgements[i].names, said[i].names);
    EXPECT_EQ(review.judgements[i].line, i + 2);
    EXPECT_EQ(review.judgements[i].about, said[i].about);
  }
  EXPECT_EQ(review.complete_bytes, text.size());
  EXPECT_EQ(review.digest, xxh3_128(as_bytes(text)));
  EXPECT_FALSE(review.cut_off);
}

TEST(Review, IsOfOneForm) {
  EXPECT_EQ(review_header(), kHeader);
  EXPECT_EQ(review_line(judgement(Verdict::kDuplicate, {1, 2})), line("duplicate", {1, 2}));
  EXPECT_EQ(review_line(image_judgement(Verdict::kDrop, 1)), image_line("drop", 1));
}

TEST(Review, LastLineWithoutItsEndIsLeftOut) {
  const std::string whole = kHeader + line("duplicate", {1, 2});
  const std::string more = line("different", {3, 4});
  for (std::size_t cut = 1; cut < more.size(); ++cut) {
    const Review review = parse_review(whole + more.substr(0, cut), "said.jsonl");
    EXPECT_EQ(review.judgements.size(), 1);
    EXPECT_EQ(review.complete_bytes, whole.size());
    EXPECT_EQ(review.digest, xxh3_128(as_bytes(whole)));
    EXPECT_TRUE(review.cut_off);
  }
}

TEST(Review, WithoutJudgementsIsOne) {
  EXPECT_TRUE(parse_review(kHeader, "said.jsonl").judgements.empty());
}

TEST(Review, AnotherFileIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("\n"), kHeader.substr(0, kHeader.size() - 1),
        std::string("id,name\n1,a\n"), std::string("{\"schema\":\"winnow.review/2\"}\n"),
        std::string("[1]\n"), std::string("{\"schema\":1}\n"), line("keep", {1}),
        std::string("\0\xFF\xFE\n", 4)}) {
    EXPECT_NE(refusal(text).find("said.jsonl is not a review"), std::string::npos) << text;
  }
}

TEST(Review, WhatIsNoJudgementIsRefusedWithItsLine) {
  const std::string good = line("duplicate", {1, 2});
  for (const auto& [bad, why] : std::vector<std::pair<std::string, std::string>>{
           {"\n", "it is not JSON"},
           {"nonsense\n", "it is not JSON"},
           {good.substr(0, good.size() - 2) + "\n", "it is not JSON"},
           {"{}\n", "it lacks 'verdict'"},
           {"7\n", "it is not an object"},
           {"{\"verdict\":7,\"images\":[]}\n", "'verdict' is not text"},
           {"{\"verdict\":\"keep\"}\n", "it lacks 'images'"},
           {line("same", {1, 2}),
            "'verdict' is none of duplicate, different, keep, unsure and none"},
           {line("drop", {1}), "'verdict' is none of"},
           {image_line("duplicate", 1), "'image_verdict' is none of keep, drop, unsure and none"},
           {image_line("fine", 1), "'image_verdict' is none of"},
           {line("drop", {1, 2}, "image_verdict"), "'images' does not have exactly one image"},
           {line("none", {}, "image_verdict"), "'images' does not have exactly one image"},
           {"{\"image_verdict\":true,\"images\":[]}\n", "'image_verdict' is not text"},
           {"{\"image_verdict\":\"keep\"}\n", "it lacks 'images'"},
           {line("Duplicate", {1, 2}), "'verdict' is none of"},
           {line("duplicate", {1}), "'images' has less than two images"},
           {line("different", {}), "'images' has less than two images"},
           {line("keep", {1, 2}), "'images' does not have exactly one image"},
           {line("keep", {}), "'images' does not have exactly one image"},
           {line("none", {}), "'images' has no image"},
           {line("duplicate", {1, 2, 1}), "'images' has " + hex(1) + " twice"},
           {"{\"verdict\":\"keep\",\"images\":[\"" + std::string(31, '0') + "\"]}\n",
            "'images' 0 is not 32 lower-case hex digits"},
           {"{\"verdict\":\"keep\",\"images\":[\"" + std::string(32, 'A') + "\"]}\n",
            "'images' 0 is not 32 lower-case hex digits"},
           {"{\"verdict\":\"keep\",\"images\":[7]}\n", "'images' 0 is not text"},
           {"{\"verdict\":\"keep\",\"verdict\":\"none\",\"images\":[]}\n", "\"verdict\" twice"},
           {"{\"verdict\":\"unsure\",\"image_verdict\":\"drop\",\"images\":[\"" + hex(1) + "\"]}\n",
            "it has several kinds of content"},
           {"{\"sample\":{},\"image_verdict\":\"drop\",\"images\":[\"" + hex(1) + "\"]}\n",
            "it has several kinds of content"},
           {"{\"verdict\":\"none\",\"images\":[\"" + hex(1) + "\"],\"names\":\"a\"}\n",
            "'names' is not a list"},
       }) {
    const std::string said = refusal(kHeader + good + bad + good);
    EXPECT_NE(said.find("said.jsonl, line 3 is damaged: "), std::string::npos) << said;
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_NE(said.find("; remove the line from the file"), std::string::npos) << said;
  }
}

TEST(Review, AnyDamageIsReadOrRefusedAsWhatItIs) {
  const std::string whole =
      kHeader + line("duplicate", {1, 2}) + review_line(sample_of(1)) + line("keep", {1});
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '"', '{', ']', '7', '\n', '\xFF'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      // Anything but a FormatError fails the test
      refused += refusal(damaged) == "nothing" ? 0 : 1;
    }
    refusal(whole.substr(0, at) + whole.substr(at + 1));
  }
  EXPECT_GT(refused, 6 * whole.size());
  EXPECT_NE(refusal(kHeader + std::string(100'000, '[') + "\n").find("nested too deep"),
            std::string::npos);
}

TEST(Review, WritesNothingThatItWouldRefuse) {
  EXPECT_THROW(review_line(judgement(Verdict::kDuplicate, {1})), UsageError);
  EXPECT_THROW(review_line(judgement(Verdict::kKeep, {1, 2})), UsageError);
  EXPECT_THROW(review_line(judgement(Verdict::kNone, {})), UsageError);
  EXPECT_THROW(review_line(judgement(Verdict::kDifferent, {1, 1})), UsageError);
  Judgement two = image_judgement(Verdict::kDrop, 1);
  two.images.push_back(hash_of_number(2));
  EXPECT_THROW(review_line(two), UsageError);
}

TEST(Review, HasTheSampleThatWasDrawnLast) {
  const Review review = parse_review(kHeader + review_line(sample_of(1)) + line("keep", {1}) +
                                         review_line(sample_of(2)) + line("different", {1, 2}),
                                     "said.jsonl");
  EXPECT_EQ(review.sample, sample_of(2));
  ASSERT_EQ(review.judgements.size(), 2);
  EXPECT_EQ(review.judgements[1].line, 5);
  EXPECT_FALSE(parse_review(kHeader + line("keep", {1}), "said.jsonl").sample);
}

TEST(Review, SampleThatCannotBeIsRefused) {
  const std::string good = review_line(sample_of(1));
  for (const auto& [from, to, why] : std::vector<std::array<std::string, 3>>{
           {"\"threshold\":4", "\"threshold\":-4", "'threshold' is not a whole number"},
           {"\"unknown\"", "\"else\"", "'classes' is not a known word"},
           {"\"pairs\":5312", "\"pairs\":0", "'drawn' has more pairs than its stratum"},
           {"\"strata\"", "\"layers\"", "lacks 'strata'"}}) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_NE(refusal(kHeader + bad).find("said.jsonl, line 2 is damaged: "), std::string::npos);
    EXPECT_NE(refusal(kHeader + bad).find(why), std::string::npos) << refusal(kHeader + bad);
  }
  PairSample turned = sample_of(1);
  std::swap(turned.strata[1].drawn[0][0], turned.strata[1].drawn[0][1]);
  EXPECT_NE(refusal(kHeader + review_line(turned)).find("the smaller hash first"),
            std::string::npos);
}

std::vector<std::pair<Verdict, std::uint64_t>> in_force(const std::vector<std::string>& texts) {
  std::vector<Review> reviews;
  for (const std::string& text : texts) reviews.push_back(parse_review(kHeader + text, "said"));
  std::vector<std::pair<Verdict, std::uint64_t>> out;
  for (const Judgement& one : last_said(reviews)) {
    out.emplace_back(one.verdict, 100 * one.review + one.line);
  }
  return out;
}

TEST(Review, WhatWasSaidLastOfTheSameImagesIsInForce) {
  using Said = std::vector<std::pair<Verdict, std::uint64_t>>;
  const Said both{{Verdict::kDuplicate, 2}, {Verdict::kDifferent, 3}};
  EXPECT_EQ(in_force({line("duplicate", {1, 2}) + line("different", {1, 2, 3})}), both);
  EXPECT_EQ(in_force({line("duplicate", {1, 2}) + line("different", {2, 1})}),
            (Said{{Verdict::kDifferent, 3}}));
  EXPECT_EQ(in_force({line("duplicate", {1, 2}) + line("none", {2, 1})}), Said());
  EXPECT_EQ(in_force({line("keep", {1}) + line("none", {1}) + line("keep", {1})}),
            (Said{{Verdict::kKeep, 4}}));
  EXPECT_EQ(in_force({line("duplicate", {1, 2}), line("unsure", {2, 1})}),
            (Said{{Verdict::kUnsure, 102}}));
  EXPECT_EQ(in_force({line("none", {1, 2}), line("duplicate", {1, 2})}),
            (Said{{Verdict::kDuplicate, 102}}));
}

TEST(Review, AnImageByItselfIsAnotherMatterThanItsGroup) {
  using Said = std::vector<std::pair<Verdict, std::uint64_t>>;
  EXPECT_EQ(in_force({line("keep", {1}) + image_line("keep", 1) + image_line("none", 1)}),
            (Said{{Verdict::kKeep, 2}}));
  EXPECT_EQ(in_force({image_line("drop", 1) + line("none", {1})}), (Said{{Verdict::kDrop, 2}}));
  EXPECT_EQ(in_force({image_line("drop", 1), image_line("keep", 1)}),
            (Said{{Verdict::kKeep, 102}}));
}

}  // namespace winnow::dedup::review_test
