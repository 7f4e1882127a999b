#include "train/backend/cudnn/plan_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "common/file.h"
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

TEST_F(PlanCacheTest, EveryDamagedByteIsNothingFound) {
  const PlanCache cache(root_);
  cache.store("key", plan_);
  const std::string good = read_text(cache.file_of("key"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file_durably(cache.file_of("key"), bad);
    EXPECT_EQ(cache.find("key"), std::nullopt) << "byte " << i;
  }
}

TEST_F(PlanCacheTest, CutShortForeignOrAFolderIsNothingFound) {
  const PlanCache cache(root_);
  cache.store("key", plan_);
  const fs::path file = cache.file_of("key");
  const std::string good = read_text(file);
  for (const std::string& text : {std::string(), good.substr(0, good.size() / 2), std::string("{}"),
                                  std::string(4000, '['), std::string("\0\xff\xfe", 3)}) {
    write_file_durably(file, text);
    EXPECT_EQ(cache.find("key"), std::nullopt) << text.substr(0, 20);
  }
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  cache.store("key", plan_);  // cannot replace a folder; no error is reported
}

TEST_F(PlanCacheTest, APlanOfAnotherKeyIsNothingFound) {
  const PlanCache cache(root_);
  cache.store("key", plan_);
  fs::copy_file(cache.file_of("key"), cache.file_of("other"));
  EXPECT_EQ(cache.find("other"), std::nullopt);
}

TEST_F(PlanCacheTest, AFolderThatCannotBeMadeIsNoError) {
  write_file_durably(root_ / "file", std::string_view("text"));
  for (const fs::path& folder : {root_ / "file" / "plans", fs::path("/proc/winnow/plans")}) {
    const PlanCache cache(folder);
    cache.store("key", plan_);
    EXPECT_EQ(cache.find("key"), std::nullopt);
  }
}

TEST_F(PlanCacheTest, AFolderThatCannotBeWrittenCanBeRead) {
  const PlanCache cache(root_);
  cache.store("key", plan_);
  fs::permissions(root_, fs::perms::owner_read | fs::perms::owner_exec);
  cache.store("more", plan_);  // stored only if the user has all rights, as root
  EXPECT_EQ(cache.find("key"), plan_);
  fs::permissions(root_, fs::perms::owner_all);
}

TEST_F(PlanCacheTest, ProcessesStoringAtOnceLeaveOneOfTheirPlans) {
  constexpr int kProcesses = 3;
  const PlanCache cache(root_);
  const auto long_plan = [](int i) {
    return std::string(static_cast<std::size_t>(200'000 * (i + 1)), static_cast<char>('a' + i));
  };
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int times = 0; times < 10; ++times) cache.store("key", long_plan(i));
      ::_exit(0);
    }
    ASSERT_GT(child, 0);
  }
  const auto is_one_of_them = [&](const std::string& plan) {
    return plan == long_plan(0) || plan == long_plan(1) || plan == long_plan(2);
  };
  int running = kProcesses;
  while (running > 0) {
    const auto found = cache.find("key");
    EXPECT_TRUE(!found || is_one_of_them(*found));
    if (::waitpid(-1, nullptr, WNOHANG) > 0) --running;
  }
  const auto found = cache.find("key");
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_one_of_them(*found));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1);
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
