#include "common/error.h"

#include <gtest/gtest.h>

#include <string>

namespace winnow::error_test {

TEST(Error, IsToldToItsEnd) {
  const std::string name("a\0b", 3);
  EXPECT_STREQ(UsageError("'" + name + "' is no name").what(), "'a?b' is no name");
  EXPECT_STREQ(FormatError(name).what(), "a?b");
  EXPECT_STREQ(SystemError("plain").what(), "plain");
}

}  // namespace winnow::error_test
