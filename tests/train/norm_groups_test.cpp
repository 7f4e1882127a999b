#include "train/run/start/norm_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "tests/train/net_options.h"
#include "train/nets/nets.h"
#include "train/ops/batch_norm.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::norm_groups_test {

Graph training_graph(const Net& net, std::int64_t images, int side_px) {
  NetOptions options = square_images(side_px);
  options.batch = images;
  return prune(differentiate(net.make(options)));
}

bool has_norm_of_one_value(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    if (node.op != &kBatchNorm) return false;
    const Shape& x = graph.value(node.inputs.front()).shape;
    return element_count(x) == x[1];
  });
}

bool is_refused(const Graph& graph) {
  try {
    EXPECT_EQ(check_norm_groups(graph, "the net", false), std::nullopt);
    return false;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("one value per channel"), std::string::npos);
    return true;
  }
}

TEST(NormGroups, OfOneValueAreRefusedInEachNet) {
  int refused = 0;
  for (const Net& net : nets()) {
    for (const int side : {32, net.default_side_px}) {
      for (const std::int64_t images : {1, 2}) {
        Graph graph;
        try {
          graph = training_graph(net, images, side);
        } catch (const Error&) {
          continue;  // the net needs larger images
        }
        SCOPED_TRACE(std::string(net.name) + " at " + std::to_string(side));
        EXPECT_EQ(is_refused(graph), has_norm_of_one_value(graph));
        if (images > 1) {
          EXPECT_FALSE(is_refused(graph));
        }
        refused += is_refused(graph) ? 1 : 0;
      }
    }
  }
  EXPECT_GE(refused, 3);  // resnet18 at 32 pixels is among them
}

TEST(NormGroups, OfTheWholeBatchCount) {
  const Graph graph = training_graph(find_net("resnet18"), 1, 32);
  EXPECT_TRUE(is_refused(graph));
  EXPECT_FALSE(is_refused(synchronize_batch_norms(graph, 4)));
}

TEST(NormGroups, ARunThatHasBegunGoesOn) {
  const auto said = check_norm_groups(training_graph(find_net("resnet18"), 1, 32), "net", true);
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("one value per channel"), std::string::npos);
  EXPECT_FALSE(check_norm_groups(training_graph(find_net("resnet18"), 2, 32), "net", true));
}

TEST(NormGroups, OfFewImagesAreNamed) {
  const Graph norms = training_graph(find_net("resnet20"), 4, 32);
  const BatchLayout small{.batch = 4, .micro_batch = 4};
  const BatchLayout parts{.batch = 32, .micro_batch = 4};
  const auto said = note_on_norm_groups(norms, small, 1, false);
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("4 images"), std::string::npos);
  EXPECT_NE(said->find("--batch-size"), std::string::npos);
  EXPECT_NE(note_on_norm_groups(norms, parts, 1, false)->find("--micro-batch, of up to 32"),
            std::string::npos);
  EXPECT_FALSE(note_on_norm_groups(norms, parts, 2, false));
  EXPECT_FALSE(note_on_norm_groups(norms, parts, 1, true));
  EXPECT_FALSE(note_on_norm_groups(training_graph(find_net("lenet"), 4, 32), small, 1, false));
}

}  // namespace winnow::train::norm_groups_test
