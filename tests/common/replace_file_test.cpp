#include "common/replace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::replace_file_test {

namespace fs = std::filesystem;

TEST(ReplaceFile, ReadersHaveTheOldTextOrTheNew) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "figures";
  replace_file(path, "old");
  const InputFile before(path);
  replace_file(path, "anew");
  EXPECT_EQ(before.size(), 3U);  // a reader that opened it before still reads all of it
  EXPECT_EQ(read_text(path), "anew");
  EXPECT_FALSE(fs::exists(folder.path() / "figures.tmp"));
}

TEST(ReplaceFile, PassesOverWhatAKilledWriterLeft) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "figures";
  write_new_file(folder.path() / "figures.tmp", {});
  replace_file(path, "whole");
  EXPECT_EQ(read_text(path), "whole");
}

TEST(Replaceable, IsNoDeviceAndNoFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(replaceable(folder.path() / "new"), folder.path() / "new");
  write_new_file(folder.path() / "old", {});
  EXPECT_EQ(replaceable(folder.path() / "old"), folder.path() / "old");
  for (const fs::path& path : {fs::path("/dev/null"), fs::path("/dev/stdout"), folder.path()}) {
    EXPECT_THROW(replaceable(path), UsageError) << path;
  }
}

TEST(ReplaceFile, LeavesWhatIsThereWhereItCannot) {
  const TemporaryFolder folder;
  EXPECT_THROW(replace_file(folder.path() / "none" / "figures", "text"), SystemError);
  fs::create_directory(folder.path() / "taken");
  EXPECT_THROW(replace_file(folder.path() / "taken", "text"), SystemError);
  EXPECT_TRUE(fs::is_directory(folder.path() / "taken"));
  EXPECT_FALSE(fs::exists(folder.path() / "taken.tmp"));
}

}  // namespace winnow::replace_file_test
