// How large pictures are cut into bands, and how the results of windows are combined.
#include "app/predict/bands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/predict/gathered.h"
#include "app/predict/windows.h"
#include "common/error.h"

namespace winnow::app::bands_test {

using pipeline::PartsShape;
using pipeline::Size;

constexpr double kNet = 160e6;  // multiply-adds of a window: resnet20 on 64 pixels

WindowOptions windows_of(int side, double overlap = 0.5) {
  WindowOptions options;
  options.window = side;
  options.overlap = overlap;
  return options;
}

std::vector<WindowRange> cut(const PartsShape& shape, double net, double overlap = 0.5) {
  return cut_into_bands(band_costs(shape, windows_of(64, overlap), net, 32), 256);
}

// The cost of all bands, relative to that of a single task. Each band decodes from the first row
// from which its own rows can be reached, and computes whole micro-batches.
double cost(const PartsShape& shape, const std::vector<WindowRange>& bands, double net,
            double overlap) {
  const WindowOptions options = windows_of(64, overlap);
  const WindowPlaces places(shape.stored, shape.orientation, span_of(options), stride_of(options));
  const auto of = [&](WindowRange band) {
    const Box first = places.stored_box(band.begin);
    const Box last = places.stored_box(band.end - 1);
    const int begin = first.top / shape.rows_to_reach * shape.rows_to_reach;
    const double rows = last.top + last.height_px - begin;
    const double batches = std::ceil(static_cast<double>(band.end - band.begin) / 32);
    return rows * shape.stored.width_px * kMultiplyAddsAPixel + 32 * batches * net;
  };
  double sum = 0;
  for (const WindowRange& band : bands) sum += of(band);
  return sum / of({0, places.count()});
}

TEST(Bands, CoverAllWindowsInWholeRows) {
  for (const int height : {1, 63, 64, 1000, 20'000}) {
    for (const int orientation : {1, 3, 6, 8}) {
      const PartsShape shape{{height, 3000}, orientation, 16};
      const WindowPlaces places(shape.stored, orientation, 64, 32);
      const std::vector<WindowRange> bands = cut(shape, kNet);
      std::uint64_t next = 0;
      for (const WindowRange& band : bands) {
        EXPECT_EQ(band.begin, next);
        EXPECT_EQ((band.end - band.begin) % places.a_row(), 0U);
        EXPECT_GE(band.end - band.begin, std::min<std::uint64_t>(256, places.count()));
        next = band.end;
      }
      EXPECT_EQ(next, places.count());
    }
  }
}

TEST(Bands, TakeLittleMoreThanOneTask) {
  for (const double net : {1e5, 1e6, 1e7, 1e8, 2e9}) {
    for (const double overlap : {0.0, 0.5, 0.75}) {
      for (const int reach : {1, 16, 256, 4000, 20'000}) {  // for a JPEG, all rows
        const PartsShape shape{{20'000, 20'000}, 1, reach};
        EXPECT_LT(cost(shape, cut(shape, net, overlap), net, overlap), 1.09)
            << net << ", overlap " << overlap << ", " << reach << " rows";
      }
    }
  }
}

TEST(Bands, AreAsManyAsPay) {
  const PartsShape tiles{{20'000, 20'000}, 1, 256};
  const PartsShape jpeg{{20'000, 20'000}, 1, 20'000};
  EXPECT_GT(cut(tiles, kNet).size(), 200U);
  EXPECT_GT(cut(jpeg, kNet).size(), 20U);
  EXPECT_LT(cut(jpeg, kNet).size(), cut(tiles, kNet).size());
  EXPECT_EQ(cut(jpeg, 1e4).size(), 1U);  // decoding dominates the cost
  EXPECT_EQ(cut({{400, 400}, 1, 8}, kNet).size(), 1U);
}

TEST(Bands, PlacesAreThoseOfTheStoredRows) {
  // Orientations that swap the sides go by columns, mirrored ones from the other end.
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const WindowPlaces places({100, 70}, orientation, 32, 16);
    EXPECT_EQ(places.turned(), (orientation >= 5 ? Size{70, 100} : Size{100, 70}));
    EXPECT_EQ(places.rows() * places.a_row(), places.count());
    int top = 0;
    for (std::uint64_t window = 0; window < places.count(); ++window) {
      const Box box = places.stored_box(window);
      EXPECT_GE(box.top, top) << orientation;
      EXPECT_EQ(box.height_px, 32);
      top = box.top;
    }
    EXPECT_EQ(top, 100 - 32);
  }
}

GatheredWindows some_windows(const WindowOptions& options, int begin, int end) {
  GatheredWindows gathered;
  for (int i = begin; i < end; ++i) {
    const float p = static_cast<float>((i * 37) % 10) / 16;
    const std::vector<float> probabilities{p, 1 - p};
    const std::vector<float> features{static_cast<float>(i)};
    gather(options, std::vector<std::int32_t>{1}, {{0, 0, 4 * i}, probabilities, features},
           gathered);
  }
  return gathered;
}

TEST(Gathered, PartsAreTheWhole) {
  for (const char* const pool : {"mean", "max", "top:0.3"}) {
    WindowOptions options = windows_of(8);
    options.pool = parse_pool(pool);
    GatheredWindows parts = some_windows(options, 0, 4);
    append(parts, GatheredWindows());
    append(parts, some_windows(options, 4, 10));
    const GatheredWindows whole = some_windows(options, 0, 10);
    EXPECT_EQ(parts, whole) << pool;  // these sums are exact
    EXPECT_EQ(pooled(options.pool, parts), pooled(options.pool, whole));
    EXPECT_THAT(mean_features(parts), ::testing::ElementsAre(4.5F));
  }
}

TEST(PoolTest, AShareMayBeAPercentage) {
  EXPECT_EQ(parse_pool("top:12.5%").share, parse_pool("top:0.125").share);
  EXPECT_EQ(parse_pool("top:0.125").share, 0.125);
  for (const char* const text : {"top:%", "top:101%", "top:0%", "top:10%%"}) {
    EXPECT_THROW(parse_pool(text), UsageError) << text;
  }
}

TEST(Gathered, ManyBytesAreThoseOfWindowsThatAreKept) {
  WindowOptions options = windows_of(8);
  EXPECT_EQ(gathered_bytes(options, 0, 10, 1000), 0U);
  EXPECT_EQ(gathered_bytes(options, 2, 10, 1000), 16'000U);
  options.pool = parse_pool("top:0.5");
  EXPECT_EQ(gathered_bytes(options, 0, 10, 1000), 40'000U);
  EXPECT_EQ(blended_bytes(options, 0, {100, 100}), 0U);
  options.map.step_px = 10;
  EXPECT_EQ(blended_bytes(options, 1, {100, 100}), 100U * (8 + 8 + 4 + 4));
}

}  // namespace winnow::app::bands_test
