#include "common/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::csv_test {

using testing::ElementsAre;
using testing::HasSubstr;

// "line: field|field" for every row. The text is fed in pieces of `piece` characters.
std::vector<std::string> rows_of(std::string_view text, char delimiter = ',',
                                 std::size_t piece = 1) {
  std::vector<std::string> rows;
  CsvReader reader(delimiter, "a.csv",
                   [&](std::span<const std::string> fields, std::uint64_t line) {
                     std::string row = std::to_string(line) + ":";
                     for (const std::string& field : fields) row += field + "|";
                     rows.push_back(row);
                   });
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    reader.feed(text.substr(0, piece));
  }
  reader.finish();
  return rows;
}

TEST(CsvTest, RowsAndFields) {
  for (const std::size_t piece : {1U, 3U, 1000U}) {
    EXPECT_THAT(rows_of("a,b\r\n\n1,\n,2", ',', piece), ElementsAre("1:a|b|", "3:1||", "4:|2|"));
  }
  EXPECT_THAT(rows_of("\xEF\xBB\xBFpath\tlabel\n", '\t'), ElementsAre("1:path|label|"));
  EXPECT_THAT(rows_of(""), ElementsAre());
}

TEST(CsvTest, Quotes) {
  EXPECT_THAT(rows_of("\"a,b\",\"say \"\"x\"\"\"\n\"two\nlines\",c\nd"),
              ElementsAre("1:a,b|say \"x\"|", "2:two\nlines|c|", "4:d|"));
  EXPECT_THAT(rows_of("a\"b,\"\"\n"), ElementsAre("1:a\"b||"));
  EXPECT_THAT(rows_of("\xEF\xBB\xBF\"a\"\r\n"), ElementsAre("1:a|"));
  for (const char* text : {"plain", "a,b", "say \"x\"", "two\nlines", "of Windows\r"}) {
    EXPECT_THAT(rows_of(csv_field(text)), ElementsAre("1:" + std::string(text) + "|"));
  }
}

TEST(CsvTest, WhatIsNoRowIsRefusedByLine) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      rows_of(text, ',', 4096);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("a\nb,\"c\nd"),
              HasSubstr("a.csv: the row that begins in line 2 has a quote"));
  EXPECT_THAT(refusal("a\n" + std::string(2 << 20, 'x')), HasSubstr("line 2 has more than 1 MiB"));
  EXPECT_EQ(refusal(std::string(1 << 19, ',') + "\n" + std::string(1 << 19, 'x')), "accepted");
}

}  // namespace winnow::csv_test
