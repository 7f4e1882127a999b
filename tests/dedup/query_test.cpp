// Queries of pictures against others whose landmarks are known.

#include "dedup/verify/query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/landmark_file.h"
#include "places.h"
#include "tests/common/formula_images.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/edits.h"

namespace winnow::dedup::query_test {

using Rows = std::pair<std::uint32_t, std::uint32_t>;

// The pairs found for the pictures from `first` on. Both rows are numbers in `all`.
std::map<Rows, VerifiedPair> asked_of(PictureQuery& query, const Pictures& all,
                                      std::uint32_t first) {
  std::vector<std::uint32_t> rows(all.rows.size() - first);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const auto source = [&](std::uint32_t row) { return all.images[first + row]; };
  std::map<Rows, VerifiedPair> found;
  for (const VerifiedPair& pair : query.ask(rows, source, {}).pairs) {
    found[{pair.row_a, first + pair.row_b}] = pair;
  }
  return found;
}

TEST(PictureQuery, SaysWhatIsSaidOfBothTogether) {
  const Pictures all(6);
  constexpr std::uint32_t kKnown = 38;  // cuts through the copies of a scene
  const std::span known = std::span(all.rows).first(kKnown);
  const MatchModel model = calibrate(all.rows, all.source()).model;
  PictureQuery query(KnownLandmarks(LandmarkTable(known, all.source())), all.source(), kKnown,
                     model);
  const Verification together = verify(all.rows, all.source(), {}, model);
  ASSERT_EQ(together.counts.radius, 14);  // for both; otherwise hits would differ
  for (const std::uint32_t first : {kKnown, kKnown + 3, kKnown}) {  // repeatedly
    std::map<Rows, VerifiedPair> found = asked_of(query, all, first);
    for (const auto& [rows, pair] : found) {
      EXPECT_EQ(all.scene_of[rows.first], all.scene_of[rows.second]);
    }
    std::size_t wanted = 0;
    std::size_t alike = 0;
    for (const VerifiedPair& pair : together.pairs) {
      if (pair.row_a >= kKnown || pair.row_b < first) continue;
      ++wanted;
      ASSERT_TRUE(found.contains({pair.row_a, pair.row_b}));
      const VerifiedPair& same = found[{pair.row_a, pair.row_b}];
      EXPECT_NEAR(same.map.x0, pair.map.x0, 0.01);
      alike += same.probability == pair.probability && same.map.x0 == pair.map.x0;
    }
    EXPECT_GT(wanted, 5U);
    // It may find slightly more: here all landmarks of equal codes are compared, there only the
    // first.
    EXPECT_LE(found.size(), wanted + wanted / 10);
    EXPECT_GE(2 * alike, wanted);
  }
}

TEST(PictureQuery, JudgesWhatIsNearByCodes) {
  const std::vector<Image> known{scene(400), scene(401), Image(63, 84, 1)};
  const std::vector<Image> asked{Image(63, 84, 1), darker(scene(400)), scene(402)};
  const auto source = [](const std::vector<Image>& images) {
    return [&images](std::uint32_t row) { return images[row]; };
  };
  const std::vector<std::uint32_t> rows{0, 1, 2};
  PictureQuery query(KnownLandmarks(LandmarkTable(rows, source(known))), source(known), 3,
                     known_model());
  const std::vector<Edge> near{{0, 1, 4}, {1, 2, 3}, {2, 0, 0}};
  const Verification found = query.ask(rows, source(asked), near);
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(Rows(found.pairs[0].row_a, found.pairs[0].row_b), Rows(0, 1));
  ASSERT_EQ(found.undecided.size(), 1U);
  EXPECT_EQ(Rows(found.undecided[0].a, found.undecided[0].b), Rows(2, 0));
  PictureQuery of_none(KnownLandmarks(), source(known), 0, known_model());
  EXPECT_TRUE(of_none.ask(rows, source(asked), {}).pairs.empty());
  EXPECT_TRUE(query.ask({}, source(asked), {}).pairs.empty());
}

// More landmarks than one part of a search holds. Each part finds its near landmarks, and nothing
// else.
TEST(PictureQuery, SearchesAllParts) {
  constexpr std::uint32_t kPictures = 50000;
  constexpr std::uint32_t kOfEach = 32;
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  LandmarkTable landmarks;
  std::vector<std::uint64_t> codes(2 * kOfEach);
  const std::vector<PackedPlace> places(kOfEach, {1000, 1000, 8192, 0});
  for (std::uint32_t owner = 0; owner < kPictures; ++owner) {
    for (std::uint64_t& word : codes) word = rng.next_u64();
    landmarks.append(owner, codes, places);
  }
  const auto known = static_cast<std::uint32_t>(landmarks.size());
  LandmarkTable asked;
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> want;
  for (const std::uint32_t near : {0U, 7U, 1U << 20, (1U << 20) - 1, known - 1}) {
    for (const bool is_mirrored : {false, true}) {
      const LandmarkCode code = is_mirrored ? mirrored(landmarks.code(near)) : landmarks.code(near);
      const auto row = static_cast<std::uint32_t>(kPictures + want.size());
      asked.append(row, std::vector<std::uint64_t>{code[0] ^ 5, code[1]},
                   std::span(places).first(1));
      want.emplace(landmarks.owner(near), row, is_mirrored);
    }
  }
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> found;
  std::vector<std::uint64_t> told;
  const auto tell = [&](const Progress& progress) {
    EXPECT_EQ(progress.total, known);
    told.push_back(progress.done);
  };
  for (const Hit& hit :
       find_hits_among(KnownLandmarks(std::move(landmarks)), asked, 8, {.progress = tell}).hits) {
    EXPECT_EQ(hit.distance, 2U);
    found.emplace(hit.row_a, hit.row_b, hit.is_mirrored);
  }
  EXPECT_EQ(found, want);
  EXPECT_TRUE(std::ranges::is_sorted(told));
}

using MaybeRow = std::optional<std::uint32_t>;

void expect_equal(const LandmarkTable& a, const LandmarkTable& b) {
  EXPECT_EQ(a.codes().words, b.codes().words);
  EXPECT_TRUE(std::ranges::equal(a.places(), b.places()));
  for (std::uint32_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.owner(i), b.owner(i));
}

// The landmarks of pictures for which `row_of` gives a row.
LandmarkTable some_of(const LandmarkTable& landmarks,
                      const std::function<MaybeRow(std::uint32_t)>& row_of) {
  LandmarkTable some;
  some.append(landmarks, row_of);
  return some;
}

// Twenty pictures in pieces of 0, 5, 1, 0 and 14. One in three is left out. The row of a picture is
// twice its number.
class KnownInPieces : public testing::Test {
 protected:
  static MaybeRow row_of(std::uint32_t picture) {
    return picture % 3 == 1 ? std::nullopt : MaybeRow(2 * picture);
  }
  KnownInPieces() {
    std::uint32_t first = 0;
    for (const std::uint32_t pictures : {0U, 5U, 1U, 0U, 14U}) {
      LandmarkTable piece = some_of(all_, [&](std::uint32_t row) {
        return row >= first && row < first + pictures ? MaybeRow(row - first) : std::nullopt;
      });
      std::vector<MaybeRow> rows;
      for (std::uint32_t i = 0; i < pictures; ++i) rows.push_back(row_of(first + i));
      known_.add(piece_of(std::move(piece), pictures), rows);
      first += pictures;
    }
  }

