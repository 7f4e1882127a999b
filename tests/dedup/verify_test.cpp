#include "dedup/verify/verify.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "common/error.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verified_links.h"
#include "tests/dedup/edits.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::verify_test {

TEST(Affine, TurnsBackAndFollowsEachOther) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  const auto draw = [&] { return rng.next_u32() * 0x1p-31 - 1; };
  for (int i = 0; i < 100; ++i) {
    const Affine map{1 + 0.3 * draw(), 0.3 * draw(),      9 * draw(),
                     0.3 * draw(),     -1 + 0.3 * draw(), 9 * draw()};
    const Affine same = after(inverse(map), map);
    EXPECT_NEAR(same.x_of(5, 7), 5, 1e-9);
    EXPECT_NEAR(same.y_of(5, 7), 7, 1e-9);
    EXPECT_NEAR(zoom_of(inverse(map)), 1 / zoom_of(map), 1e-9);
    EXPECT_NEAR(stretch_of(inverse(map)), stretch_of(map), 1e-9);
  }
  EXPECT_NEAR(stretch_of({.xx = 3, .yy = 2}), 13.0 / 12, 1e-12);
}

TEST(Affine, BringsALandmarkUponAnother) {
  const Place from{10, 20, 2, 0.4F};
  const Place to{31, 12, 3, -1.1F};
  for (const bool is_mirrored : {false, true}) {
    const Affine map = map_between(from, to, is_mirrored);
    EXPECT_NEAR(map.x_of(10, 20), 31, 1e-5);
    EXPECT_NEAR(map.y_of(10, 20), 12, 1e-5);
    EXPECT_NEAR(map.determinant(), is_mirrored ? -2.25 : 2.25, 1e-5);
    // A step along one angle maps to a step along the other.
    EXPECT_NEAR(map.x_of(10 + std::cos(0.4), 20 + std::sin(0.4)), 31 + 1.5 * std::cos(-1.1), 1e-5);
    EXPECT_NEAR(map.y_of(10 + std::cos(0.4), 20 + std::sin(0.4)), 12 + 1.5 * std::sin(-1.1), 1e-5);
  }
}

TEST(Content, IsWhatFramesAndBarsLeave) {
  const Image picture = scene(1);
  const Box all{0, 0, picture.height_px, picture.width_px};
  EXPECT_EQ(content_of(picture.view()), all);
  const Image boxed = framed(picture, 12, 0, 0);
  // One more line is cut on each side, because a smaller picture would blend it with the frame.
  EXPECT_EQ(content_of(boxed.view()), (Box{13, 0, picture.height_px - 2, picture.width_px}));
  const Image mount = framed(picture, 9, 7, 250);
  EXPECT_EQ(content_of(mount.view()), (Box{10, 8, picture.height_px - 2, picture.width_px - 2}));
}

TEST(Content, IsAllWhereLittleWouldBeLeft) {
  Image flat(40, 30, 1);
  EXPECT_EQ(content_of(flat.view()), (Box{0, 0, 40, 30}));
  flat.pixels[20 * 30 + 15] = 255;
  EXPECT_EQ(content_of(flat.view()), (Box{0, 0, 40, 30}));
}

TEST(Landmarks, LieWhereAMirrorShowsThem) {
  const Image picture = scene(2, 85, 61);  // mirrored, every fourth pixel keeps its place
  const Plane plane = plane_of(picture.view());
  const Plane mirror = plane_of(flipped(picture).view());
  const std::vector<Landmark> landmarks = find_landmarks(plane);
  const std::vector<Landmark> seen = find_landmarks(mirror);
  ASSERT_GT(landmarks.size(), 15U);
  std::size_t found = 0;
  for (const Landmark& one : landmarks) {
    found += std::ranges::any_of(seen, [&](const Landmark& other) {
      return std::fabs(other.place.x - static_cast<float>(plane.width - 1) + one.place.x) < 0.5 &&
             std::fabs(other.place.y - one.place.y) < 0.5 &&
             distance(mirrored(one.code), other.code) <= 6;
    });
  }
  EXPECT_GE(found * 10, landmarks.size() * 9);
}

