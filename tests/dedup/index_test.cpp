// Growing indexes decide like one table of their live rows.

#include "dedup/index/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "dedup/index/manifest_internal.h"
#include "tests/common/growth.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::index_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kRadius = 5;

// A test's data set: images, their names and the names of their labels.
struct TestSource {
  IndexSource info;
  std::vector<TestImage> images;  // ids are positions
  std::vector<std::string> names;
};

// The parts of an addition.
struct TestAddition {
  std::vector<TestSource> sources;
  std::vector<std::string> classes;
  std::string hash = "phash";
  bool pictured = false;
  bool measured = false;
};

std::uint64_t mirrored(std::uint64_t code) { return __builtin_bswap64(code); }

// A table with codes of this hash: phash, or phash_mirrored with two orientations.
Fingerprints table_of(const std::vector<TestImage>& images, const std::string& hash) {
  Fingerprints table = make_table(images);
  if (hash == "phash") return table;
  CodeColumn codes = empty_codes(hash, 1, 128);
  for (const TestImage& image : images) {
    codes.words.insert(codes.words.end(), {image.code, mirrored(image.code)});
  }
  table.codes = {codes};
  return table;
}

// A thumbnail of each image, which depends on its code (64 bits).
Ragged<ThumbnailBlock> thumbnails_of(const std::vector<TestImage>& images) {
  Ragged<ThumbnailBlock> out;
  for (const TestImage& image : images) {
    CounterRng rng = test_rng(image.code);
    const ThumbnailSize size = thumbnail_size(image.width_px, 32);
    Image thumbnail(size.height_px, size.width_px, 1);
    for (auto& pixel : thumbnail.pixels) pixel = static_cast<std::uint8_t>(rng.next_u32() >> 24);
    out.push_back(to_blocks(thumbnail));
  }
  return out;
}

// Measures that depend on the code of the image.
std::vector<Measures> measures_of(const std::vector<TestImage>& images) {
  std::vector<Measures> out;
  for (const TestImage& image : images) {
    CounterRng rng = test_rng(image.code);
    out.push_back({.colour = static_cast<float>(rng.below(256)), .orientation = 1});
  }
  return out;
}

std::vector<TestImage> images_of(const TestAddition& addition) {
  std::vector<TestImage> images;
  for (std::uint32_t source = 0; source < addition.sources.size(); ++source) {
    for (TestImage image : addition.sources[source].images) {
      image.id = make_sample_id(source, image.id);
      images.push_back(image);
    }
  }
  return images;
}

Addition addition_of(const TestAddition& addition) {
  Addition out;
  for (const TestSource& source : addition.sources) out.sources.push_back(source.info);
  out.classes = addition.classes;
  Fingerprints table = table_of(images_of(addition), addition.hash);
  if (addition.measured) table.audit = measures_of(images_of(addition));
  out.columns = [table = std::move(table)](const ColumnNames& names) {
    return select_columns(table, names);
  };
  if (addition.pictured) {
    out.thumbnails = [all = thumbnails_of(images_of(addition))](std::size_t first,
                                                                std::size_t count) {
      Ragged<ThumbnailBlock> rows;
      for (std::size_t row = first; row < first + count; ++row) rows.push_back(all[row]);
      return rows;
    };
  }
  out.names = [addition](const NameSink& sink) {
    for (std::uint32_t source = 0; source < addition.sources.size(); ++source) {
      const TestSource& of = addition.sources[source];
      for (std::size_t i = 0; i < of.images.size(); ++i) {
        sink(make_sample_id(source, of.images[i].id), of.names[i]);
        // The name of an input that could not be read.
        if (i + 1 == of.images.size() || of.images[i + 1].id > of.images[i].id + 1)
          sink(make_sample_id(source, of.images[i].id + 1), "unreadable");
      }
    }
  };
  return out;
}

// Codes that are near or equal to each other, equal files and pixels, blank images.
class World {
 public:
  explicit World(std::uint64_t seed, std::string hash = "phash")
      : rng_(test_rng(seed)), hash_(std::move(hash)), pictured_(seed % 2 == 0) {
    for (int i = 0; i < 6; ++i) centres_.push_back(rng_.next_u64());
  }

  CounterRng& rng() { return rng_; }

  TestAddition addition() {
    TestAddition out;
    out.hash = hash_;
    out.pictured = pictured_;
    const std::vector<std::string> all{"ant", "bee", "cat"};
    const std::uint32_t turn = rng_.below(3);
    for (std::uint32_t i = 0; i < 3; ++i) out.classes.push_back(all[(turn + i) % 3]);
    for (std::uint32_t count = 1 + rng_.below(2); count > 0; --count)
      out.sources.push_back(source(out));
    return out;
  }

 private:
  TestSource source(const TestAddition& of) {
    TestSource out;
    const std::string number = std::to_string(sources_++);
    out.info.name = "set" + number;
    out.info.format = "test";
    out.info.listing_hash = to_hex(hash_of_number(sources_));
    out.info.class_names = {of.classes.back()};
    std::uint64_t position = 0;
    for (std::uint32_t count = rng_.below(14); count > 0; --count) {
      position += 2 + rng_.below(3);
      out.images.push_back(image(position));
      out.names.push_back("p" + std::to_string(position) + " of " + number);
    }
    out.info.inputs = position + 2;
    return out;
  }