  const Pictures pictures_{4};
  const LandmarkTable all_{std::span(pictures_.rows).first(20), pictures_.source()};
  const LandmarkTable kept_ = some_of(all_, row_of);
  KnownLandmarks known_;
};

TEST_F(KnownInPieces, AreThoseOfTheRowsThatAreNotLeftOut) {
  ASSERT_LT(kept_.size(), all_.size());
  expect_equal(known_.table(), kept_);
  EXPECT_EQ(known_.size(), kept_.size());
  EXPECT_EQ(known_.end(), all_.size());
  std::uint32_t rows = 0;
  known_.for_each([&](const KnownLandmarks::Picture& picture) {
    for (std::uint32_t i = 0; i < picture.places.size(); ++i) {
      const KnownLandmarks::Picture same = known_.picture_of(picture.first + i);
      ASSERT_EQ(same.row, picture.row);
      ASSERT_EQ(same.first, picture.first);
    }
    ++rows;
  });
  EXPECT_EQ(rows, 13U);
  EXPECT_EQ(KnownLandmarks().table().size(), 0U);
}

TEST_F(KnownInPieces, AreNearToTheSameAsInOneTable) {
  const std::vector<std::uint32_t> rest(pictures_.rows.begin() + 20, pictures_.rows.end());
  const LandmarkTable asked = some_of(LandmarkTable(rest, pictures_.source()),
                                      [](std::uint32_t row) { return MaybeRow(100 + row); });
  const KnownHits found = find_hits_among(known_, asked, 14);
  const KnownHits want = find_hits_among(KnownLandmarks(kept_), asked, 14);
  ASSERT_GT(want.hits.size(), 10U);
  EXPECT_EQ(found.hits, want.hits);
  expect_equal(found.landmarks, want.landmarks);
  // Only landmarks of pictures with hits are copied.
  std::set<std::uint32_t> rows(asked.owners().begin(), asked.owners().end());
  for (const Hit& hit : found.hits) {
    EXPECT_EQ(found.landmarks.owner(hit.landmark_a), hit.row_a);
    EXPECT_EQ(found.landmarks.owner(hit.landmark_b), hit.row_b);
    rows.insert(hit.row_a);
  }
  const std::span owners = found.landmarks.owners();
  EXPECT_EQ(std::set<std::uint32_t>(owners.begin(), owners.end()), rows);
}

TEST_F(KnownInPieces, AreAsFarFromStrangersAsInOneTable) {
  std::vector<std::uint32_t> numbers(kept_.size());
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  EXPECT_EQ(searched_count(known_), kept_.size());
  EXPECT_EQ(non_duplicate_distance(known_), non_duplicate_distance(kept_, numbers));
  // More landmarks than a sample holds, and more than are all searched for.
  CounterRng rng(5, 0, 0, RandomUse::kTest);
  LandmarkTable many;
  const std::vector<PackedPlace> places(40, {1000, 1000, 8192, 0});
  std::vector<std::uint64_t> codes(80);
  for (std::uint32_t owner = 0; owner < 40'000; ++owner) {
    for (std::uint64_t& word : codes) word = rng.next_u64() & rng.next_u64();
    many.append(owner, codes, places);
  }
  const std::vector<std::uint32_t> searched =
      searched_landmarks(many, 0, static_cast<std::uint32_t>(many.size()));
  const double want = non_duplicate_distance(many, searched);
  const KnownLandmarks known(std::move(many));
  EXPECT_EQ(searched.size(), 32U * 40'000);
  EXPECT_EQ(searched_count(known), searched.size());
  EXPECT_EQ(non_duplicate_distance(known), want);
}

// A file of landmarks, with the identity of its pictures.
class KeptLandmarks : public testing::Test {
 protected:
  KeptLandmarks() : made_(rows_, pictures_.source()) {
    write_landmarks(path_, of_, piece_of(made_, of_.rows));
  }

  // The landmarks in the file; pictures are numbered from 0.
  std::optional<LandmarkTable> read(const LandmarksOf& of) const {
    auto piece = find_landmarks_in(path_, of);
    if (!piece) return std::nullopt;
    return table_of(std::move(*piece));
  }
  static LandmarkTable table_of(LandmarkPiece piece) {
    std::vector<MaybeRow> rows;
    for (std::uint32_t row = 0; row < piece.pictures(); ++row) rows.emplace_back(row);
    KnownLandmarks known;
    known.add(std::move(piece), std::move(rows));
    return known.table();
  }

  void replace(BytesView bytes) const {
    std::filesystem::remove(path_);
    write_new_file(path_, bytes);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "00000.landmarks";
  const Pictures pictures_{1};
  const std::vector<std::uint32_t> rows_{0, 1, 2, 4};  // row 3 has no landmarks
  const LandmarksOf of_{std::string(32, 'a'), 6};
  const LandmarkTable made_;
};

TEST_F(KeptLandmarks, AreThoseThatWereFound) {
  ASSERT_GT(made_.size(), 20U);
  const auto read_again = read(of_);
  ASSERT_TRUE(read_again);
  expect_equal(*read_again, made_);
}

// A process that has opened the index can still read it.
TEST_F(KeptLandmarks, AreThereWhenTheirFileIsNot) {
  auto piece = find_landmarks_in(path_, of_);
  ASSERT_TRUE(piece);
  std::filesystem::remove(path_);
  expect_equal(table_of(std::move(*piece)), made_);
}

// A scale of zero would give wrong maps.
TEST_F(KeptLandmarks, AreOfHalfAPixelAtLeast) {
  LandmarkTable tiny;
  tiny.append(1, std::vector<std::uint64_t>{1, 2}, std::vector<PackedPlace>{{1, 2, 0, 3}});
  const LandmarkTable read_again = table_of(piece_of(std::move(tiny), 2));
  ASSERT_EQ(read_again.size(), 1U);
  EXPECT_EQ(read_again.place(0).scale, 0.5F);
}

TEST_F(KeptLandmarks, AreNoneOfOtherPictures) {
  EXPECT_FALSE(read({std::string(32, 'b'), 6}));
  EXPECT_FALSE(read({std::string(32, 'a'), 7}));
  EXPECT_FALSE(find_landmarks_in(folder_ / "00001.landmarks", of_));
}

TEST_F(KeptLandmarks, AreNoneWhereAnyByteIsWrong) {
  const Bytes bytes = read_file(path_);
  for (std::size_t at = 0; at < bytes.size(); at += 13) {
    Bytes bad = bytes;
    bad[at] ^= std::byte{4};
    replace(bad);
    ASSERT_FALSE(read(of_)) << "byte " << at;
  }
  replace(BytesView(bytes).first(bytes.size() / 2));
  EXPECT_FALSE(read(of_));
  // Another version, otherwise valid.
  Bytes other = bytes;
  other[8] ^= std::byte{kLandmarksVersion ^ (kLandmarksVersion + 1)};
  const std::uint64_t sum = xxh3_64(BytesView(other).first(other.size() - 8));
  std::memcpy(other.data() + other.size() - 8, &sum, 8);
  replace(other);
  EXPECT_FALSE(read(of_));
}

// The landmarks in tests/data/golden/v1/landmarks: rows 0, 2 and 4 of five.
LandmarkTable golden_landmarks() {
  LandmarkTable table;
  for (const std::uint32_t row : {0U, 2U, 4U}) {
    std::vector<std::uint64_t> codes;
    std::vector<PackedPlace> places;
    for (std::uint32_t i = 0; i <= row; ++i) {
      codes.insert(codes.end(), {0x0123456789ABCDEFULL * (row + 1), 0xFEDCBA9876543210ULL + i});
      places.push_back({static_cast<std::uint16_t>(300 * row + i),
                        static_cast<std::uint16_t>(7 * i), 8192, 40000});
    }
    table.append(row, codes, places);
  }
  return table;
}

TEST(GoldenLandmarks, OfTheFirstVersionAreReadAndWrittenAsTheyWere) {
  const std::filesystem::path golden =
      std::filesystem::path(WINNOW_GOLDEN) / "v1" / "landmarks" / "00001.landmarks";
  const LandmarksOf of{"0123456789abcdef0123456789abcdef", 5};
  const TemporaryFolder folder;
  const LandmarkPiece golden_piece = piece_of(golden_landmarks(), of.rows);
  write_landmarks(folder / "written", of, golden_piece);
  EXPECT_EQ(read_file(folder / "written"), read_file(golden));
  const auto piece = find_landmarks_in(golden, of);
  ASSERT_TRUE(piece);
  EXPECT_TRUE(std::ranges::equal(piece->codes, golden_piece.codes));
  EXPECT_TRUE(std::ranges::equal(piece->places, golden_piece.places));
  EXPECT_TRUE(std::ranges::equal(piece->offsets, golden_piece.offsets));
}

// To change one of these numbers, raise kLandmarksVersion if a release has kept landmarks: stored
// ones are then useless.
TEST(GoldenLandmarks, AreFoundAsTheyWere) {
  std::vector<Image> images;
  for (const auto& [kind, width, height] :
       {std::tuple("lcg", 16, 12), std::tuple("tri", 64, 48), std::tuple("blob", 40, 70),
        std::tuple("lcg", 30, 90)}) {
    const Image colour = test::formula_image(kind, width, height);
    Image& gray = images.emplace_back(height, width, 1);
    for (std::size_t i = 0; i < gray.pixels.size(); ++i) gray.pixels[i] = colour.pixels[3 * i];
  }
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  const LandmarkTable table(rows, [&](std::uint32_t row) { return images[row]; });
  Xxh3Stream stream;
  stream.update(as_bytes(table.codes().words));
  stream.update(std::as_bytes(table.places()));
  EXPECT_EQ(table.size(), 72U);
  EXPECT_EQ(winnow::to_hex(stream.digest_64()), "41d8a7fbedc35bfa");
  EXPECT_EQ(kLandmarksVersion, 1U);
}

}  // namespace winnow::dedup::query_test