TEST(Landmarks, OfStrangersAreFarApart) {
  const std::vector<Landmark> a = find_landmarks(plane_of(scene(3).view()));
  const std::vector<Landmark> b = find_landmarks(plane_of(scene(4).view()));
  double sum = 0;
  for (const Landmark& one : a) {
    EXPECT_EQ(mirrored(mirrored(one.code)), one.code);
    for (const Landmark& other : b) sum += distance(one.code, other.code);
  }
  EXPECT_GT(sum / static_cast<double>(a.size() * b.size()), 40);
}

TEST(Landmarks, AreNoneOfFlatAndTinyPictures) {
  EXPECT_TRUE(find_landmarks(plane_of(Image(63, 84, 1).view())).empty());
  EXPECT_TRUE(find_landmarks(plane_of(Image(1, 1, 1).view())).empty());
  Image line(2, 900, 1);
  for (std::size_t i = 0; i < line.pixels.size(); ++i) {
    line.pixels[i] = static_cast<std::uint8_t>(i * 37);
  }
  find_landmarks(plane_of(line.view()));  // neither reads out of bounds nor fails
}

TEST(Registration, FindsThePlantedMap) {
  const Image picture = scene(5);
  const Affine planted{.xx = 0.8, .xy = -0.05, .x0 = 9, .yx = 0.05, .yy = 0.8, .y0 = 6};
  const Image edit = seen_through(picture, planted, picture.width_px, picture.height_px);
  Affine guess = planted;  // as a landmark near the middle would give it
  guess.xx += 0.06;
  guess.x0 -= 0.06 * 42 - 0.7;
  guess.yx -= 0.04;
  guess.y0 += 0.04 * 42 + 0.5;
  const auto found = register_pictures(Registrable(plane_of(edit.view())),
                                       Registrable(plane_of(picture.view())), guess, {42, 31});
  ASSERT_TRUE(found);
  for (const auto& [x, y] : {std::pair{0, 0}, {83, 0}, {0, 62}, {83, 62}}) {
    EXPECT_NEAR(found->map.x_of(x, y), planted.x_of(x, y), 0.3);
    EXPECT_NEAR(found->map.y_of(x, y), planted.y_of(x, y), 0.3);
  }
  EXPECT_GT(found->evidence.agreement, 0.9);
  EXPECT_NEAR(found->evidence.zoom, 0.8, 0.02);
}

TEST(Verify, FindsEditedPicturesAndNoOthers) {
  const Pictures pictures(24);
  const Calibration calibration = calibrate(pictures.rows, pictures.source());
  const Verification found =
      verify(pictures.rows, pictures.source(), {}, calibration.model, {.least_probability = 0.9});
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const VerifiedPair& pair : found.pairs) {
    EXPECT_LT(pair.row_a, pair.row_b);
    EXPECT_EQ(pictures.scene_of[pair.row_a], pictures.scene_of[pair.row_b])
        << pair.row_a << " and " << pair.row_b << " at " << pair.probability;
    pairs.emplace(pair.row_a, pair.row_b);
  }
  std::size_t missed = 0;
  for (std::uint32_t row = 0; row < pictures.rows.size(); ++row) {
    const std::uint32_t first = row - row % 11;
    missed += row != first && !pairs.contains({first, row});
  }
  EXPECT_LE(missed, 5U) << "of 240 edits";
  EXPECT_EQ(found.counts.verified, found.pairs.size());
}

TEST(Verify, IsTheSameForAnyNumberOfThreads) {
  const Pictures pictures(4);
  const auto run = [&](int threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads));
    const Calibration calibration = calibrate(pictures.rows, pictures.source());
    std::vector<double> numbers(calibration.model.weights.begin(), calibration.model.weights.end());
    for (const VerifiedPair& pair :
         verify(pictures.rows, pictures.source(), {}, calibration.model).pairs) {
      numbers.insert(numbers.end(), {1.0 * pair.row_a, 1.0 * pair.row_b, pair.probability,
                                     pair.map.xx, pair.map.y0});
    }
    return numbers;
  };
  const std::vector<double> alone = run(1);
  EXPECT_GT(alone.size(), 100U);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(4), alone);
}