  TestImage image(SampleId id) {
    std::uint64_t code = centres_[rng_.below(static_cast<std::uint32_t>(centres_.size()))] ^
                         random_flips(rng_, static_cast<int>(rng_.below(7)));
    if (rng_.below(4) == 0) centres_.push_back(code);
    if (hash_ != "phash" && rng_.below(2) == 0) code = mirrored(code);
    const auto number = [&] { return rng_.below(5) == 0 ? rng_.below(20) : 100 + next_++; };
    TestImage image{.id = id, .split = static_cast<Split>(rng_.below(4)), .code = code};
    image.labels.assign(rng_.below(3), static_cast<std::int32_t>(rng_.below(5)));
    image.file = number();
    image.pixels = number();
    image.width_px = 30 + rng_.below(5);
    image.sharpness = static_cast<float>(rng_.below(5));
    image.quality = rng_.below(6) == 0 ? 0.0F : 50.0F;
    return image;
  }

  CounterRng rng_;
  std::string hash_;
  bool pictured_;
  std::vector<std::uint64_t> centres_;
  std::uint64_t next_ = 0;
  std::uint64_t sources_ = 0;
};

// The expected contents of an index, computed in the simplest way.
struct Model {
  std::string hash = "phash";
  bool pictured = false;
  std::vector<std::string> classes;
  std::uint32_t sources = 0;
  std::map<SampleId, TestImage> live;
  std::map<SampleId, std::string> names;

  std::int32_t label(const std::string& name) {
    const auto at = std::ranges::find(classes, name);
    if (at == classes.end()) classes.push_back(name);
    return static_cast<std::int32_t>(std::ranges::find(classes, name) - classes.begin());
  }
  void add(const TestAddition& addition) {
    pictured = addition.pictured;
    for (const TestSource& source : addition.sources) {
      for (const std::string& name : source.info.class_names) label(name);
    }
    for (const std::string& name : addition.classes) label(name);
    for (const TestSource& source : addition.sources) {
      for (std::size_t i = 0; i < source.images.size(); ++i) {
        TestImage image = source.images[i];
        image.id = make_sample_id(sources, image.id);
        for (std::int32_t& of : image.labels) {
          if (of < 3) of = label(addition.classes[static_cast<std::size_t>(of)]);
        }
        live[image.id] = image;
        names[image.id] = source.names[i];
      }
      ++sources;
    }
  }
  void merge(const Model& other) {
    std::vector<std::int32_t> labels;
    for (const std::string& name : other.classes) labels.push_back(label(name));
    for (auto [id, image] : other.live) {
      image.id = make_sample_id(sources + source_of(id), position_of(id));
      for (std::int32_t& of : image.labels) {
        if (static_cast<std::size_t>(of) < labels.size()) of = labels[static_cast<std::size_t>(of)];
      }
      live[image.id] = image;
      names[image.id] = other.names.at(id);
    }
    sources += other.sources;
  }
  std::vector<TestImage> images() const {
    std::vector<TestImage> images;
    for (const auto& [id, image] : live) images.push_back(image);
    return images;
  }
  Fingerprints table() const { return table_of(images(), hash); }
};

ColumnNames all_columns(const std::string& hash = "phash") {
  ColumnNames names{"codes:" + hash};
  for (const std::string_view name : kColumns) names.emplace(name);
  return names;
}

Bytes selection_of(const StoredIndex& index, const Options& options) {
  return serialize(deduplicate(index.columns(), options, index.links()).selection);
}

void expect_thumbnails(const StoredIndex& index, const Model& model) {
  const ThumbnailSource thumbnails = index.thumbnails();
  if (model.live.empty()) return;
  ASSERT_EQ(thumbnails != nullptr, model.pictured);
  if (!thumbnails) return;
  const Ragged<ThumbnailBlock> all = thumbnails(0, model.live.size());
  const Ragged<ThumbnailBlock> want = thumbnails_of(model.images());
  ASSERT_EQ(all.offsets, want.offsets);
  ASSERT_EQ(all.values, want.values);
}

