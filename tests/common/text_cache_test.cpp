#include "common/text_cache.h"

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

namespace winnow::text_cache_test {

namespace fs = std::filesystem;

class TextCacheTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
  const std::string text_ = R"({"engine": 46, "knobs": ["\n", "ü"]})";
};

TEST_F(TextCacheTest, GivesBackWhatWasStored) {
  const TextCache cache(root_ / "a" / "b");
  EXPECT_EQ(cache.find("forward f32"), std::nullopt);
  cache.store("forward f32", text_);
  cache.store("forward bf16", "other");
  EXPECT_EQ(cache.find("forward f32"), text_);
  EXPECT_EQ(cache.find("forward bf16"), "other");
  cache.store("forward f32", "newer");
  EXPECT_EQ(TextCache(root_ / "a" / "b").find("forward f32"), "newer");
}

TEST_F(TextCacheTest, WithoutAFolderNothingIsKept) {
  const TextCache cache{fs::path()};
  cache.store("key", text_);
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST_F(TextCacheTest, EveryDamagedByteIsNothingFound) {
  const TextCache cache(root_);
  cache.store("key", text_);
  const std::string good = read_text(cache.file_of("key"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file_durably(cache.file_of("key"), bad);
    EXPECT_EQ(cache.find("key"), std::nullopt) << "byte " << i;
  }
}

TEST_F(TextCacheTest, CutShortForeignOrAFolderIsNothingFound) {
  const TextCache cache(root_);
  cache.store("key", text_);
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
  cache.store("key", text_);  // cannot replace a folder, and says nothing
}

TEST_F(TextCacheTest, ATextOfAnotherKeyIsNothingFound) {
  const TextCache cache(root_);
  cache.store("key", text_);
  fs::copy_file(cache.file_of("key"), cache.file_of("other"));
  EXPECT_EQ(cache.find("other"), std::nullopt);
}

TEST_F(TextCacheTest, AFolderThatCannotBeMadeIsNoError) {
  write_file_durably(root_ / "file", std::string_view("text"));
  for (const fs::path& folder : {root_ / "file" / "texts", fs::path("/proc/winnow/texts")}) {
    const TextCache cache(folder);
    cache.store("key", text_);
    EXPECT_EQ(cache.find("key"), std::nullopt);
  }
}

TEST_F(TextCacheTest, AFolderThatCannotBeWrittenCanBeRead) {
  const TextCache cache(root_);
  cache.store("key", text_);
  fs::permissions(root_, fs::perms::owner_read | fs::perms::owner_exec);
  cache.store("more", text_);  // kept only where the user may do everything
  EXPECT_EQ(cache.find("key"), text_);
  fs::permissions(root_, fs::perms::owner_all);
}

TEST_F(TextCacheTest, ProcessesStoringAtOnceLeaveOneOfTheirTexts) {
  constexpr int kProcesses = 3;
  const TextCache cache(root_);
  const auto long_text = [](int i) {
    return std::string(static_cast<std::size_t>(200'000 * (i + 1)), static_cast<char>('a' + i));
  };
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int times = 0; times < 10; ++times) cache.store("key", long_text(i));
      ::_exit(0);
    }
    ASSERT_GT(child, 0);
  }
  const auto is_one_of_them = [&](const std::string& text) {
    return text == long_text(0) || text == long_text(1) || text == long_text(2);
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

TEST_F(TextCacheTest, AHugeFileIsNothingFound) {
  const TextCache cache(root_);
  cache.store("key", text_);
  fs::resize_file(cache.file_of("key"), std::uintmax_t{1} << 40);  // a hole
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST(UserCacheFolder, LiesInTheUsersCache) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  ::setenv("HOME", "/home/her", 1);
  EXPECT_EQ(user_cache_folder("rates"), "/somewhere/winnow/rates");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(user_cache_folder("rates"), "/home/her/.cache/winnow/rates");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(user_cache_folder("rates"), "/home/her/.cache/winnow/rates");
  ::unsetenv("HOME");
  EXPECT_EQ(user_cache_folder("rates"), "");
}

}  // namespace winnow::text_cache_test
