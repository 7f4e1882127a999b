#include "app/predict/results.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/error.h"

namespace winnow::app::results_test {

std::vector<ImageResult> some_results() {
  ImageResult whole;
  whole.probabilities = {0.25F, 0.5F, 0.25F};
  whole.features = {1, -2};
  ImageResult windowed = whole;
  windowed.windows = 12;
  windowed.flat_windows = 3;
  windowed.height_px = 400;
  windowed.boxes = {{1, 2, 3, 4, 5, 0.75F, 0.5F}};
  ImageResult broken;
  broken.fate = pipeline::Fate::kTruncated;
  broken.reason = "ends early";
  return {whole, broken, windowed};
}

TEST(Results, ComeBack) {
  const std::vector<ImageResult> results = some_results();
  EXPECT_EQ(unpack_results(pack_results(results), "part"), results);
  EXPECT_TRUE(unpack_results(pack_results({}), "part").empty());
}

TEST(Results, DamagedOnesAreRefused) {
  const Bytes bytes = pack_results(some_results());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] ^= std::byte{1};
    EXPECT_THROW(unpack_results(changed, "part"), FormatError) << at;
    EXPECT_THROW(unpack_results(BytesView(bytes).first(at), "part"), FormatError) << at;
  }
}

BandResult some_band() {
  BandResult band;
  band.image.height_px = 400;
  band.image.width_px = 300;
  band.image.windows = 3;
  band.image.flat_windows = 1;
  band.windows = {.windows = 2,
                  .sums = {0.5, 1.5},
                  .most = {0.25F, 0.75F},
                  .all = {0.25F, 0.75F, 0.25F, 0.75F},
                  .features = {1, 2, 3},
                  .places = {0, 0, 0, 12},
                  .of_maps = {0.25F, 0.25F}};
  return band;
}

TEST(Bands, ComeBack) {
  EXPECT_EQ(unpack_band(pack_band(some_band()), "part"), some_band());
  EXPECT_EQ(unpack_band(pack_band({}), "part"), BandResult{});
}

TEST(Bands, DamagedOnesAndThoseOfWholePicturesAreRefused) {
  const Bytes bytes = pack_band(some_band());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] ^= std::byte{1};
    EXPECT_THROW(unpack_band(changed, "part"), FormatError) << at;
    EXPECT_THROW(unpack_band(BytesView(bytes).first(at), "part"), FormatError) << at;
  }
  EXPECT_THROW(unpack_band(pack_results(some_results()), "part"), FormatError);
  EXPECT_THROW(unpack_results(bytes, "part"), FormatError);
}

TEST(Bands, AddUp) {
  BandResult picture;
  join(picture, some_band());
  EXPECT_EQ(picture, some_band());
  join(picture, some_band());
  EXPECT_EQ(picture.image.windows, 6U);
  EXPECT_EQ(picture.image.flat_windows, 2U);
  EXPECT_EQ(picture.image.height_px, 400);
  EXPECT_EQ(picture.windows.windows, 4U);
  EXPECT_EQ(picture.windows.sums, (std::vector<double>{1, 3}));
  EXPECT_EQ(picture.windows.most, (std::vector<float>{0.25F, 0.75F}));
  EXPECT_EQ(picture.windows.all.size(), 8U);
  EXPECT_EQ(picture.windows.features, (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(picture.windows.places.size(), 8U);
}

TEST(Bands, TheFirstThatCannotBeReadIsWhatCameOfThePicture) {
  BandResult warned = some_band();
  warned.image.reason = "warned";
  BandResult broken = some_band();
  broken.image.fate = pipeline::Fate::kTruncated;
  broken.image.reason = "ends early";
  BandResult later = broken;
  later.image.reason = "ends early, too";
  BandResult picture;
  for (const BandResult& band : {some_band(), warned, broken, later, some_band()}) {
    join(picture, band);
  }
  EXPECT_EQ(picture.image.fate, pipeline::Fate::kTruncated);
  EXPECT_EQ(picture.image.reason, "ends early");
  BandResult kept;
  for (const BandResult& band : {warned, some_band()}) join(kept, band);
  EXPECT_EQ(kept.image.reason, "warned");
}

}  // namespace winnow::app::results_test