// Expects the index to equal the model, undamaged, and all its decisions to equal those of a full
// run.
void expect_same(const fs::path& folder, const Model& model) {
  const StoredIndex index = StoredIndex::open(folder);
  const Fingerprints table = model.table();
  ASSERT_EQ(index.live_rows(), table.size());
  ASSERT_EQ(index.classes(), model.classes);
  ASSERT_EQ(index.sources().size(), model.sources);
  ASSERT_EQ(serialize(index.columns()(all_columns(model.hash))), serialize(table));
  expect_thumbnails(index, model);

  const std::vector<std::uint32_t> rows = matchable_rows(table);
  for (int threshold = 0; threshold <= kRadius + 1; ++threshold) {
    std::vector<Edge> links;
    index.links()(table.codes.front(), rows, threshold, [&](std::span<const Edge> edges) {
      links.insert(links.end(), edges.begin(), edges.end());
    });
    std::ranges::sort(links);
    ASSERT_EQ(links, edges_within(table.codes.front(), rows, threshold)) << threshold;
  }
  for (const int threshold : {0, 3, kRadius, kRadius + 2}) {
    for (const Scope scope : {Scope::kAll, Scope::kWithin, Scope::kAcross}) {
      for (const GroupKind groups :
           {GroupKind::kComponents, GroupKind::kStars, GroupKind::kCliques}) {
        Options options;
        options.hash = model.hash;
        options.threshold = threshold;
        options.scope = scope;
        options.groups = groups;
        options.policy.keep = threshold == 3 ? KeepPolicy::kMajority : KeepPolicy::kFirst;
        ASSERT_EQ(selection_of(index, options), serialize(deduplicate(table, options).selection))
            << threshold << " " << scope_name(scope);
      }
    }
  }
  Options exact;
  exact.hash = "exact";
  ASSERT_EQ(selection_of(index, exact), serialize(deduplicate(table, exact).selection));

  std::map<SampleId, std::string> names;
  index.names()([&](SampleId id, std::string_view name) { names.emplace(id, name); });
  const auto name_of = index.name_of();
  std::map<SampleId, std::string> want;
  for (const auto& [id, image] : model.live) {
    want[id] = model.names.at(id);
    ASSERT_EQ(name_of(id), want[id]);
  }
  ASSERT_EQ(names, want);
}

// One of two indexes of a sequence, with its model.
struct Grown {
  explicit Grown(fs::path path, std::string hash = "phash") : folder(std::move(path)) {
    model.hash = std::move(hash);
  }
  fs::path folder;
  Model model;
};

void add(Grown& to, World& world) {
  const TestAddition addition = world.addition();
  const Added added =
      add_to_index(to.folder, addition_of(addition), {.hash = addition.hash, .radius = kRadius});
  EXPECT_EQ(added.rows, images_of(addition).size());
  EXPECT_EQ(added.sources.size(), addition.sources.size());
  to.model.add(addition);
}

void remove_some(Grown& from, World& world) {
  Deletion deletion;
  std::set<SampleId> gone;
  const bool whole_source = world.rng().below(5) == 0;
  if (whole_source) deletion.source = world.rng().below(from.model.sources);
  for (const auto& [id, image] : from.model.live) {
    if (whole_source ? source_of(id) != *deletion.source : world.rng().below(4) != 0) continue;
    gone.insert(id);
    if (whole_source) continue;
    if (world.rng().below(2) == 0) {
      deletion.ids.push_back(id);
    } else {
      deletion.names.push_back(from.model.names.at(id));
    }
  }
  EXPECT_EQ(delete_from_index(from.folder, deletion), gone.size());
  for (const SampleId id : gone) from.model.live.erase(id);
}

TEST(StoredIndex, HasThumbnailsOfAllRowsOrOfNone) {
  const TemporaryFolder folder;
  World world(2);
  Grown a(folder / "a");
  for (int i = 0; i < 2; ++i) add(a, world);
  ASSERT_NE(StoredIndex::open(a.folder).thumbnails(), nullptr);
  TestAddition plain = world.addition();
  while (images_of(plain).empty()) plain = world.addition();
  plain.pictured = false;
  add_to_index(a.folder, addition_of(plain));
  a.model.add(plain);
  expect_same(a.folder, a.model);
  compact_index(a.folder);
  expect_same(a.folder, a.model);
}

TEST(StoredIndex, HasMeasuresOfAllRowsOrOfNone) {
  const TemporaryFolder folder;
  World world(1);
  Grown a(folder / "a");
  const auto grow = [&](bool measured) {
    TestAddition addition = world.addition();
    while (images_of(addition).empty()) addition = world.addition();
    addition.measured = measured;
    add_to_index(a.folder, addition_of(addition));
    a.model.add(addition);
  };
  const auto measures = [&] { return StoredIndex::open(a.folder).columns()({"audit"}).audit; };
  grow(true);
  grow(true);
  EXPECT_EQ(measures(), measures_of(a.model.images()));
  Deletion first;
  first.ids = {a.model.live.begin()->first};
  delete_from_index(a.folder, first);
  a.model.live.erase(first.ids.front());
  EXPECT_EQ(measures(), measures_of(a.model.images()));
  compact_index(a.folder);
  EXPECT_EQ(measures(), measures_of(a.model.images()));
  grow(false);
  EXPECT_TRUE(measures().empty());
  compact_index(a.folder);
  EXPECT_TRUE(measures().empty());
}

