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

}  // namespace winnow::app::results_test
