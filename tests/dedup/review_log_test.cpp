#include "dedup/review/review_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/judgements.h"

namespace winnow::dedup::review_log_test {

namespace fs = std::filesystem;

Judgement duplicates(std::uint64_t a, std::uint64_t b) {
  return judgement(Verdict::kDuplicate, {a, b});
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class ReviewLogTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "near.jsonl";
};

TEST_F(ReviewLogTest, HoldsWhatWasSaidWhenItIsOpenedAgain) {
  {
    ReviewLog log(path_);
    EXPECT_TRUE(log.review().judgements.empty());
    log.append(std::vector{duplicates(1, 2), duplicates(3, 4)});
    log.append(std::vector{duplicates(5, 6)});
  }
  EXPECT_EQ(read_text(path_), review_header() + review_line(duplicates(1, 2)) +
                                  review_line(duplicates(3, 4)) + review_line(duplicates(5, 6)));
  const ReviewLog again(path_);
  EXPECT_EQ(again.review().judgements.size(), 3U);
  EXPECT_FALSE(again.review().cut_off);
}

TEST_F(ReviewLogTest, MendsALineThatWasCutOffAtAnyByte) {
  const std::string whole = review_header() + review_line(duplicates(1, 2));
  const std::string more = review_line(duplicates(3, 4));
  for (std::size_t bytes = 1; bytes < more.size(); ++bytes) {
    write(path_, whole + more.substr(0, bytes));
    ReviewLog log(path_);
    EXPECT_TRUE(log.review().cut_off);
    EXPECT_EQ(read_text(path_), whole);
    log.append(std::vector{duplicates(5, 6)});
    EXPECT_EQ(read_text(path_), whole + review_line(duplicates(5, 6)));
  }
}

TEST_F(ReviewLogTest, BeginsAgainWhereTheFirstLineWasCutOff) {
  const std::string header = review_header();
  for (std::size_t bytes = 0; bytes < header.size(); ++bytes) {
    write(path_, header.substr(0, bytes));
    const ReviewLog log(path_);
    EXPECT_EQ(read_text(path_), header);
  }
}

TEST_F(ReviewLogTest, LeavesAFileAloneThatIsNoReview) {
  for (const std::string text : {"name,split\na.jpg,train\nb.jp", "{", "x", "\n"}) {
    write(path_, text);
    if (review_header().starts_with(text)) continue;  // "{" may be the beginning of a header
    EXPECT_THROW(ReviewLog{path_}, FormatError) << text;
    EXPECT_EQ(read_text(path_), text);
  }
  EXPECT_THROW(ReviewLog{folder_.path()}, Error);
  EXPECT_THROW(ReviewLog{"/dev/null"}, UsageError);
}

TEST_F(ReviewLogTest, IsRefusedToASecond) {
  {
    const ReviewLog first(path_);
    try {
      const ReviewLog second(path_);
      FAIL() << "two opened one file";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("another winnow review"));
    }
  }
  EXPECT_NO_THROW(ReviewLog{path_});
}

// A limit on file size interrupts a write in the middle of a line, as a full disk does.
TEST_F(ReviewLogTest, StaysWholeWhereALineDoesNotFit) {
  ReviewLog log(path_);
  log.append(std::vector{duplicates(1, 2)});
  const std::string before = read_text(path_);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = before.size() + 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(log.append(std::vector{duplicates(3, 4)}), SystemError);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_text(path_), before);
  log.append(std::vector{duplicates(5, 6)});
  EXPECT_EQ(read_text(path_), before + review_line(duplicates(5, 6)));
}

TEST_F(ReviewLogTest, RefusesAJudgementThatItCouldNotRead) {
  ReviewLog log(path_);
  const std::string before = read_text(path_);
  EXPECT_THROW(log.append(std::vector{duplicates(1, 2), duplicates(3, 3)}), UsageError);
  EXPECT_EQ(read_text(path_), before);
}

}  // namespace winnow::dedup::review_log_test