TEST(StoredIndex, GrownInAnyWayDecidesAsTheFullRun) {
  int merges = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder;
    const std::string hash = seed % 3 == 0 ? "phash_mirrored" : "phash";
    World world(seed, hash);
    Grown a(folder / "a", hash);
    Grown b(folder / "b", hash);
    add(a, world);
    for (std::uint32_t steps = 3 + world.rng().below(6); steps > 0; --steps) {
      switch (world.rng().below(7)) {
        case 0:
        case 1:
          add(a, world);
          break;
        case 2:
        case 3:
          remove_some(a, world);
          break;
        case 4: {
          const std::string digest = StoredIndex::open(a.folder).digest();
          compact_index(a.folder);
          const StoredIndex compacted = StoredIndex::open(a.folder);
          EXPECT_EQ(compacted.digest(), digest);
          EXPECT_EQ(compacted.deleted_rows(), 0U);
          EXPECT_EQ(compacted.segments(), 1U);
          break;
        }
        case 5:
          add(b, world);
          if (world.rng().below(2) == 0) remove_some(b, world);
          break;
        default:
          if (b.model.sources == 0) add(b, world);
          merge_indexes(a.folder, b.folder);
          a.model.merge(b.model);
          b = Grown(folder / ("b" + std::to_string(steps)), hash);
          ++merges;
      }
      if (world.rng().below(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_same(a.folder, a.model));
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(a.folder, a.model));
  }
  EXPECT_GT(merges, 20);
}

TEST(StoredIndex, IsTheSameBytesWhereItGrewTheSameWay) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    World world(7);
    Grown grown(folder / name);
    for (int i = 0; i < 4; ++i) add(grown, world);
    remove_some(grown, world);
    if (name[0] == 'b') compact_index(grown.folder);
    if (name[0] == 'b') compact_index(grown.folder);  // the second time there is nothing to do
  }
  compact_index(folder / "a");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "a")) {
    EXPECT_EQ(read_file(entry.path()), read_file(folder / "b" / entry.path().filename().string()));
    ++files;
  }
  EXPECT_EQ(files, 4U);  // a table, names, links and the manifest
}

TEST(StoredIndex, MakesOneOfManySegments) {
  const TemporaryFolder folder;
  World world(8);
  Grown grown(folder / "a");
  for (int i = 0; i < 150; ++i) add(grown, world);
  remove_some(grown, world);
  EXPECT_LE(StoredIndex::open(grown.folder).segments(), 64U);
  expect_same(grown.folder, grown.model);
}

TestAddition one_source(std::vector<TestImage> images, const std::string& name = "set") {
  TestSource source;
  source.info.name = name;
  source.info.format = "test";
  source.info.listing_hash = to_hex(hash_of_number(name.size()));
  for (const TestImage& image : images) {
    source.names.push_back(std::to_string(image.id) + ".jpg");
    source.info.inputs = image.id + 1;
  }
  source.images = std::move(images);
  return {{source}, {}};
}

TEST(StoredIndex, KnowsTheSourcesThatItHas) {
  const TemporaryFolder folder;
  const fs::path path = folder / "index";
  const TestAddition first = one_source({{.id = 1, .file = 1}, {.id = 3, .file = 2}});
  add_to_index(path, addition_of(first));
  const Bytes before = read_file(path / "manifest.json");
  Added again = add_to_index(path, addition_of(first));
  EXPECT_EQ(again.rows, 0U);
  EXPECT_THAT(again.known, ElementsAre("set"));
  EXPECT_EQ(read_file(path / "manifest.json"), before);

  // A cache that has grown.
  TestAddition grown = first;
  grown.sources.push_back(one_source({{.id = 5, .file = 3}}, "more").sources.front());
  again = add_to_index(path, addition_of(grown));
  EXPECT_EQ(again.rows, 1U);
  EXPECT_THAT(again.sources, ElementsAre("more"));
  EXPECT_THAT(StoredIndex::open(path).columns()({}).ids, ElementsAre(1, 3, make_sample_id(1, 5)));

  // The same listing with other images.
  const TestAddition other = one_source({{.id = 1, .file = 9}, {.id = 3, .file = 2}});
  try {
    add_to_index(path, addition_of(other));
    FAIL() << "took it";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--source 0"));
  }
  EXPECT_EQ(delete_from_index(path, {.names = {}, .ids = {}, .source = 0}), 2U);
  compact_index(path);
  EXPECT_EQ(add_to_index(path, addition_of(other)).rows, 2U);
  EXPECT_THAT(StoredIndex::open(path).columns()({}).ids,
              ElementsAre(make_sample_id(1, 5), make_sample_id(2, 1), make_sample_id(2, 3)));
}

