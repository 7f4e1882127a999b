#include "pipeline/ingest/remarks.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::pipeline::remarks_test {

using FailOn = Gate::FailOn;

std::map<std::string, std::uint64_t> classes(std::uint64_t ok, std::uint64_t truncated,
                                             std::uint64_t corrupt) {
  FateCounts counts{};
  counts[static_cast<std::size_t>(Fate::kOk)] = ok;
  counts[static_cast<std::size_t>(Fate::kTruncated)] = truncated;
  counts[static_cast<std::size_t>(Fate::kCorrupt)] = corrupt;
  return by_name(counts);
}

TEST(Remarks, CountWarningsAndReasons) {
  LedgerRow row;
  Remarks remarks;
  remarks.add(row);
  row.reason = "3 extraneous bytes";
  remarks.add(row);
  row.fate = Fate::kCorrupt;
  remarks.add(row);
  row.fate = Fate::kUnsupported;
  row.reason = "is a GIF";
  remarks.add(row);
  remarks.add(row);
  row.reason = "is a HEIC";
  remarks.add(row);
  EXPECT_EQ(remarks.warned, 1U);
  EXPECT_EQ(remarks.unsupported,
            (std::map<std::string, std::uint64_t>{{"is a GIF", 2}, {"is a HEIC", 1}}));
  Remarks twice = remarks;
  twice.add(remarks);
  EXPECT_EQ(twice.warned, 2U);
  EXPECT_EQ(twice.unsupported.at("is a GIF"), 4U);
}

TEST(Gate, WhatWasLeftOutIsNotBad) {
  auto some = classes(6, 0, 1);
  some["duplicate"] = 3;
  EXPECT_EQ(refusal({.fail_on = FailOn::kError, .max_bad = {}}, some, 0),
            "1 of 10 inputs could not be read (1 corrupt), but --fail-on error allows none");
  EXPECT_EQ(refusal({.fail_on = FailOn::kNone, .max_bad = parse_max_bad("1")}, some, 0), "");
  some.at("corrupt") = 0;
  EXPECT_EQ(refusal({.fail_on = FailOn::kWarning, .max_bad = parse_max_bad("0")}, some, 0), "");
}

TEST(Gate, EachLevelIncludesTheOnesBefore) {
  struct Case {
    std::map<std::string, std::uint64_t> classes;
    std::uint64_t warned;
    FailOn mildest;  // the first level that refuses it
  };
  const Case cases[] = {{classes(9, 0, 0), 0, static_cast<FailOn>(4)},
                        {classes(9, 0, 0), 1, FailOn::kWarning},
                        {classes(9, 0, 1), 0, FailOn::kError},
                        {classes(9, 1, 0), 0, FailOn::kTruncated}};
  for (const Case& c : cases) {
    for (const auto level : {FailOn::kNone, FailOn::kTruncated, FailOn::kError, FailOn::kWarning}) {
      const std::string why = refusal({.fail_on = level, .max_bad = {}}, c.classes, c.warned);
      EXPECT_EQ(!why.empty(), level >= c.mildest) << why;
    }
  }
  EXPECT_EQ(
      refusal({.fail_on = FailOn::kError, .max_bad = {}}, classes(6, 3, 1), 2),
      "4 of 10 inputs could not be read (1 corrupt, 3 truncated), but --fail-on error allows none");
}

TEST(Gate, MoreThanTheLimitIsTooMany) {
  const auto refuses = [](const std::string& limit, std::uint64_t bad) {
    const Gate gate{.fail_on = FailOn::kNone, .max_bad = parse_max_bad(limit)};
    return !refusal(gate, classes(200 - bad, bad, 0), 7).empty();
  };
  EXPECT_FALSE(refuses("3", 3));
  EXPECT_TRUE(refuses("3", 4));
  EXPECT_FALSE(refuses("0", 0));
  EXPECT_TRUE(refuses("0", 1));
  EXPECT_FALSE(refuses("0.5%", 1));
  EXPECT_TRUE(refuses("0.5%", 2));
  EXPECT_FALSE(refuses("100%", 199));
  const Gate gate{.fail_on = FailOn::kNone, .max_bad = parse_max_bad("2.5%")};
  EXPECT_NE(refusal(gate, classes(1, 1, 0), 0).find("--max-bad allows 2.5%"), std::string::npos);
  for (const char* bad : {"", "%", "x", "-1", "1.5", "101%", "3 ", "3%%", "nan", "inf%", "1e3"}) {
    EXPECT_THROW(parse_max_bad(bad), UsageError) << bad;
  }
}

}  // namespace winnow::pipeline::remarks_test
