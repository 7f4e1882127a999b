#include "pipeline/recall/recall.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "common/error.h"
#include "common/resample.h"
#include "dedup/search/search.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/recall/edits.h"
#include "pipeline/store/cache.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::recall_test {

// A picture with content at every place and scale that a hash looks at.
Image picture(std::uint64_t seed, int height, int width, int channels) {
  std::mt19937_64 random(seed);
  Image small(12, 12, channels);
  for (std::uint8_t& p : small.pixels) p = static_cast<std::uint8_t>(random());
  return resize(small.view(), height, width, ResampleFilter::kBilinear);
}

const Edit& edit_of(const std::vector<Edit>& edits, std::string_view name) {
  return *std::ranges::find(edits, name, &Edit::name);
}

TEST(Edits, TakePicturesOfAnySizeAndKeepTheirColours) {
  const std::vector<Edit> edits = common_edits();
  std::set<std::string> names;
  for (const Edit& edit : edits) {
    EXPECT_TRUE(names.insert(edit.name).second) << edit.name;
    for (const int channels : {1, 3}) {
      for (const auto& [height, width] : {std::pair{1, 1}, {5, 300}, {64, 48}}) {
        const Image image = picture(1, height, width, channels);
        const Image edited = edit.apply(image.view(), 5);
        EXPECT_GE(edited.height_px, 1) << edit.name;
        EXPECT_GE(edited.width_px, 1) << edit.name;
        EXPECT_EQ(edited.channels, channels) << edit.name;
        EXPECT_EQ(edited, edit.apply(image.view(), 5)) << edit.name;
      }
    }
  }
}

TEST(Edits, DoWhatTheirNamesSay) {
  const std::vector<Edit> edits = common_edits();
  const Image image = picture(2, 100, 200, 3);
  const auto edited = [&](std::string_view name) {
    return edit_of(edits, name).apply(image.view(), 0);
  };
  const auto shape = [](const Image& i) { return std::pair(i.height_px, i.width_px); };
  EXPECT_EQ(shape(edited("scaled to 25 %")), std::pair(25, 50));
  EXPECT_EQ(shape(edited("scaled to 200 %")), std::pair(200, 400));
  EXPECT_EQ(shape(edited("10 % cropped")), std::pair(90, 180));
  EXPECT_EQ(shape(edited("5 % white border")), std::pair(120, 220));
  EXPECT_EQ(edited("5 % white border").pixels.front(), 255);
  EXPECT_EQ(edited("2 % black border").pixels.front(), 0);
  const Image mirrored = edited("mirrored left to right");
  EXPECT_EQ(mirrored.view().row(7)[0], image.view().row(7)[199 * 3]);
  EXPECT_EQ(edit_of(edits, "mirrored left to right").apply(mirrored.view(), 0), image);
  const Image gray = edited("gray");
  for (std::size_t i = 0; i < gray.pixels.size(); i += 3) {
    ASSERT_EQ(gray.pixels[i], gray.pixels[i + 2]);
  }
  // A weaker edit changes the picture less.
  const auto difference = [&](std::string_view name) {
    const Image other = edited(name);
    long sum = 0;
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      sum += std::abs(image.pixels[i] - other.pixels[i]);
    }
    return sum;
  };
  EXPECT_GT(difference("JPEG quality 10"), difference("JPEG quality 95"));
  EXPECT_GT(difference("gamma 2.00"), difference("gamma 1.25"));
  EXPECT_GT(difference("rotated by 5 degrees"), difference("rotated by 1 degrees"));
  EXPECT_GT(difference("blurred by 1.0 % of a side"), difference("blurred by 0.2 % of a side"));
  EXPECT_GT(difference("watermark"), 0);
  const Edit& copy = edit_of(edits, "all at once, copy 1");
  EXPECT_NE(copy.apply(image.view(), 0), copy.apply(image.view(), 1));
}

class Recall : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 0; i < 40; ++i) {
      source_.add(std::to_string(i), i == 3 ? Image(64, 64, 1) : picture(i, 64, 80, 3));
    }
  }
  Cache cache(Store store) {
    IngestOptions options;
    options.store = store;
    ingest(source_, "fake", root_, options, {});
    return Cache::open(root_);
  }

  FakeSource source_;
  const TemporaryFolder temporary_;
  const std::filesystem::path root_ = temporary_ / "cache";
};

TEST_F(Recall, CountsHowFarEachEditIs) {
  const Cache made = cache(Store::kOriginal);
  const dedup::HashKind hash = dedup::find_hash("phash");
  const dedup::HashKind hashes[] = {hash, dedup::find_hash("pdq")};
  const auto recalls = measure_recall(made, hashes, {.images = 1000}, {});
  ASSERT_EQ(recalls.size(), 2U);
  const std::vector<Edit> edits = common_edits();
  ASSERT_EQ(recalls[0].size(), edits.size());
  for (std::size_t e = 0; e < edits.size(); ++e) {
    std::vector<std::uint64_t> want(65);
    for (std::uint64_t i = 0; i < 40; ++i) {
      if (i == 3) continue;  // flat: nothing to match on
      const Image image = picture(i, 64, 80, 3);
      const auto a = dedup::compute_hash(image.view(), hash).words;
      const auto b = dedup::compute_hash(edits[e].apply(image.view(), i).view(), hash).words;
      ++want[static_cast<std::size_t>(dedup::hamming(a, b))];
    }
    for (std::size_t d = 1; d < want.size(); ++d) want[d] += want[d - 1];
    EXPECT_EQ(recalls[0][e].within, want) << edits[e].name;
    EXPECT_EQ(recalls[0][e].name, edits[e].name);
    EXPECT_EQ(recalls[1][e].within.back(), 39U);
  }
  // Scaling hardly matters to the hash; a mirrored picture counts as another.
  const auto found = [&](std::string_view name) {
    return std::ranges::find(recalls[0], name, &EditRecall::name)->at(8);
  };
  EXPECT_EQ(found("scaled to 75 %"), 1);
  EXPECT_LT(found("mirrored left to right"), 0.2);
  EXPECT_LE(expected_recall(recalls[0], 2), expected_recall(recalls[0], 12));
  EXPECT_EQ(expected_recall(recalls[0], 64), 1);
}

TEST_F(Recall, DependsOnTheSeedAndNothingElse) {
  const Cache made = cache(Store::kOriginal);
  const dedup::HashKind hashes[] = {dedup::find_hash("dhash")};
  const auto of = [&](std::uint64_t seed, int threads) {
    std::vector<std::vector<std::uint64_t>> all;
    const auto recalls =
        measure_recall(made, hashes, {.images = 15, .seed = seed, .threads = threads}, {});
    for (const EditRecall& edit : recalls[0]) {
      EXPECT_EQ(edit.within.back(), 15U);
      all.push_back(edit.within);
    }
    return all;
  };
  EXPECT_EQ(of(1, 1), of(1, 3));
  EXPECT_NE(of(1, 1), of(2, 1));
}

TEST_F(Recall, NeedsPictures) {
  const Cache made = cache(Store::kNone);
  const dedup::HashKind hashes[] = {dedup::find_hash("dhash")};
  EXPECT_THROW(measure_recall(made, hashes, {}, {}), UsageError);
}

}  // namespace winnow::pipeline::recall_test