TEST(StoredIndex, FindsWhatItHasOfATable) {
  const TemporaryFolder folder;
  const fs::path path = folder / "index";
  add_to_index(path, addition_of(one_source({
                         {.id = 1, .code = 0xFF, .file = 1, .pixels = 1},
                         {.id = 2, .code = 0x0F, .file = 2, .pixels = 2},
                         {.id = 3, .code = 0x0F, .file = 3, .pixels = 3},
                         {.id = 4, .code = ~0ULL, .file = 4, .pixels = 4, .quality = 0},
                     })));
  const auto find = [&](int threshold) {
    const Fingerprints table = make_table({
        {.id = 1, .code = 0x1F, .file = 11, .pixels = 11},  // 1 bit from 2, 3 bits from 1
        {.id = 2, .code = 0x1F, .file = 12, .pixels = 12},  // the same
        {.id = 3, .code = 0x1F, .file = 13, .pixels = 13, .quality = 0},  // blank
        {.id = 4, .code = 0x1F, .file = 14, .pixels = 4, .quality = 0},   // blank, but equal pixels
        {.id = 5, .code = 0xF0F0F0F0, .file = 3, .pixels = 15},           // equal file
        {.id = 6, .code = 0xF0F0F0F0, .file = 16, .pixels = 16},  // matches nothing in the index
        {.id = 7, .code = ~0ULL, .file = 17, .pixels = 17},       // the indexed one is blank
    });
    return StoredIndex::open(path).find_matches(
        [&](const ColumnNames& names) { return select_columns(table, names); }, threshold);
  };
  EXPECT_THAT(find(1), ElementsAre(Match{0, 2, 1}, Match{1, 2, 1}, Match{3, 4, 0}, Match{4, 3, 0}));
  EXPECT_THAT(find(0), ElementsAre(Match{3, 4, 0}, Match{4, 3, 0}));
  delete_from_index(path, {.names = {"2.jpg"}, .ids = {}, .source = {}});
  EXPECT_THAT(find(1), ElementsAre(Match{0, 3, 1}, Match{1, 3, 1}, Match{3, 4, 0}, Match{4, 3, 0}));
  delete_from_index(path, {.names = {}, .ids = {3}, .source = {}});
  EXPECT_THAT(find(20), ElementsAre(Match{0, 1, 3}, Match{1, 1, 3}, Match{3, 4, 0}, Match{4, 1, 16},
                                    Match{5, 1, 16}));
  EXPECT_THROW(find(65), UsageError);
}

TEST(StoredIndex, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const fs::path path = folder / "index";
  EXPECT_THROW(StoredIndex::open(path), UsageError);
  EXPECT_THROW(compact_index(path), UsageError);
  const TestAddition some = one_source({{.id = 1}, {.id = 2, .file = 1}});
  EXPECT_THROW(add_to_index(path, addition_of(some), {.hash = "dhash", .radius = {}}), UsageError);
  EXPECT_THROW(add_to_index(path, addition_of(some), {.hash = {}, .radius = 65}), UsageError);
  EXPECT_FALSE(fs::exists(path));
  add_to_index(path, addition_of(some));
  EXPECT_EQ(StoredIndex::open(path).kind(), (IndexKind{"phash", 1, 64, 8}));

  const TestAddition more = one_source({{.id = 1}}, "more");
  EXPECT_THROW(add_to_index(path, addition_of(more), {.hash = {}, .radius = 5}), UsageError);
  Addition newer = addition_of(more);
  newer.columns = [columns = newer.columns](const ColumnNames& names) {
    Fingerprints table = columns(names);
    for (CodeColumn& codes : table.codes) codes.version = 2;
    return table;
  };
  EXPECT_THROW(add_to_index(path, newer), UsageError);
  Addition nameless = addition_of(more);
  nameless.names = [](const NameSink&) {};
  EXPECT_THROW(add_to_index(path, nameless), FormatError);
  EXPECT_EQ(StoredIndex::open(path).live_rows(), 2U);

  EXPECT_THROW(delete_from_index(path, {.names = {"7.jpg"}, .ids = {}, .source = {}}), UsageError);
  EXPECT_THROW(delete_from_index(path, {.names = {"1.jpg"}, .ids = {7}, .source = {}}), UsageError);
  EXPECT_THROW(delete_from_index(path, {.names = {}, .ids = {}, .source = 1}), UsageError);
  add_to_index(path, addition_of(more));
  EXPECT_THROW(delete_from_index(path, {.names = {"1.jpg"}, .ids = {}, .source = {}}), UsageError);
  EXPECT_EQ(delete_from_index(path, {.names = {"1.jpg"}, .ids = {}, .source = 1}), 1U);
  EXPECT_THROW(delete_from_index(path, {.names = {"1.jpg"}, .ids = {}, .source = 1}), UsageError);

  add_to_index(folder / "wide", addition_of(more), {.hash = {}, .radius = 9});
  EXPECT_THROW(merge_indexes(path, folder / "wide"), UsageError);
  EXPECT_THROW(merge_indexes(path, path), UsageError);
  EXPECT_THROW(merge_indexes(path, folder / "none"), UsageError);

  fs::create_directories(folder / "other");
  write_file_durably(folder / "other" / "holiday.jpg", std::string_view("a picture"));
  EXPECT_THROW(add_to_index(folder / "other", addition_of(some)), UsageError);

  const Fd lock = lock_directory(path);
  EXPECT_THROW(compact_index(path), UsageError);
  EXPECT_EQ(StoredIndex::open(path).live_rows(), 2U);
}

TEST(StoredIndex, IsReadAsItWasWhenItWasOpened) {
  const TemporaryFolder folder;
  World world(3);
  Grown grown(folder / "a");
  for (int i = 0; i < 3; ++i) add(grown, world);
  const StoredIndex before = StoredIndex::open(grown.folder);
  const Bytes table = serialize(grown.model.table());
  remove_some(grown, world);
  compact_index(grown.folder);
  EXPECT_EQ(serialize(before.columns()(all_columns())), table);
  expect_same(grown.folder, grown.model);
}

