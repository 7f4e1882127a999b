#include "common/newest_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::newest_file_test {

namespace fs = std::filesystem;

constexpr auto kNever = [](const std::exception& error) { ADD_FAILURE() << error.what(); };

TEST(NewestFile, LastTextIsThereAtTheEndAndThoseBetweenMayBeLeftOut) {
  const TemporaryFolder folder;
  const fs::path path = folder / "figures";
  std::atomic<int> made = 0;
  std::promise<void> go_on;
  std::promise<void> began;
  {
    NewestFile file(path, kNever);
    file.put([&] {
      began.set_value();
      go_on.get_future().wait();
      ++made;
      return std::string("first");
    });
    began.get_future().wait();
    for (int i = 0; i < 10; ++i) {  // while the first is being written
      file.put([&made, i] {
        ++made;
        return std::to_string(i);
      });
    }
    go_on.set_value();
  }
  EXPECT_EQ(read_text(path), "9");
  EXPECT_EQ(made, 2);
}

TEST(NewestFile, WithoutATextThereIsNoFile) {
  const TemporaryFolder folder;
  { const NewestFile file(folder / "figures", kNever); }
  EXPECT_FALSE(fs::exists(folder / "figures"));
}

TEST(NewestFile, TellsWhyATextCouldNotBeWrittenAndTriesTheNext) {
  const TemporaryFolder folder;
  std::vector<std::string> said;
  const fs::path path = folder / "late" / "figures";
  {
    std::promise<void> failed;
    NewestFile file(path, [&](const std::exception& error) {
      said.emplace_back(error.what());
      failed.set_value();
    });
    file.put([] { return std::string("lost"); });
    failed.get_future().wait();
    fs::create_directory(folder / "late");
    file.put([] { return std::string("text"); });
  }
  EXPECT_EQ(read_text(path), "text");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("figures"), std::string::npos);
}

TEST(NewestFile, TellsOfTheLastTextToo) {
  const TemporaryFolder folder;
  std::vector<std::string> said;
  {
    NewestFile file(folder / "none" / "figures",
                    [&](const std::exception& error) { said.emplace_back(error.what()); });
    file.put([] { return std::string("text"); });
  }
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("figures"), std::string::npos);
}

TEST(NewestFile, TakesTextsOfSeveralThreads) {
  const TemporaryFolder folder;
  const fs::path path = folder / "figures";
  {
    NewestFile file(path, kNever);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) file.put([] { return std::string(100, 'x'); });
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(read_text(path), std::string(100, 'x'));
}

}  // namespace winnow::newest_file_test
