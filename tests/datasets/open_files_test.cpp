#include "datasets/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::datasets::open_files_test {

namespace fs = std::filesystem;

class OpenFilesTest : public testing::Test {
 protected:
  fs::path path(std::size_t number) const { return folder_ / std::to_string(number); }
  void fill(OpenFiles& files, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      std::ofstream(path(i)) << "file " << i;
      files.add(InputFile(path(i)));
    }
  }
  static std::string text(const InputFile& file) {
    std::string out(file.size(), ' ');
    file.read_at(0, std::as_writable_bytes(std::span(out)));
    return out;
  }

  TemporaryFolder folder_;
};

TEST_F(OpenFilesTest, ThoseUsedLastStayOpen) {
  OpenFiles files(2);
  fill(files, 4);
  EXPECT_EQ(files.size(), 4U);
  files.get(0);
  files.get(1);
  files.get(0);
  files.get(2);  // replaces 1
  for (std::size_t i = 0; i < 4; ++i) fs::remove(path(i));
  EXPECT_EQ(text(*files.get(0)), "file 0");
  EXPECT_EQ(text(*files.get(2)), "file 2");
  EXPECT_THROW(files.get(1), SystemError);
  EXPECT_EQ(text(*files.get(0)), "file 0");  // which changed nothing
}

TEST_F(OpenFilesTest, AFileStaysOpenForWhoHasIt) {
  OpenFiles files(1);
  fill(files, 2);
  const auto first = files.get(0);
  files.get(1);
  fs::remove(path(0));
  EXPECT_EQ(text(*first), "file 0");
}

TEST_F(OpenFilesTest, AFileOfAnotherSizeIsRefused) {
  OpenFiles files(1);
  fill(files, 2);
  std::ofstream(path(0)) << "longer than before";
  EXPECT_THROW(files.get(0), SystemError);
}

TEST_F(OpenFilesTest, ManyThreadsFindTheirFiles) {
  OpenFiles files(3);
  fill(files, 16);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t number = (i * (t + 3)) % 16;
        EXPECT_EQ(text(*files.get(number)), "file " + std::to_string(number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OpenFilesTest, TheShareFollowsTheLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto share_at = [&](rlim_t soft) {
    const rlimit now{soft, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
    return share_of_open_files();
  };
  EXPECT_EQ(share_at(512), 64U);
  EXPECT_EQ(share_at(40), 8U);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace winnow::datasets::open_files_test