// Reads everything that can be read.
void read_everything(const fs::path& folder) {
  const StoredIndex index = StoredIndex::open(folder);
  const Fingerprints table = index.columns()(all_columns());
  selection_of(index, {.threshold = 3, .scope = Scope::kWithin});
  const auto name_of = index.name_of();
  for (const SampleId id : table.ids) name_of(id);
  index.names()([](SampleId, std::string_view) {});
  index.digest();
}

fs::path damaged_index(const TemporaryFolder& folder) {
  World world(5);
  Grown grown(folder / "a");
  for (int i = 0; i < 2; ++i) add(grown, world);
  remove_some(grown, world);
  EXPECT_GT(StoredIndex::open(grown.folder).deleted_rows(), 0U);
  return grown.folder;
}

TEST(StoredIndex, RefusesAFlippedByteAnywhere) {
  const TemporaryFolder folder;
  const fs::path index = damaged_index(folder);
  read_everything(index);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(index)) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 8U);
  CounterRng rng = test_rng(1);
  for (const fs::path& file : files) {
    const Bytes bytes = read_file(file);
    for (std::size_t at = 0; at < bytes.size(); at += 1 + rng.below(bytes.size() > 2000 ? 9 : 1)) {
      Bytes bad = bytes;
      bad[at] ^= static_cast<std::byte>(1U << rng.below(8));
      fs::remove(file);
      write_new_file(file, bad);
      EXPECT_THROW(read_everything(index), FormatError) << file << " byte " << at;
    }
    fs::remove(file);
    write_new_file(file, BytesView(bytes).first(bytes.size() / 2));
    EXPECT_THROW(read_everything(index), FormatError) << file << " cut";
    fs::remove(file);
    if (file.filename() != "manifest.json") {
      try {
        read_everything(index);
        FAIL() << file << " is missing";
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr(file.filename().string()));
      }
    }
    write_new_file(file, bytes);
  }
  read_everything(index);
}

// Forges a file: makes all checksums valid again.
void forge(const fs::path& index, const fs::path& file, Bytes bytes) {
  if (bytes.size() >= 8) {
    const std::uint64_t sum = xxh3_64(BytesView(bytes).first(bytes.size() - 8));
    std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
  }
  const std::string before = to_hex(xxh3_128(read_file(file)));
  fs::remove(file);
  write_new_file(file, bytes);
  std::string manifest = read_text(index / "manifest.json");
  manifest.replace(manifest.find(before), before.size(), to_hex(xxh3_128(bytes)));
  const std::size_t line = manifest.find("  \"digest\"");
  manifest.erase(line, manifest.find('\n', line) + 1 - line);
  write_file_durably(index / "manifest.json", with_digest_line(manifest));
}

TEST(StoredIndex, SurvivesForgedFiles) {
  const TemporaryFolder folder;
  const fs::path index = damaged_index(folder);
  const Bytes manifest = read_file(index / "manifest.json");
  std::size_t refused = 0;
  std::size_t tried = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(index)) {
    if (entry.path().filename() != "manifest.json") files.push_back(entry.path());
  }
  CounterRng rng = test_rng(2);
  for (const fs::path& file : files) {
    const Bytes bytes = read_file(file);
    for (int i = 0; i < 150; ++i, ++tried) {
      Bytes bad = bytes;
      bad[rng.below(static_cast<std::uint32_t>(bad.size()))] ^=
          static_cast<std::byte>(1 + rng.below(255));
      forge(index, file, bad);
      try {
        read_everything(index);
      } catch (const FormatError&) {
        ++refused;
      } catch (const UsageError&) {  // codes of another version
        ++refused;
      }
      fs::remove(file);
      write_new_file(file, bytes);
      write_file_durably(index / "manifest.json", manifest);
    }
  }
  EXPECT_GT(refused, tried / 4);
  read_everything(index);
}

