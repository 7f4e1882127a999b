// Indexes that are asked for pictures find what comparing each pair finds. That holds however the
// index was made, and whatever happens to the landmarks that it keeps.

#include "dedup/index/picture_matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/verified_links.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/edits.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::picture_matches_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kThreshold = 4;
constexpr double kLeast = 0.9;

// An image with the code that the test chooses.
struct Shown {
  Image image;
  TestImage row;
};

// Code, file and pixels are all `number`.
Shown shown(Image image, std::uint64_t number) {
  return {std::move(image), {.code = number, .file = number, .pixels = number}};
}

struct Table {
  ColumnSource columns;
  ThumbnailSource thumbnails;
};

Table table_of(const std::vector<Shown>& images) {
  std::vector<TestImage> rows;
  for (const Shown& one : images) {
    rows.push_back(one.row);
    rows.back().id = rows.size();
  }
  Fingerprints table = make_table(rows);
  Ragged<ThumbnailBlock> thumbnails;
  for (std::size_t i = 0; i < images.size(); ++i) {
    table.widths_px[i] = static_cast<std::uint32_t>(images[i].image.width_px);
    table.heights_px[i] = static_cast<std::uint32_t>(images[i].image.height_px);
    thumbnails.push_back(to_blocks(thumbnail(images[i].image.view())));
  }
  return {
      [table = std::move(table)](const ColumnNames& names) { return select_columns(table, names); },
      [thumbnails = std::move(thumbnails)](std::size_t first, std::size_t count) {
        Ragged<ThumbnailBlock> some;
        for (std::size_t row = first; row < first + count; ++row) {
          some.push_back(thumbnails[row]);
        }
        return some;
      }};
}

Addition addition_of(const std::vector<Shown>& images, const std::string& name) {
  const Table table = table_of(images);
  Addition out{.sources = {{}},
               .classes = {},
               .columns = table.columns,
               .names = {},
               .thumbnails = table.thumbnails};
  out.sources[0].name = name;
  out.sources[0].format = "test";
  out.sources[0].inputs = images.size() + 1;
  out.sources[0].listing_hash = to_hex(hash_of_number(name.size()));
  out.names = [count = images.size()](const NameSink& sink) {
    for (std::size_t i = 1; i <= count; ++i) sink(i, std::to_string(i));
  };
  return out;
}

std::uint64_t code(std::uint64_t number) { return test_rng(number).next_u64(); }

std::vector<Shown> known_pictures() {
  std::vector<Shown> known;
  for (std::uint64_t i = 0; i < 6; ++i) known.push_back(shown(scene(500 + i), code(i)));
  known.push_back(shown(scene(500), code(0)));        // pixels equal to those of the first
  known.push_back(shown(Image(63, 84, 1), code(6)));  // flat
  known.push_back(shown(Image(63, 84, 1), code(7)));
  known.back().row.quality = 0;
  return known;
}

std::vector<Shown> asked_pictures() {
  return {
      // Its code is far from that of its original
      shown(cropped(scene(500), 0.2, 0.8, 0.75), code(10)),
      shown(darker(scene(501)), code(1) ^ 3),  // its code is near
      shown(scene(600), code(2) ^ 1),          // its code is near that of an unrelated image
      shown(Image(63, 84, 1), code(6) ^ 1),    // flat, with a code near that of a flat one
      shown(scene(503), code(3)),              // the same pixels
      shown(flipped(scene(504)), code(11)),
      shown(flipped(scene(504)), code(11)),  // the same image once more
      shown(Image(63, 84, 1), code(7)),      // quality 0, but the same pixels
  };
}

// A row that was asked for and the number of a known image, from 0.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// Compares each pair on its own.
std::set<Pair> pairs_one_by_one(const std::vector<Shown>& asked, const std::vector<Shown>& known) {
  std::set<Pair> pairs;
  const std::vector<std::uint32_t> rows{0, 1};
  for (std::uint32_t i = 0; i < asked.size(); ++i) {
    for (std::uint32_t k = 0; k < known.size(); ++k) {
      if (asked[i].row.pixels == known[k].row.pixels) pairs.emplace(i, k);
      if (asked[i].row.quality == 0 || known[k].row.quality == 0) continue;
      std::vector<Edge> near;
      const int bits = std::popcount(asked[i].row.code ^ known[k].row.code);
      if (bits <= kThreshold) near.push_back({0, 1, static_cast<std::uint32_t>(bits)});
      const Verification found = verify(
          rows, [&](std::uint32_t row) { return row == 0 ? known[k].image : asked[i].image; }, near,
          known_model(), {.least_probability = kLeast});
      if (!found.pairs.empty() || !found.undecided.empty()) pairs.emplace(i, k);
    }
  }
  return pairs;
}

