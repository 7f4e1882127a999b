#include "common/row_called.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace winnow::row_called_test {

using testing::ThrowsMessage;

struct Row {
  std::string_view name;
  int number;
};
constexpr std::array kRows{Row{"sgd", 1}, Row{"adamw", 2}, Row{"lars", 3}, Row{"lars_paper", 4}};

TEST(NearestWord, BeginsSoOrIsLittleChanged) {
  const std::vector<std::string> known{"ingest", "index", "info", "tune-lr"};
  EXPECT_EQ(nearest_word("ingset", known), "ingest");
  EXPECT_EQ(nearest_word("ind", known), "index");
  EXPECT_EQ(nearest_word("tunelr", known), "tune-lr");
  EXPECT_EQ(nearest_word("train", known), "");
  EXPECT_EQ(nearest_word("", known), "");
}

TEST(RowCalled, FindsItOrSaysWhatThereIs) {
  EXPECT_EQ(row_called("unknown rule", "lars", kRows).number, 3);
  EXPECT_THAT([] { row_called("unknown rule", "adam", kRows); },
              ThrowsMessage<UsageError>("unknown rule 'adam'; known: sgd, adamw, lars, "
                                        "lars_paper; did you mean adamw?"));
  EXPECT_THAT(
      [] { row_called("unknown rule", "newton", kRows); },
      ThrowsMessage<UsageError>("unknown rule 'newton'; known: sgd, adamw, lars, lars_paper"));
}

}  // namespace winnow::row_called_test