TEST(StoredIndex, RefusesForgedManifests) {
  const TemporaryFolder folder;
  const fs::path index = damaged_index(folder);
  const std::string text = read_text(index / "manifest.json");
  const auto expect_refused = [&](const std::string& from, const std::string& to,
                                  const std::string& words) {
    std::string bad = text;
    ASSERT_NE(bad.find(from), bad.npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    const std::size_t line = bad.find("  \"digest\"");
    bad.erase(line, bad.find('\n', line) + 1 - line);
    write_file_durably(index / "manifest.json", with_digest_line(bad));
    try {
      read_everything(index);
      FAIL() << from << " -> " << to;
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words)) << from << " -> " << to;
    }
  };
  expect_refused("\"version\": 1", "\"version\": 2", "newer winnow (index version 2");
  expect_refused("\"version\": 1", "\"version\": -1", "manifest.json");
  expect_refused("\"version\": 1", "\"version\": 1.5", "manifest.json");
  expect_refused("\"bits\": 64", "\"bits\": 63", "a multiple of 64");
  expect_refused("\"bits\": 64", "\"bits\": 0", "a multiple of 64");
  expect_refused("\"radius\": 5", "\"radius\": 65", "'radius'");
  expect_refused("\"radius\": 5", "\"radius\": 6", "links");
  expect_refused("\"file\": \"0", "\"file\": \"../0", "is not a file of this index");
  expect_refused("\"file\": \"0", "\"file\": \"99999999999999990", "is not a file of this index");
  expect_refused("\"classes\": [", "\"classes\": [1, ", "'classes'");
  expect_refused("\"classes\"", "\"glasses\"", "lacks 'classes'");
  expect_refused("\"rows\": ", "\"rows\": 4294967296", "'rows'");
  expect_refused("\"deleted\": ", "\"deleted\": 9", "'deleted'");
  expect_refused("\"format\": \"winnow-index\"", "\"format\": \"winnow-heap\"", "manifest");
  // Memory is allocated by rows; files are opened and hashed by segment.
  const std::size_t begin = text.find("\"segments\": [") + 13;
  const std::string segment = text.substr(begin, text.find("\n    }", begin) + 6 - begin);
  expect_refused(segment,
                 segment.substr(0, segment.find("rows") + 7) + "10000" +
                     segment.substr(segment.find("rows") + 7),
                 "'rows'");
  std::string more;
  for (int i = 0; i < 100; ++i) more += segment + ",";
  expect_refused(segment, more + segment, "'segments'");
  expect_refused(segment, segment + "," + segment, "twice");
}

TEST(StoredIndex, ReadsManifestsInTimeThatTheirSizeBounds) {
  const TemporaryFolder folder;
  std::string text = read_text(damaged_index(folder) / "manifest.json");
  const std::size_t begin = text.find("\"segments\": [") + 13;
  std::string segment = text.substr(begin, text.find("\n    }", begin) + 6 - begin);
  const std::size_t rows = segment.find("\"rows\": ") + 8;
  segment.replace(rows, segment.find(',', rows) - rows, "0");
  const std::size_t line = text.find("  \"digest\"");
  text.erase(line, text.find('\n', line) + 1 - line);
  constexpr int kSegments = 5'000;
  std::map<int, std::string> manifests;
  for (const int more : {kSegments, 8 * kSegments}) {
    std::string all;
    for (int i = 0; i < more; ++i) all += segment + ",";
    manifests[more] = with_digest_line(std::string(text).insert(begin, all));
  }
  const auto of_segments = [&](int count) {
    EXPECT_THROW(parse_index_manifest(manifests.at(count), "manifest.json"), FormatError);
  };
  EXPECT_LT(test::growth(kSegments, of_segments), test::kGrowthOfLinear);
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) {
      files[entry.path().filename().string()] = read_text(entry.path());
    }
  }
  return files;
}