// A request to stop does not wait for the end of the current part.
TEST(Verify, StopsAtAnyMoment) {
  const Pictures pictures(2);
  std::vector<Edge> near;  // to have much to compare
  for (std::uint32_t row = 1; row < pictures.rows.size(); ++row) near.push_back({0, row, 4});
  std::atomic<std::size_t> asked = 0;
  std::atomic<std::size_t> stops_at = ~std::size_t{0};
  const StopRequested stop = [&] { return ++asked >= stops_at; };
  const auto run = [&] {
    asked = 0;
    const Calibration calibration = calibrate(pictures.rows, pictures.source(), 0, stop);
    VerifyOptions options;
    options.search.stop = stop;
    verify(pictures.rows, pictures.source(), near, calibration.model, options);
  };
  run();
  const std::size_t times = asked;
  EXPECT_GT(times, 10 * pictures.rows.size());
  for (std::size_t part = 0; part < 8; part += 2) {
    stops_at = std::max<std::size_t>(1, times * part / 8);
    EXPECT_THROW(run(), StoppedError) << part;
    EXPECT_LE(asked, stops_at + 64);  // questions by threads that are still at work
  }
}

TEST(Verify, RefusesNearCodesOfDifferentPicturesAndLeavesFlatOnesToThem) {
  std::vector<Image> images{scene(200), scene(201), darker(scene(200)), Image(63, 84, 1),
                            Image(63, 84, 1)};
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  const std::vector<Edge> near{{0, 1, 4}, {0, 2, 4}, {3, 4, 0}};
  const Verification found = verify(
      rows, [&](std::uint32_t row) { return images[row]; }, near, known_model());
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(std::pair(found.pairs[0].row_a, found.pairs[0].row_b), std::pair(0U, 2U));
  EXPECT_NEAR(found.pairs[0].map.x_of(0.25, 0.5), 0.25, 0.01);
  ASSERT_EQ(found.undecided.size(), 1U);
  EXPECT_EQ(found.undecided[0].a, 3U);
}

TEST(Verify, TellsWhichPartOfAPictureACropIs) {
  std::vector<Image> images{scene(300), framed(cropped(scene(300), 0.25, 0.75, 0.7), 10, 0, 0)};
  const std::vector<std::uint32_t> rows{0, 1};
  const Verification found = verify(
      rows, [&](std::uint32_t row) { return images[row]; }, {}, known_model());
  ASSERT_EQ(found.pairs.size(), 1U);
  const Affine back = inverse(found.pairs[0].map);  // from the crop to the whole, in shares
  const double bar = 10.0 / (63 + 20);
  EXPECT_NEAR(back.x_of(0, bar), 0.25 * 0.3, 0.015);
  EXPECT_NEAR(back.y_of(0, bar), 0.75 * 0.3, 0.015);
  EXPECT_NEAR(back.x_of(1, 1 - bar), 0.25 * 0.3 + 0.7, 0.015);
  EXPECT_NEAR(back.y_of(1, 1 - bar), 0.75 * 0.3 + 0.7, 0.015);
}

TEST(HitRadius, ShrinksAsLandmarksGrow) {
  EXPECT_EQ(hit_radius(1000, 1e4).bits, 14);
  int before = 14;
  for (double count = 1e4; count < 1e9; count *= 3) {
    const HitRadius radius = hit_radius(static_cast<std::size_t>(count), count / 2);
    EXPECT_LE(radius.bits, before);
    EXPECT_TRUE(radius.expected <= count / 2 || radius.bits == 1);
    before = radius.bits;
  }
  EXPECT_LT(before, 8);
  EXPECT_EQ(hit_radius(10'000'000, 1e6, 24).bits, hit_radius(10'000'000, 1e6).bits - 4);
}

TEST(HitRadius, FollowsHowNearStrangersAre) {
  const auto distance_of = [](std::uint32_t pictures, std::uint64_t mask) {
    CounterRng rng(5, 0, pictures, RandomUse::kTest);
    LandmarkTable landmarks;
    for (std::uint32_t owner = 0; owner < pictures; ++owner) {
      const std::vector<std::uint64_t> code{rng.next_u64(), rng.next_u64() & mask};
      landmarks.append(owner, code, std::vector<PackedPlace>(1));
    }
    return non_duplicate_distance(landmarks, searched_landmarks(landmarks, 0, pictures));
  };
  // Half of the bits, less 3.1 standard deviations of 5.7.
  EXPECT_NEAR(distance_of(800, ~std::uint64_t{0}), 64 - 3.1 * 5.7, 1.5);
  EXPECT_EQ(distance_of(800, 0), 22);
  EXPECT_EQ(distance_of(100, 0), kNonDuplicatesOfPhotos);  // too few
}