class PictureMatcherTest : public testing::Test {
 protected:
  PictureMatcherTest() { asked_.back().row.quality = 0; }

  // Asks the index for all pictures.
  PictureMatches find() {
    PictureMatcher matcher(StoredIndex::open(path_),
                           {.threshold = kThreshold, .demand = {.least_probability = kLeast}});
    made_ = matcher.landmarks().made;
    not_kept_ = matcher.landmarks().not_kept;
    const Table table = table_of(asked_);
    return matcher.find(table.columns, table.thumbnails);
  }
  // The pairs that were found. `number_of` maps the id of an image of the index to its number.
  std::set<Pair> pairs(const std::function<std::uint32_t(SampleId)>& number_of) {
    std::set<Pair> found;
    for (const PictureMatch& match : find().matches) found.emplace(match.row, number_of(match.id));
    return found;
  }
  static std::uint32_t by_position(SampleId id) {
    return static_cast<std::uint32_t>(position_of(id)) - 1;
  }
  std::set<std::string> landmark_files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".landmarks") != name.npos) names.insert(name);
    }
    return names;
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "index";
  const std::vector<Shown> known_ = known_pictures();
  std::vector<Shown> asked_ = asked_pictures();
  std::uint64_t made_ = 0;
  std::string not_kept_;
};

TEST_F(PictureMatcherTest, FindsWhatLookingAtEachPairFinds) {
  add_to_index(path_, addition_of(known_, "all"));
  const std::set<Pair> want = pairs_one_by_one(asked_, known_);
  EXPECT_EQ(pairs(by_position), want);
  // The pictures were made to give exactly these pairs.
  EXPECT_EQ(want, (std::set<Pair>{{0, 0}, {0, 6}, {1, 1}, {3, 7}, {4, 3}, {5, 4}, {6, 4}, {7, 8}}));
  const PictureMatches found = find();
  EXPECT_EQ(found.refused, 1U);
  EXPECT_EQ(found.undecided, 1U);
  const std::vector<PictureMatch>& matches = found.matches;
  for (std::size_t i = 1; i < matches.size(); ++i) {
    EXPECT_LE(matches[i - 1].row, matches[i].row);
    if (matches[i - 1].row != matches[i].row) continue;
    EXPECT_GE(matches[i - 1].probability, matches[i].probability);
  }
  EXPECT_GE(matches[0].probability, 0.9F);
  EXPECT_GT(matches[0].distance, 20U);
  EXPECT_EQ(matches[2].distance, 2U);
  EXPECT_EQ(matches[3].probability, std::nullopt);  // flat pictures match by their codes
  EXPECT_EQ(matches[4].probability, 1.0F);
  EXPECT_EQ(matches[4].distance, 0U);
}

TEST_F(PictureMatcherTest, KeepsLandmarksOfWhatIsThere) {
  const std::span all(known_);
  const auto part = [&](std::size_t from, std::size_t count) {
    const auto some = all.subspan(from, count);
    return std::vector<Shown>(some.begin(), some.end());
  };
  add_to_index(path_, addition_of(part(0, 5), "a"));
  find();
  EXPECT_EQ(made_, 5U);
  EXPECT_EQ(not_kept_, "");
  EXPECT_EQ(landmark_files().size(), 1U);
  find();
  EXPECT_EQ(made_, 0U);

  add_to_index(path_, addition_of(part(5, 4), "bb"));
  const auto number_of = [](SampleId id) { return by_position(id) + (source_of(id) == 0 ? 0 : 5); };
  std::set<Pair> want = pairs_one_by_one(asked_, known_);
  EXPECT_EQ(pairs(number_of), want);
  EXPECT_EQ(made_, 4U);
  EXPECT_EQ(landmark_files().size(), 2U);

  // A deletion keeps the landmarks. Deleted images are not found.
  EXPECT_EQ(delete_from_index(path_, {.names = {}, .ids = {5}, .source = {}}), 1U);
  std::erase_if(want, [](const Pair& pair) { return pair.second == 4; });
  EXPECT_EQ(pairs(number_of), want);
  EXPECT_EQ(made_, 0U);
  // A compaction makes a new table.
  compact_index(path_);
  EXPECT_TRUE(landmark_files().empty());
  EXPECT_EQ(pairs(number_of), want);
  EXPECT_EQ(made_, 8U);
  EXPECT_EQ(landmark_files().size(), 1U);
}