template <class Expected>
void expect_nothing_touches(const fs::path& index, const std::string& words) {
  const TestAddition some = one_source({{.id = 1}}, "more");
  const auto before = files_in(index);
  const std::vector<std::function<void()>> uses{[&] { add_to_index(index, addition_of(some)); },
                                                [&] { compact_index(index); },
                                                [&] { StoredIndex::open(index); }};
  for (const auto& use : uses) {
    try {
      use();
      FAIL() << words;
    } catch (const Expected& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
    EXPECT_EQ(files_in(index), before);
  }
}

TEST(StoredIndex, TouchesNothingWithoutItsManifest) {
  const TemporaryFolder folder;
  const fs::path index = damaged_index(folder);
  fs::rename(index / "manifest.json", folder / "kept");
  expect_nothing_touches<FormatError>(index, "no manifest.json");
  // A manifest that cannot be read is not a missing one.
  fs::create_symlink("manifest.json", index / "manifest.json");
  expect_nothing_touches<SystemError>(index, "manifest.json");
  fs::rename(folder / "kept", index / "manifest.json");
  read_everything(index);
}

TEST(StoredIndex, TellsACacheFromADamagedIndex) {
  const TemporaryFolder folder;
  write_file_durably(folder / "manifest.json",
                     with_digest_line("{\n  \"format\": \"winnow-cache\"\n}\n"));
  expect_nothing_touches<UsageError>(folder.path(), "is a cache, not an index");
}

TEST(StoredIndex, IsEmptyAfterAFirstAdditionThatWasKilled) {
  const TemporaryFolder folder;
  const fs::path path = folder / "index";
  const TestAddition some = one_source({{.id = 1}, {.id = 2, .file = 1}});
  Addition nameless = addition_of(some);
  nameless.names = [&](const NameSink&) { fs::copy(folder / "failed", path); };
  EXPECT_THROW(add_to_index(folder / "failed", nameless), FormatError);
  EXPECT_FALSE(fs::exists(folder / "failed"));
  EXPECT_GT(files_in(path).size(), 1U);
  {
    const StoredIndex index = StoredIndex::open(path);
    EXPECT_EQ(index.live_rows(), 0U);
    EXPECT_EQ(deduplicate(index.columns(), {}, index.links()).removed, 0U);
    EXPECT_TRUE(index.find_matches(addition_of(some).columns, 3).empty());
  }
  // The hash and radius are not chosen yet.
  add_to_index(path, addition_of(some), {.hash = {}, .radius = 5});
  EXPECT_EQ(StoredIndex::open(path).kind().radius, 5);
  add_to_index(folder / "at once", addition_of(some), {.hash = {}, .radius = 5});
  EXPECT_EQ(files_in(path), files_in(folder / "at once"));
}

using ChangeOf = std::function<void(const fs::path&, const SearchOptions&)>;

// Stops at the first question, then at the second, and so on. Each time the files stay as they
// were.
void expect_stops_cleanly(const ChangeOf& change, const fs::path& index, const fs::path& place) {
  const std::map<std::string, std::string> before =
      fs::exists(index) ? files_in(index) : std::map<std::string, std::string>{};
  for (int allowed = 0;; ++allowed) {
    fs::remove_all(place);
    if (fs::exists(index)) fs::copy(index, place);
    std::atomic<int> left = allowed;
    try {
      change(place, {.stop = [&] { return left-- <= 0; }});
      EXPECT_GT(allowed, 1);
      return;
    } catch (const StoppedError&) {
      ASSERT_EQ(fs::exists(place), fs::exists(index)) << allowed;
      if (fs::exists(place)) {
        ASSERT_EQ(files_in(place), before) << allowed;
      }
    }
  }
}

TEST(StoredIndex, IsAsItWasWhereverAChangeIsStopped) {
  const TemporaryFolder folder;
  const fs::path index = folder / "index";
  World world(3);
  Grown grown(index);
  add(grown, world);
  add(grown, world);
  Grown other(folder / "other");
  add(other, world);
  const SampleId some = grown.model.live.begin()->first;
  delete_from_index(index, {.names = {}, .ids = {some}, .source = {}});
  const Addition addition = addition_of(one_source({{.id = 1}, {.id = 2, .code = 7}}, "more"));
  const std::vector<ChangeOf> changes{
      [&](const fs::path& at, const SearchOptions& search) {
        add_to_index(at, addition, {}, search);
      },
      [&](const fs::path& at, const SearchOptions& search) {
        merge_indexes(at, other.folder, search);
      },
      [&](const fs::path& at, const SearchOptions& search) { compact_index(at, search.stop); },
      [&](const fs::path& at, const SearchOptions& search) {
        delete_from_index(at, {.names = {}, .ids = {}, .source = 0}, search.stop);
      }};
  for (const ChangeOf& change : changes) expect_stops_cleanly(change, index, folder / "place");
  expect_stops_cleanly(changes.front(), folder / "nothing", folder / "place");
}

TEST(StoredIndex, StopsWhenItIsAsked) {
  const TemporaryFolder folder;
  World world(4);
  Grown grown(folder / "index");
  for (int i = 0; i < 4; ++i) add(grown, world);
  const StoredIndex index = StoredIndex::open(grown.folder);
  const SearchOptions stopping{.stop = [] { return true; }};
  EXPECT_THROW(index.find_matches(index.columns(), 3, stopping), StoppedError);
  const Fingerprints table = grown.model.table();
  for (const int threshold : {kRadius, kRadius + 1}) {
    EXPECT_THROW(index.links(stopping)(table.codes.front(), matchable_rows(table), threshold,
                                       [](std::span<const Edge>) {}),
                 StoppedError);
  }
}

TEST(StoredIndex, RemovesOnlyWhatItCanHaveLeft) {
  const TemporaryFolder folder;
  const fs::path index = damaged_index(folder);
  // Its files are 00000 to 00006: a change would make 00007 to 00009.
  const std::vector<std::string> left{"00000.dead", "00007.links", "00009.table.tmp",
                                      "manifest.json.tmp"};
  const std::vector<std::string> others{"00019.table", "20260704.names", "000001.links",
                                        "00001.jpg", "1.names"};
  for (const std::string& name : left) write_file_durably(index / name, std::string_view("left"));
  for (const std::string& name : others) write_file_durably(index / name, std::string_view("own"));
  compact_index(index);
  const auto after = files_in(index);
  for (const std::string& name : others) EXPECT_TRUE(after.contains(name)) << name;
  EXPECT_EQ(after.size(), 4 + others.size());
}

TEST(StoredIndex, ChecksWhatItComparesByUnderItsLock) {
  const TemporaryFolder folder;
  const fs::path path = folder / "index";
  const TestAddition some = one_source({{.id = 1}});
  Addition late = addition_of(one_source({{.id = 1}}, "more"));
  bool is_first = true;
  late.columns = [&, columns = late.columns](const ColumnNames& names) {
    if (std::exchange(is_first, false)) {
      add_to_index(path, addition_of(some), {.hash = {}, .radius = 5});
    }
    return columns(names);
  };
  EXPECT_THROW(add_to_index(path, late, {.hash = {}, .radius = 9}), UsageError);
  EXPECT_EQ(StoredIndex::open(path).live_rows(), 1U);
}

}  // namespace winnow::dedup::index_test
