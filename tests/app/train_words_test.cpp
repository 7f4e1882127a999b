#include "app/experiment/train_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"

namespace winnow::app::train_words_test {

using ::testing::HasSubstr;

std::string refusal(std::string_view verb, const std::vector<std::string>& words) {
  try {
    check_train_words(verb, words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TrainWords, ACommandIsOfWordsForAShell) {
  EXPECT_EQ(train_command("my cache", {"--net", "lenet", "--freeze", "layer1.*"}),
            "winnow train 'my cache' --out run --net lenet --freeze 'layer1.*'");
}

TEST(TrainWords, SaysWhatToDoInPlaceOfWhatIsDecided) {
  EXPECT_EQ(refusal("sweep", {"--net", "resnet20", "--lr", "0.1", "--batch-size", "64"}), "");
  EXPECT_EQ(refusal("tune-lr", {"--net", "resnet20", "--recipe", "none", "--nesterov"}), "");
  for (const std::string verb : {"sweep", "tune-lr"}) {
    EXPECT_THAT(refusal(verb, {"--net", "lenet", "--out=run"}),
                HasSubstr("--out cannot be passed to winnow train, because winnow " + verb +
                          " decides it; give it before --"));
    EXPECT_THAT(refusal(verb, {"--resume", "auto"}), HasSubstr("the same command resumes"));
  }
  EXPECT_THAT(refusal("sweep", {"--seed", "3"}), HasSubstr("--seeds"));
  EXPECT_THAT(refusal("tune-lr", {"--seed", "3"}), HasSubstr("give it before --"));
  EXPECT_THAT(refusal("tune-lr", {"--batch-size=64"}), HasSubstr("give --batch-sizes before --"));
  for (const char* const flag :
       {"--lr", "--weight-decay", "--warmup-epochs", "--lars-eta", "--momentum"}) {
    EXPECT_THAT(refusal("tune-lr", {flag, "1"}), HasSubstr("give it before --")) << flag;
    EXPECT_EQ(refusal("sweep", {flag, "1"}), "") << flag;
  }
}

TEST(TrainWords, AreLeftOutWithTheirValues) {
  const std::vector<WordFlag> flags{{"--beta2", true}, {"--nesterov", false}};
  const std::vector<std::string> left{"--net", "lenet", "--lr", "1"};
  EXPECT_EQ(without_flags({"--net", "lenet", "--lr", "1"}, flags), left);
  EXPECT_EQ(without_flags({"--nesterov", "--net", "lenet", "--lr", "1"}, flags), left);
  EXPECT_EQ(without_flags({"--net", "lenet", "--beta2", "0.9", "--lr", "1"}, flags), left);
  EXPECT_EQ(without_flags({"--net", "lenet", "--beta2=0.9", "--lr", "1"}, flags), left);
  EXPECT_EQ(without_flags({"--net", "lenet", "--lr", "1", "--beta2"}, flags), left);
  EXPECT_THAT(without_flags({"--nesterov", "--beta2", "--nesterov"}, flags), ::testing::IsEmpty());
}

}  // namespace winnow::app::train_words_test
