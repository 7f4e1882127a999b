#include "app/plan/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::app::target_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<train::MetricsRow> rows() {
  const auto row = [](std::int64_t step, const char* name, double value) {
    return train::MetricsRow{.step = step, .values = {{name, value}}};
  };
  return {row(10, "train.loss", 2.0), row(20, "val.top1", 0.5), row(40, "val.top1", 0.7),
          row(60, "val.top1", 0.65),  row(80, "val.top1", 0.9), row(100, "val.top1", 0.95)};
}

TEST(Target, IsAMetricAndANumber) {
  const Target target = parse_target("top1=0.9");
  EXPECT_EQ(target.metric, "val.top1");
  EXPECT_EQ(target.value, 0.9);
  EXPECT_EQ(parse_target("loss:val=1e-3").metric, "val.loss");
  for (const char* text :
       {"", "top1", "top1=", "=0.9", "top1=high", "top1=0.9x", "speed=3", "top1=nan"}) {
    EXPECT_THROW(parse_target(text), UsageError) << text;
  }
}

TEST(Target, IsReachedByTheFirstEvaluationThatIsNoWorse) {
  const train::ReachedTarget at = reached(rows(), parse_target("top1=0.9"), 128, "run");
  EXPECT_EQ(at.batch, 128);
  EXPECT_EQ(at.steps, 80);
  EXPECT_EQ(at.before, 60);
  const train::ReachedTarget first = reached(rows(), parse_target("top1=0.1"), 128, "run");
  EXPECT_EQ(first.steps, 20);
  EXPECT_EQ(first.before, 0);
}

TEST(Target, ARunThatNeverReachedItIsNamedWithItsBest) {
  EXPECT_THAT([] { reached(rows(), parse_target("top1=0.99"), 128, "runs/a"); },
              ThrowsMessage<UsageError>(
                  testing::AllOf(HasSubstr("runs/a never reached top1=0.99"), HasSubstr("0.95"))));
  EXPECT_THAT([] { reached(rows(), parse_target("loss=0.1"), 128, "runs/a"); },
              ThrowsMessage<UsageError>(HasSubstr("no evaluation with val.loss")));
}

}  // namespace winnow::app::target_test