TEST_F(PictureMatcherTest, MakesLandmarksAgainWhereTheyAreNotAsTheyShouldBe) {
  add_to_index(path_, addition_of(known_, "all"));
  const std::vector<PictureMatch> want = find().matches;
  const fs::path file = path_ / *landmark_files().begin();
  const Bytes bytes = read_file(file);
  for (const bool is_cut : {false, true}) {
    Bytes bad = bytes;
    bad[bad.size() / 3] ^= std::byte{8};
    if (is_cut) bad.resize(bad.size() / 2);
    fs::remove(file);
    write_new_file(file, bad);
    EXPECT_EQ(find().matches, want);
    EXPECT_EQ(made_, known_.size());
    EXPECT_EQ(read_file(file), bytes);
  }
  // Unwritable landmarks prevent neither changing nor reading the index.
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(find().matches, want);
  EXPECT_EQ(made_, known_.size());
  EXPECT_NE(not_kept_, "");
  fs::remove(file);
  const Fd lock = lock_directory(path_);
  EXPECT_EQ(find().matches, want);
  EXPECT_THAT(not_kept_, HasSubstr("in use by another winnow"));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(PictureMatcherTest, RemovesWhatADeadProcessLeft) {
  add_to_index(path_, addition_of(known_, "all"));
  find();
  const fs::path file = path_ / *landmark_files().begin();
  write_new_file(file.string() + ".tmp", read_file(file));
  write_new_file(path_ / "00000.landmarks", read_file(file));  // belongs to no table
  delete_from_index(path_, {.names = {"3"}, .ids = {}, .source = {}});
  EXPECT_EQ(landmark_files(), std::set<std::string>{file.filename().string()});
}

TEST_F(PictureMatcherTest, SaysWhereThereAreNoThumbnails) {
  Addition plain = addition_of(known_, "all");
  plain.thumbnails = {};
  add_to_index(path_, plain);
  EXPECT_THROW(find(), UsageError);
}

TEST_F(PictureMatcherTest, FindsNothingInAnEmptyIndex) {
  add_to_index(path_, addition_of(known_, "all"));
  delete_from_index(path_, {.names = {}, .ids = {}, .source = 0});
  EXPECT_TRUE(find().matches.empty());
  compact_index(path_);
  EXPECT_TRUE(find().matches.empty());
}

// Links by pictures equal those of a single table, too.
TEST_F(PictureMatcherTest, OfOneTableLinksAreTheSame) {
  std::vector<Shown> all = known_;
  all.insert(all.end(), asked_.begin(), asked_.end());
  const std::vector<Shown> first(all.begin(), all.begin() + 7);
  const std::vector<Shown> rest(all.begin() + 7, all.end());
  const auto [columns, thumbnails] = table_of(all);
  const Options options{.hash = "phash", .threshold = kThreshold};
  const VerifiedLinks want = verify_links(columns, thumbnails, options, {}, {});
  EXPECT_GT(want.edges.size(), 6U);
  add_to_index(folder_ / "rest", addition_of(rest, "rest"));
  add_to_index(path_, addition_of(first, "one"));
  merge_indexes(path_, folder_ / "rest");
  for (const bool is_compact : {false, true}) {
    if (is_compact) compact_index(path_);
    const StoredIndex index = StoredIndex::open(path_);
    const auto landmarks = [&](std::span<const std::uint32_t> rows) {
      return index.landmarks(rows).known->table();
    };
    const VerifiedLinks found = verify_links(index.columns(), index.thumbnails(), options,
                                             index.links(), {.landmarks = landmarks});
    EXPECT_EQ(found.edges, want.edges);
    EXPECT_EQ(found.refused, want.refused);
    EXPECT_EQ(found.calibration.model.weights, want.calibration.model.weights);
  }
}

}  // namespace winnow::dedup::picture_matches_test
