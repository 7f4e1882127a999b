#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/error.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/backend/cudnn/device.h"

// The message on a machine without a card, or with hidden ones: the same in every CUDA build.
namespace winnow::train::cudnn::no_card_test {

std::string refusal() {
  try {
    open_device(0);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(NoCard, IsOneSentence) {
  ASSERT_EQ(::setenv("CUDA_VISIBLE_DEVICES", "-1", 1), 0);
  EXPECT_THAT(refusal(), testing::AllOf(testing::AnyOf(testing::HasSubstr("no NVIDIA driver"),
                                                       testing::HasSubstr("no NVIDIA card")),
                                        testing::EndsWith("or use --backend onednn"),
                                        testing::Not(testing::HasSubstr("\n"))));
  EXPECT_THAT([] { make_cudnn_backend(BackendOptions{}); }, testing::Throws<Error>());
}

}  // namespace winnow::train::cudnn::no_card_test
