#include "pipeline/ingest/hash_source.h"

#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/pipeline/fake_source.h"
#include "tests/pipeline/joint_reads.h"

namespace winnow::pipeline::hash_source_test {

class HashSourceTest : public testing::Test {
 protected:
  HashSourceTest() {
    std::mt19937_64 random(3);
    for (int i = 0; i < 200; ++i) {
      const Image picture = make_picture(random, 16 + i % 5, 20, i % 2 == 0 ? 1 : 3);
      if (i % 7 == 0) {
        source_.add("broken", Bytes(30));
      } else if (i % 3 == 0) {
        source_.add("pixels", picture);
      } else {
        source_.add("png", encode_picture(picture, ".png"));
      }
    }
  }
  std::vector<HashedInput> run(const HashSourceOptions& options) const {
    std::vector<HashedInput> inputs;
    hash_source(source_, hashes_, options, [&](const HashedInput& in) { inputs.push_back(in); });
    return inputs;
  }

  FakeSource source_;
  const std::vector<dedup::HashKind> hashes_{dedup::find_hash("phash")};
};

TEST_F(HashSourceTest, InputsComeInOrderWhateverTheThreads) {
  const auto alone = run({.threads = 1, .readers = 1});
  ASSERT_EQ(alone.size(), 200U);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].position, i);
    EXPECT_EQ(alone[i].problem.empty(), i % 7 != 0);
    EXPECT_EQ(alone[i].codes.size(), i % 7 == 0 ? 0U : 1U);
  }
  const auto together = run({.threads = 4});
  ASSERT_EQ(together.size(), 200U);
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i].position, i);
    EXPECT_EQ(together[i].problem, alone[i].problem);
    if (alone[i].codes.empty()) continue;
    EXPECT_EQ(together[i].codes[0].words, alone[i].codes[0].words);
  }
}

TEST_F(HashSourceTest, OneWorkerIsFedByManyReaders) {
  JointReads reads;
  source_.on_read = [&](std::size_t) -> std::optional<FakeSource::Answer> {
    reads.read();
    return std::nullopt;
  };
  EXPECT_EQ(run({.threads = 1}).size(), 200U);
  EXPECT_TRUE(reads.joint());
}

TEST_F(HashSourceTest, WhatIsThrownEndsItAndIsThrown) {
  int taken = 0;
  const auto take = [&](const HashedInput&) {
    if (++taken == 50) throw SystemError("a full disk");
  };
  EXPECT_THROW(hash_source(source_, hashes_, {.threads = 2}, take), SystemError);
  EXPECT_EQ(taken, 50);
  EXPECT_THROW(run({.threads = 2, .stop = [] { return true; }}), StoppedError);
  source_.on_read = [](std::size_t position) -> std::optional<FakeSource::Answer> {
    if (position == 120) throw SystemError("no storage");
    return std::nullopt;
  };
  EXPECT_THROW(run({.threads = 2}), SystemError);
}

}  // namespace winnow::pipeline::hash_source_test
