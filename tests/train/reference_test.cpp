#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/train/cases.h"
#include "train/backend/reference/interpret.h"

namespace winnow::train {
namespace {

TEST(OpCases, CoverEveryOperationUnderUniqueNames) {
  std::set<OpKind> seen;
  std::set<std::string> names;
  for (const OpCase& made : op_cases()) {
    ASSERT_EQ(made.graph.nodes.size(), 1U) << made.name;
    seen.insert(made.graph.nodes[0].op);
    EXPECT_TRUE(names.insert(made.name).second) << made.name << " occurs twice";
    EXPECT_EQ(made.outputs, made.graph.nodes[0].outputs) << made.name;
    const auto values = interpret(made.graph, made.inputs);
    for (const ValueId id : made.outputs) {
      EXPECT_THAT(values[static_cast<std::size_t>(id)],
                  testing::Each(testing::Truly([](double v) { return std::isfinite(v); })))
          << made.name;
    }
  }
  const auto last = static_cast<std::size_t>(OpKind::kSoftmaxCrossEntropyBackward);
  EXPECT_EQ(seen.size(), last + 1);
}

}  // namespace
}  // namespace winnow::train
