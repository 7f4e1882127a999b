#include "tests/common/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::vectors_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Vectors : public testing::Test {
 protected:
  // Writes these tables to a file. Returns its name in the form that vectors() expects.
  std::string file_of(const std::string& json) {
    const auto path = folder_.path() / "file";
    std::ofstream(path.string() + ".json") << json;
    return path;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Vectors, AreTheRowsOfATable) {
  const auto rows = test::vectors(
      file_of(R"({"about": "x", "a": [{"hash": "00000000000000ff", "x": [1, -0.5]}], "b": []})"),
      "a");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(test::hash_of(rows[0].at("hash")), 255U);
  EXPECT_THAT(test::reals(rows[0].at("x")), ElementsAre(1, -0.5));
}

// A test without rows to compare would pass.
TEST_F(Vectors, AreNeverNone) {
  EXPECT_THROW(test::vectors("common/no_such_file", "a"), SystemError);
  const std::string file = file_of(R"({"b": [], "c": 7})");
  const auto refusal_of = [&](const std::string& table, const std::string& words) {
    EXPECT_THAT([&] { test::vectors(file, table); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  refusal_of("a", "lacks 'a'");
  refusal_of("b", "'b' has no rows");
  refusal_of("c", "'c' is not a list");
}

TEST_F(Vectors, AreRefusedWhereTheyAreNoNumbers) {
  const std::string file = file_of(R"({"a": [{"x": [1, "2"], "short": "ff", "long":)"
                                   R"( "00000000000000ff0", "other": "000000000000000g"}]})");
  const JsonReader row = test::vectors(file, "a").front();
  EXPECT_THROW(test::reals(row.at("x")), FormatError);
  for (const char* name : {"short", "long", "other"}) {
    EXPECT_THAT([&] { test::hash_of(row.at(name)); },
                ThrowsMessage<FormatError>(HasSubstr("is not 16 hexadecimal digits")));
  }
}

}  // namespace winnow::vectors_test
