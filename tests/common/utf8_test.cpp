#include "common/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace winnow::utf8_test {

TEST(Utf8, LeavesTextAlone) {
  for (const std::string text : {"", "cat", "caf\xC3\xA9", "\xE6\xBC\xA2", "\xF0\x9F\x90\x88"}) {
    EXPECT_EQ(to_utf8(text), text);
    EXPECT_EQ(from_utf8(text), text);
  }
}

TEST(Utf8, WritesOtherBytesAsCharacters) {
  EXPECT_EQ(to_utf8("caf\xE9"), "caf\xEE\xBF\xA9");  // U+EFE9
  EXPECT_EQ(to_utf8("\xC0\x80"), "\xEE\xBF\x80\xEE\xBE\x80");
  EXPECT_EQ(to_utf8("\xEE\xBF\xA9"),
            "\xEE\xBF\xAE\xEE\xBE\xBF\xEE\xBE\xA9");  // already such a character
}

// The test that any bytes survive needs a JSON parser: tests/pipeline/manifest_test.cpp.

}  // namespace winnow::utf8_test
