#include "train/model/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "common/error.h"
#include "tests/train/net_options.h"
#include "train/nets/nets.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::class_names_test {

using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

TEST(ClassNames, TheFirstThatOneLacksIsNamed) {
  const Names abc{"a", "b", "c"};
  EXPECT_THAT(first_other_class(abc, "run", {"c", "a", "b"}, "cache"), IsEmpty());
  EXPECT_EQ(first_other_class(abc, "run", {"a", "x", "y"}, "cache"),
            "'x', which is in cache but not in run");
  EXPECT_EQ(first_other_class(abc, "run", {"a", "b"}, "cache"),
            "'c', which is in run but not in cache");
}

// The logits of every net are rows of a layer, which move with the names.
TEST(ClassNames, EachNetsOutputsFollowTheirNames) {
  constexpr std::int64_t kMostParameters = 12'000'000;
  std::size_t tried = 0;
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    const Graph training = net.make(square_images(net.default_side_px, 3));
    if (count(training).parameters > kMostParameters) continue;
    for (const Graph& graph : {training, for_inference(fuse(training))}) {
      Model model = make_model(graph, [](const Value& value) {
        std::vector<float> numbers(static_cast<std::size_t>(element_count(value.shape)));
        std::iota(numbers.begin(), numbers.end(), 0.0F);
        return numbers;
      });
      const Model before = model;
      model.classes = {"a", "b", "c"};
      order_classes(model, graph, {"c", "a", "b"});
      EXPECT_EQ(model.classes, (Names{"c", "a", "b"}));
      std::size_t moved = 0;
      for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const std::vector<float>& now = model.tensors[i].data;
        const std::vector<float>& was = before.tensors[i].data;
        if (model.tensors[i].about.shape.front() != 3 || now == was) {
          EXPECT_EQ(now, was) << model.tensors[i].about.name;
          continue;
        }
        const std::size_t size = now.size() / 3;
        for (std::size_t row = 0; row < 3; ++row) {
          const std::size_t from = (row + 2) % 3;
          EXPECT_TRUE(std::equal(now.begin() + static_cast<std::ptrdiff_t>(row * size),
                                 now.begin() + static_cast<std::ptrdiff_t>((row + 1) * size),
                                 was.begin() + static_cast<std::ptrdiff_t>(from * size)));
        }
        ++moved;
      }
      EXPECT_GE(moved, 1U);
    }
    ++tried;
  }
  EXPECT_GE(tried, nets().size() / 2);
}

TEST(ClassNames, OfAFileComeBackAsTheyWere) {
  const Names names{"cat", "caf\u00e9", "\"quoted\"", ""};
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  EXPECT_THAT(classes_in(metadata), IsEmpty());
  add_classes(metadata, {});
  EXPECT_EQ(metadata.size(), 1U);
  add_classes(metadata, names);
  EXPECT_EQ(classes_in(metadata), names);
}

TEST(ClassNames, WhatOthersCallClassesIsNoNames) {
  for (const char* other :
       {"", "3", "1000", "cat,dog", "[1]", "[\"a\",\"a\"]", "[[\"a\"]]", "{\"a\":1}", "[\"a\""}) {
    EXPECT_THAT(classes_in({{kClassesEntry, other}}), IsEmpty()) << other;
  }
}

}  // namespace winnow::train::class_names_test
