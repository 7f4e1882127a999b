#include "pipeline/load/dataset.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/pipeline/test_cache.h"

namespace winnow::pipeline::dataset_test {

using Labels = std::vector<std::vector<std::int32_t>>;  // of each image
using test::Sample;
using test::TestCache;

std::string digest_of(const std::vector<std::string>& classes, const Labels& labels) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    samples.push_back(test::raw(i, test::random_image(4, 4, 3, i)));
    samples.back().labels = labels[i];
  }
  const TestCache cache(samples, "original", 1, classes);
  return digest_by_names(*cache);
}

TEST(DigestByNames, IsOfNamesInWhateverOrder) {
  const std::string plain = digest_of({"ant", "bee", "cat"}, {{0, 2}, {1}, {}, {0, 1, 2}});
  // Labels of an image ascend, as they are stored, in another order of the names.
  EXPECT_EQ(digest_of({"cat", "ant", "bee"}, {{0, 1}, {2}, {}, {0, 1, 2}}), plain);
  EXPECT_EQ(digest_of({"ant", "bee", "cat"}, {{2, 0}, {1}, {}, {1, 2, 0}}), plain);
  // Another label, one that went to the next image, another name.
  EXPECT_NE(digest_of({"ant", "bee", "cat"}, {{0, 1}, {1}, {}, {0, 1, 2}}), plain);
  EXPECT_NE(digest_of({"ant", "bee", "cat"}, {{0}, {1, 2}, {}, {0, 1, 2}}), plain);
  EXPECT_NE(digest_of({"ant", "bee", "cow"}, {{0, 2}, {1}, {}, {0, 1, 2}}), plain);
}

}  // namespace winnow::pipeline::dataset_test
