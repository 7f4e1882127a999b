#include "pipeline/load/class_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::pipeline::class_weights_test {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

// One label each, except for the last two: none, and two.
const SampleLabels kLabels{{0, 1, 2, 3, 4, 4, 6}, {0, 0, 2, 0, 0, 2}};
const std::vector<std::string> kClasses = {"cat", "dog", "emu"};

// scikit-learn 1.9: compute_class_weight("balanced", classes=[0, 2], y=[0, 0, 2, 0])
TEST(ClassFactors, BalancedIsScikitLearns) {
  EXPECT_THAT(class_factors({.balanced = true}, kLabels, kClasses),
              ElementsAre(DoubleEq(4 / (2 * 3.0)), 1, DoubleEq(4 / (2 * 1.0))));
  EXPECT_THAT(class_factors({.balanced = true}, {{0}, {}}, kClasses), ElementsAre(1, 1, 1));
}

TEST(ClassFactors, AreThoseGivenAndElseOne) {
  EXPECT_THAT(class_factors({.of = {{"dog", 0}, {"cat", 2.5}}}, kLabels, kClasses),
              ElementsAre(2.5, 0, 1));
  EXPECT_THAT(
      [] {
        class_factors({.of = {{"cow", 2}}}, kLabels, kClasses);
      },
      ThrowsMessage<UsageError>(HasSubstr("names 'cow', which is not a class")));
}

TEST(WeighClasses, MultipliesAndLeavesOutWhatWeighsNothing) {
  const SampleSet samples{.ids = {1, 2, 3, 4, 5, 6}, .weights = {1, 0.5, 1, 1, 3, 4}};
  const SampleSet weighed = weigh_classes(samples, kLabels, {2, 1, 0.25});
  EXPECT_THAT(weighed.ids, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(weighed.weights, ElementsAre(2, 1, 0.25, 2, 3, 4));
  const SampleSet without = weigh_classes(samples, kLabels, {0, 1, 1});
  EXPECT_THAT(without.ids, ElementsAre(3, 5, 6));
  EXPECT_TRUE(without.turn_offsets.empty());
  EXPECT_THAT(
      [&] {
        weigh_classes({.ids = {1, 2}, .weights = {1, 1}}, {{0, 1, 2}, {0, 0}}, {0, 1, 1});
      },
      ThrowsMessage<UsageError>(HasSubstr("leaves no training sample")));
}

// 1 and 3 take turns, and so do 2 and 4. 1 and 4 are removed.
TEST(WeighClasses, LetsTheOthersOfAPlaceTakeTheirTurns) {
  const std::vector<SampleId> stands_for{1, 2, 1, 2, 5};
  const SampleSet samples = take_turns({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}, stands_for);
  const SampleLabels labels{{0, 1, 2, 3, 4, 5}, {1, 0, 0, 1, 0}};
  const SampleSet left = weigh_classes(samples, labels, {3, 0});
  EXPECT_THAT(left.ids, ElementsAre(2, 3, 5));
  EXPECT_THAT(left.weights, ElementsAre(3, 3, 3));
  EXPECT_THAT(left.turn_offsets, ElementsAre(0, 1, 2, 3));
  const SampleSet all = weigh_classes(samples, labels, {3, 2});
  EXPECT_THAT(all.turn_offsets, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(all.turn_rows, ElementsAre(0, 2, 1, 3, 4));
}

class ClassWeightFile : public testing::Test {
 protected:
  ClassWeights parse(const std::string& text) {
    const auto file = folder_.path() / "weights.csv";
    std::ofstream(file) << text;
    return parse_class_weights(file.string());
  }
  void refuses(const std::string& text, const std::string& words) {
    EXPECT_THAT([&] { parse(text); }, ThrowsMessage<UsageError>(HasSubstr(words))) << text;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ClassWeightFile, HasAClassAndAWeightALine) {
  EXPECT_TRUE(parse_class_weights("balanced").balanced);
  EXPECT_THAT(parse("class,weight\ncat,2\n\"a, b\",0.5\n").of,
              UnorderedElementsAre(Pair("cat", 2), Pair("a, b", 0.5)));
  EXPECT_THAT(parse("cat,1e3").of, UnorderedElementsAre(Pair("cat", 1000)));
  EXPECT_FALSE(parse("cat,0").none());
}

TEST_F(ClassWeightFile, IsRefusedByTheLineThatIsWrong) {
  refuses("cat,1\ndog\n", "weights.csv, line 2, has 1 fields");
  refuses("cat,1\ncat,2\n", "line 2, names class 'cat' a second time");
  for (const std::string weight : {"-1", "nan", "inf", "1e7", "", "2x", " 2"}) {
    refuses("cat," + weight + "\n", "line 1, has the weight '" + weight + "'");
  }
  refuses("class,weight\n", "names no class");
  EXPECT_THAT([] { parse_class_weights("/nowhere/weights.csv"); },
              ThrowsMessage<UsageError>(HasSubstr("neither balanced nor an existing file")));
}

}  // namespace winnow::pipeline::class_weights_test
