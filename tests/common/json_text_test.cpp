#include "common/json_text.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::json_text_test {

constexpr std::string_view kJson = "{\n  \"a\": 1\n}\n";

TEST(DigestLine, IsTheHashOfTheRest) {
  const std::string text = with_digest_line(kJson);
  // printf '{\n  "a": 1\n}\n' | xxh128sum
  EXPECT_EQ(digest_of_json(kJson), "1e5e1e2dfa6dee4dd0954816897db19f");
  EXPECT_EQ(text, "{\n  \"digest\": \"1e5e1e2dfa6dee4dd0954816897db19f\",\n  \"a\": 1\n}\n");
  EXPECT_TRUE(digest_line_matches(text));
}

TEST(DigestLine, SeesEveryFlippedBitCutAndAddition) {
  const std::string good = with_digest_line(kJson);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_FALSE(digest_line_matches(bad)) << "byte " << at << " bit " << bit;
    }
    EXPECT_FALSE(digest_line_matches(good.substr(0, at))) << "cut to " << at;
  }
  EXPECT_FALSE(digest_line_matches(good + "\n"));
  EXPECT_FALSE(digest_line_matches(kJson));
}

TEST(DigestLine, GoesIntoIndentedObjectsOnly) {
  EXPECT_THROW(with_digest_line("{\"a\":1}"), Error);
  EXPECT_THROW(with_digest_line(""), Error);
}

}  // namespace winnow::json_text_test
