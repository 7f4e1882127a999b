#include "train/backend/cudnn/plan_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/common/temporary_folder.h"

namespace winnow::train::cudnn::plan_cache_test {

namespace fs = std::filesystem;

class PlanCacheTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
  const std::string plan_ = R"({"engine": 46, "knobs": ["\n", "ü"]})";
};

TEST_F(PlanCacheTest, GivesBackWhatWasStored) {
  const PlanCache cache(root_ / "a" / "b");
  EXPECT_EQ(cache.find("forward f32"), std::nullopt);
  cache.store("forward f32", plan_);
  cache.store("forward bf16", "other");
  EXPECT_EQ(cache.find("forward f32"), plan_);
  EXPECT_EQ(cache.find("forward bf16"), "other");
  cache.store("forward f32", "newer");
  EXPECT_EQ(PlanCache(root_ / "a" / "b").find("forward f32"), "newer");
}

TEST_F(PlanCacheTest, WithoutAFolderNothingIsKept) {
  const PlanCache cache{fs::path()};
  cache.store("key", plan_);
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

Card h200() {
  Card card;
  card.name = "NVIDIA H200 (PCIe)/2";
  card.capability = 90;
  card.cudnn = "9.19.0";
  card.driver = "13.0";
  return card;
}

TEST(PlanFolder, IsNamedByWhatDecidesAPlan) {
  EXPECT_EQ(platform_name(h200()), "NVIDIA-H200-PCIe-2_sm90_cudnn-9.19.0_driver-13.0");
}

TEST(PlanFolder, LiesInTheUsersCache) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  ::setenv("HOME", "/home/her", 1);
  const fs::path below = fs::path("winnow") / "cudnn-plans" / platform_name(h200());
  EXPECT_EQ(default_plan_folder(h200()), "/somewhere" / below);
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_plan_folder(h200()), "/home/her/.cache" / below);
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(default_plan_folder(h200()), "/home/her/.cache" / below);
  ::unsetenv("HOME");
  EXPECT_EQ(default_plan_folder(h200()), "");
}

}  // namespace winnow::train::cudnn::plan_cache_test