TEST(HitRadius, KnowsHowNearOneOfAThousandIs) {
  for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xffff'ffff}}) {
    CounterRng rng(6, 0, mask, RandomUse::kTest);
    LandmarkTable landmarks;
    std::vector<std::uint32_t> all(800);  // all pairs are compared
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    for (const std::uint32_t i : all) {
      const std::vector<std::uint64_t> code{rng.next_u64() & mask, rng.next_u64() & mask};
      landmarks.append(i / 8, code, std::vector<PackedPlace>(1));
    }
    std::vector<int> distances;
    for (const std::uint32_t a : all) {
      for (const std::uint32_t b : all) {
        if (a / 8 == b / 8) continue;
        distances.push_back(distance(mirrored(landmarks.code(a)), landmarks.code(b)));
      }
    }
    std::ranges::sort(distances);
    const auto nearest = distances[distances.size() / 1000 - 1];
    const double found = non_duplicate_distance(landmarks, all);
    EXPECT_GT(found, nearest - 1 - 1e-9);
    EXPECT_LE(found, nearest);
  }
}

TEST(Calibration, AsksForWhatLeavesFewFalsePairs) {
  const Calibration calibration{
      .model = known_model(), .tail_from = -2, .tail_share = 0.1, .tail_scale = 0.8};
  EXPECT_EQ(calibration.least_probability(0, 0.5), 0.5);
  double before = 0.5;
  for (const double registered : {10.0, 1e3, 1e4, 1e5, 1e6, 1e12}) {
    const double least = calibration.least_probability(registered, 0.5);
    EXPECT_GE(least, before);
    EXPECT_LE(least, 0.9999);
    before = least;
    if (least == 0.9999 || least == 0.5) continue;
    EXPECT_LE(calibration.expected_false(registered, least), 0.5);
    EXPECT_GT(calibration.expected_false(registered, least - 2e-4), 0.5);
  }
  EXPECT_EQ(before, 0.9999);
}

TEST(MatchModel, FollowsItsExamples) {
  // Pairs that differ only in agreement, and the other way round than in the known model.
  std::vector<MatchExample> examples;
  for (int i = 0; i < 400; ++i) {
    const bool is_same = i % 2 == 0;
    Evidence evidence{.agreement = is_same ? 0.2 : 0.8, .mean = 0.4, .weight = 100, .overlap = 0.9};
    evidence.agreement += 0.001 * (i % 7);
    examples.push_back({features_of(evidence), is_same});
  }
  const MatchModel model = fit_model(examples, 0.1);
  EXPECT_GT(model.probability({.agreement = 0.2, .mean = 0.4, .weight = 100, .overlap = 0.9}), 0.9);
  EXPECT_LT(model.probability({.agreement = 0.8, .mean = 0.4, .weight = 100, .overlap = 0.9}), 0.1);
  EXPECT_EQ(fit_model({}).weights, known_model().weights);
  EXPECT_EQ(
      known_model().probability({.agreement = 0.99, .mean = 0.99, .weight = 300, .overlap = 0.2}),
      0);
}

TEST(Calibration, TellsHowFewStrangersPass) {
  const Pictures pictures(30);
  const Calibration calibration = calibrate(pictures.rows, pictures.source());
  EXPECT_GT(calibration.same, 20U);
  EXPECT_GT(calibration.non_duplicates, 20U);
  EXPECT_LT(calibration.expected_false(1000, 0.99), calibration.expected_false(1000, 0.9));
  EXPECT_LE(calibration.expected_false(1000, 0.9), 100);
  const Calibration few = calibrate(std::span(pictures.rows).first(5), pictures.source());
  EXPECT_EQ(few.model.weights, known_model().weights);
}

}  // namespace winnow::dedup::verify_test
