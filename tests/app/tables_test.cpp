#include "app/predict/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace winnow::app::tables_test {

using ::testing::ElementsAre;

TableContent telling(bool sigmoid, int top = 5) {
  TableContent of;
  of.classes = {"cat", "a,b", "dog"};
  of.sigmoid = sigmoid;
  of.table.top = top;
  return of;
}

TEST(Tables, OfOneLabelAreTheLikeliestInTheirOrder) {
  const std::vector<float> probabilities{0.25F, 0.5F, 0.25F};
  EXPECT_THAT(labels_of(telling(false), probabilities), ElementsAre(1));
  EXPECT_THAT(listed_labels(telling(false), probabilities), ElementsAre(1, 0, 2));
  EXPECT_THAT(listed_labels(telling(false, 2), probabilities), ElementsAre(1, 0));
  ImageResult result;
  result.probabilities = probabilities;
  EXPECT_EQ(csv_header(telling(false, 2)), "name,class,probability,class_2,probability_2\n");
  EXPECT_EQ(csv_row(telling(false, 2), "x, y", result), "\"x, y\",\"a,b\",0.5,cat,0.25\n");
}

TEST(Tables, OfSeveralLabelsAreThoseAboveTheThreshold) {
  const std::vector<float> probabilities{0.75F, 0.5F, 0.875F};
  EXPECT_THAT(labels_of(telling(true), probabilities), ElementsAre(2, 0));
  ImageResult result;
  result.probabilities = probabilities;
  EXPECT_EQ(csv_row(telling(true), "x", result), "x,dog|cat,0.875|0.75\n");
  result.probabilities = {0, 0.5F, 0};
  EXPECT_EQ(csv_row(telling(true), "x", result), "x,,\n");
}

TEST(Tables, OfNoAnswerHaveEmptyColumns) {
  TableContent windows = telling(false, 2);
  windows.windows = true;
  ImageResult result;
  result.windows = 4;
  result.flat_windows = 4;
  result.height_px = 7;
  result.width_px = 9;
  EXPECT_EQ(csv_row(windows, "x", result), "x,,,,,7,9,4,4\n");
}

}  // namespace winnow::app::tables_test
