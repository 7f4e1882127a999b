#include "pipeline/load/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "common/rng.h"
#include "pipeline/decode/decode.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/order.h"
#include "pipeline/load/stages.h"
#include "pipeline/load/team.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/verify.h"
#include "tests/pipeline/test_cache.h"

namespace winnow::pipeline::loader_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using test::encoded;
using test::mixed_samples;
using test::random_image;
using test::raw;
using test::Sample;
using test::TestCache;
using test::to_bytes;

std::vector<Request> requests_for(const std::vector<Sample>& samples, std::uint32_t epoch = 0) {
  std::vector<Request> requests;
  for (const Sample& s : samples) requests.push_back({s.id, epoch, 1});
  return requests;
}

LoadOptions options_for(Geometry geometry, Recipe recipe = Recipe::kNone, int threads = 1) {
  LoadOptions options;
  options.geometry = geometry;
  options.recipe = recipe;
  options.seed = 5;
  options.threads = threads;
  return options;
}

void expect_equal(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.height_px, b.height_px);
  EXPECT_EQ(a.width_px, b.width_px);
  EXPECT_EQ(a.channels, b.channels);
  EXPECT_TRUE(a.pixels == b.pixels) << "pixels differ";
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.label_offsets, b.label_offsets);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.label_weights, b.label_weights);
  EXPECT_EQ(a.mix, b.mix);
  EXPECT_EQ(a.partners, b.partners);
  EXPECT_EQ(a.others, b.others);
  EXPECT_EQ(a.groups, b.groups);
}

// Joins the parts of a global batch.
Batch joined(const std::vector<Batch>& parts) {
  Batch all = parts.at(0);
  for (const Batch& part : std::span(parts).subspan(1)) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (std::size_t i = 1; i < part.label_offsets.size(); ++i) {
      all.label_offsets.push_back(static_cast<std::uint32_t>(all.labels.size()) +
                                  part.label_offsets[i]);
    }
    for (const std::uint32_t other : part.others) {
      all.others.push_back(static_cast<std::uint32_t>(all.labels.size()) + other);
    }
    append(all.pixels, part.pixels);
    append(all.ids, part.ids);
    append(all.weights, part.weights);
    append(all.labels, part.labels);
    append(all.label_weights, part.label_weights);
    append(all.groups, part.groups);
    append(all.partners, part.partners);
    EXPECT_EQ(part.mix, all.mix);
  }
  return all;
}

dedup::Selection selection_of(const Cache& cache,
                              const std::vector<std::pair<SampleId, float>>& rows) {
  dedup::Selection selection;
  selection.name = "chosen";
  selection.mode = dedup::SelectionMode::kWeight;
  selection.settings = "{}";
  selection.cache_digest = cache.digest();
  for (const auto& [id, weight] : rows) {
    selection.components.push_back(static_cast<std::uint32_t>(selection.ids.size()));
    selection.ids.push_back(id);
    selection.weights.push_back(weight);
    selection.kept.push_back(id);
    selection.distances.push_back(0);
    selection.rules.push_back(weight > 0 ? dedup::Rule::kKept : dedup::Rule::kLeak);
  }
  return selection;
}

template <class Exception, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::vector<Sample> split_samples() {
  std::vector<Sample> samples = mixed_samples(6);
  samples[1].split = Split::kTest;
  samples[4].split = Split::kTest;
  return samples;
}

// A test that waits for something that never comes fails after this time.
constexpr std::chrono::minutes kPatience{5};

TEST(Team, CallsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    for (const std::size_t count : {0, 1, 2, 7, 100, 1000}) {
      std::vector<int> calls(count);
      EXPECT_TRUE(team.run(count, [&](std::size_t i) { ++calls[i]; }));
      EXPECT_THAT(calls, testing::Each(1));
    }
  }
}

TEST(Team, UsesAllItsThreads) {
  Team team(3);
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  EXPECT_TRUE(team.run(3, [&](std::size_t) {  // each call waits for the other two
    std::unique_lock lock(mutex);
    if (++here == 3) all_here.notify_all();
    EXPECT_TRUE(all_here.wait_for(lock, kPatience, [&] { return here == 3; }));
  }));
}

TEST(Team, ThrowsWhatTheLowestIndexThrew) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    for (int round = 0; round < 50; ++round) {
      const auto work = [](std::size_t i) {
        if (i % 37 == 36) throw Error(std::to_string(i));
      };
      EXPECT_EQ(message_of<Error>([&] { team.run(500, work); }), "36");
      EXPECT_TRUE(team.run(36, work));  // the team remains usable
    }
  }
}

TEST(Team, StopsInTheMiddle) {
  for (const int threads : {1, 3}) {
    Team team(threads);
    std::atomic<std::size_t> calls{0};
    std::atomic<bool> stopped{false};
    EXPECT_FALSE(team.run(100'000, [&](std::size_t) {
      const std::size_t call = ++calls;
      if (call == 100) {
        team.stop();
        stopped = true;
      }
      while (call > 100 && !stopped) std::this_thread::yield();
    }));
    EXPECT_GE(calls, 100U);
    EXPECT_LT(calls, 100U + static_cast<std::size_t>(threads)) << "those that were under way";
    EXPECT_FALSE(team.run(1, [](std::size_t) {}));
  }
}

TEST(SelectSamples, TakesASplit) {
  const auto samples = split_samples();
  const TestCache cache(samples);
  const SampleSet train = select_samples(*cache, Split::kTrain, "");
  EXPECT_THAT(train.ids, ElementsAre(10, 16, 19, 25));
  EXPECT_THAT(train.weights, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(select_samples(*cache, Split::kTest, "").ids, ElementsAre(13, 22));
  EXPECT_THAT(message_of<UsageError>([&] { select_samples(*cache, Split::kVal, ""); }),
              HasSubstr("val"));
}

TEST(SelectSamples, ObeysASelection) {
  const auto samples = split_samples();
  const TestCache cache(samples);
  cache->write_selection(
      selection_of(*cache, {{10, 0.F}, {13, 1.F}, {16, 0.25F}, {19, 1.F}, {22, 0.F}, {25, 0.F}}));
  const SampleSet train = select_samples(*cache, Split::kTrain, "chosen");
  EXPECT_THAT(train.ids, ElementsAre(16, 19));
  EXPECT_THAT(train.weights, ElementsAre(0.25F, 1.F));
  EXPECT_THAT(select_samples(*cache, Split::kTest, "chosen").ids, ElementsAre(13));
}

TEST(SelectSamples, ThoseThatOneStandsForTakeTurns) {
  const auto samples = split_samples();
  const TestCache cache(samples);
  dedup::Selection by_turns =
      selection_of(*cache, {{10, 1.F}, {13, 1.F}, {16, 1.F}, {19, 0.F}, {22, 1.F}, {25, 1.F}});
  by_turns.mode = dedup::SelectionMode::kOnePerGroup;
  by_turns.kept = {25, 13, 16, 25, 22, 25};  // 19 is removed; 25 represents 10
  by_turns.components = {0, 1, 2, 0, 3, 0};
  cache->write_selection(by_turns);
  const SampleSet train = select_samples(*cache, Split::kTrain, "chosen");
  EXPECT_THAT(train.ids, ElementsAre(10, 16, 25));
  EXPECT_EQ(train.size(), 2U);
  EXPECT_THAT(train.turn_offsets, ElementsAre(0, 2, 3));
  EXPECT_THAT(train.turn_rows, ElementsAre(0, 2, 1));
}

TEST(SelectSamples, RefusesWhatDoesNotFit) {
  const auto samples = split_samples();
  const TestCache cache(samples);
  const auto select = [&] { select_samples(*cache, Split::kTrain, "chosen"); };
  EXPECT_THROW(select(), Error);  // the cache has no selection yet

  cache->write_selection(selection_of(*cache, {{10, 1.F}, {11, 1.F}}));
  EXPECT_THAT(message_of<FormatError>(select),
              AllOf(HasSubstr("names sample 11"), HasSubstr("chosen")));
  cache->write_selection(selection_of(*cache, {{10, 1.F}, {16, 1.F}}));
  EXPECT_THAT(message_of<FormatError>(select), HasSubstr("lacks sample 13"));
  cache->write_selection(selection_of(*cache, {{10, 1.F}, {13, 1.F}}));
  EXPECT_THAT(message_of<FormatError>(select), HasSubstr("lacks sample 16"));

  cache->write_selection(
      selection_of(*cache, {{10, 0.F}, {13, 1.F}, {16, 0.F}, {19, 0.F}, {22, 1.F}, {25, 0.F}}));
  EXPECT_THAT(message_of<UsageError>(select), AllOf(HasSubstr("train"), HasSubstr("chosen")));

  dedup::Selection foreign = selection_of(*cache, {{10, 1.F}});
  foreign.cache_digest = std::string(32, '0');
  write_file_durably(cache->paths().selection("chosen"), serialize(foreign));
  EXPECT_THROW(select(), Error);
}

TEST(Labels, OfNoClassAreRefused) {
  for (const int label : {-1, 3, 1 << 30}) {
    auto samples = split_samples();
    samples[2].labels = {label};
    const TestCache cache(samples);
    EXPECT_THAT(message_of<FormatError>([&] { cache->read_fingerprints(); }),
                AllOf(HasSubstr("table"), HasSubstr("label " + std::to_string(label))));
    EXPECT_THAT(message_of<FormatError>([&] { cache->record(samples[2].id); }),
                AllOf(HasSubstr(".mdb"), HasSubstr("label " + std::to_string(label))));
    EXPECT_NO_THROW(cache->record(samples[1].id));
    const Verified verified = verify_cache(cache->paths().root, "");
    EXPECT_EQ(verified.affected, 1U);
    EXPECT_EQ(verified.damage.size(), 2U);
    EXPECT_THAT(sentence_of(verified, "cache"), HasSubstr("label " + std::to_string(label)));
  }
}

TEST(SelectionDigest, LooksAtNothingOutsideTheCache) {
  const TestCache cache(split_samples());
  write_file_durably(cache->paths().root / "x.selection", "secret");
  const std::filesystem::path folder = cache->paths().root / "selections";
  std::filesystem::create_directories(folder);
  for (const char* name : {"../x", "/etc/passwd", ".", "a/b"}) {
    EXPECT_THAT(message_of<UsageError>([&] { selection_digest(*cache, name); }),
                HasSubstr("cannot name a selection"));
  }
}

TEST(SelectSamples, RefusesFingerprintsOnly) {
  const TestCache cache(split_samples(), "none");
  EXPECT_THAT(message_of<UsageError>([&] { select_samples(*cache, Split::kTrain, ""); }),
              HasSubstr("this cache holds fingerprints only; run ingest without --store none"));
}

TEST(HoldOut, CutsBetweenGroupsAlwaysAtTheSamePlaces) {
  constexpr std::size_t kCount = 600;
  const TestCache cache(mixed_samples(kCount));
  const SampleSet all = select_samples(*cache, Split::kTrain, "");
  std::vector<std::pair<SampleId, float>> rows;
  for (const SampleId id : all.ids) rows.emplace_back(id, 1.F);
  dedup::Selection selection = selection_of(*cache, rows);
  // Groups of three that are not adjacent; one image of each is removed.
  for (std::size_t i = 0; i < kCount; ++i) {
    selection.components[i] = static_cast<std::uint32_t>(i % 200);
    if (i / 200 != 1) continue;
    selection.weights[i] = 0;
    selection.kept[i] = selection.ids[i % 200];
    selection.rules[i] = dedup::Rule::kDuplicate;
  }
  cache->write_selection(selection);
  const SampleSet chosen = select_samples(*cache, Split::kTrain, "chosen");
  ASSERT_EQ(chosen.size(), 400U);
  const HeldOut cut = hold_out(*cache, chosen, "chosen", 0.25);
  EXPECT_EQ(cut.train.size() + cut.held.size(), chosen.size());
  EXPECT_NEAR(static_cast<double>(cut.held.size()), 100, 40);
  EXPECT_THAT(cut.held.ids, testing::IsSubsetOf(chosen.ids));
  const auto row_of = [&](SampleId id) { return std::ranges::find(all.ids, id) - all.ids.begin(); };
  std::vector<bool> held(200, false);
  for (const SampleId id : cut.held.ids) held[static_cast<std::size_t>(row_of(id) % 200)] = true;
  for (const SampleId id : cut.train.ids) {
    EXPECT_FALSE(held[static_cast<std::size_t>(row_of(id) % 200)]) << "a group was cut at " << id;
  }
  EXPECT_EQ(hold_out(*cache, chosen, "chosen", 0.25).held.ids, cut.held.ids);
  // A larger share contains the smaller one.
  EXPECT_THAT(cut.held.ids, testing::IsSubsetOf(hold_out(*cache, chosen, "chosen", 0.5).held.ids));
  // Without a selection every sample is a group of its own.
  EXPECT_NEAR(static_cast<double>(hold_out(*cache, all, "", 0.25).held.size()), 150, 45);
  EXPECT_THROW(hold_out(*cache, chosen, "chosen", 1e-9), UsageError);

  // In the mode one_per_group the same groups are held out, with all their images. The other groups
  // still take turns.
  selection.mode = dedup::SelectionMode::kOnePerGroup;
  for (std::size_t i = 0; i < kCount; ++i) {
    selection.weights[i] = 1;
    selection.kept[i] = selection.ids[i % 200];
  }
  cache->write_selection(selection);
  const SampleSet turns = select_samples(*cache, Split::kTrain, "chosen");
  ASSERT_EQ(turns.size(), 200U);
  const HeldOut by_turns = hold_out(*cache, turns, "chosen", 0.25);
  EXPECT_THAT(cut.held.ids, testing::IsSubsetOf(by_turns.held.ids));
  EXPECT_EQ(by_turns.held.size(), cut.held.size() / 2 * 3);
  EXPECT_EQ(by_turns.held.size(), by_turns.held.ids.size());
  EXPECT_EQ(by_turns.train.ids.size() + by_turns.held.ids.size(), kCount);
  EXPECT_EQ(by_turns.train.size() * 3, by_turns.train.ids.size());
}

TEST(LoadBatch, HoldsWhatTheRecordsHold) {
  std::vector<Sample> samples;
  for (SampleId id = 0; id < 7; ++id) {
    Image image = random_image(6, 5, 3, id);
    samples.push_back(id % 2 == 0 ? raw(id, std::move(image)) : encoded(id, image));
  }
  samples[1].labels = {};
  samples[2].labels = {0, 2};
  samples[3].group = "patient 7";
  samples[4].group = "patient 7";
  const TestCache cache(samples);
  const std::vector<SampleId> order{4, 0, 2, 1, 3, 3, 6};
  std::vector<Request> requests;
  for (const SampleId id : order) requests.push_back({id, 0, 0.5F + static_cast<float>(id)});
  const Batch batch = load_batch(*cache, requests, options_for({6, 5, 3}));

  EXPECT_EQ(batch.size(), order.size());
  EXPECT_EQ(batch.height_px, 6);
  EXPECT_EQ(batch.width_px, 5);
  EXPECT_EQ(batch.channels, 3);
  EXPECT_EQ(batch.ids, order);
  EXPECT_THAT(batch.weights, ElementsAre(4.5F, 0.5F, 2.5F, 1.5F, 3.5F, 3.5F, 6.5F));
  EXPECT_THAT(batch.label_offsets, ElementsAre(0, 1, 2, 4, 4, 5, 6, 7));
  EXPECT_THAT(batch.labels, ElementsAre(1, 0, 0, 2, 0, 0, 0));
  const std::uint64_t patient = xxh3_64(as_bytes(std::string_view("patient 7")));
  EXPECT_THAT(batch.groups, ElementsAre(patient, 0, 0, 0, patient, patient, 0));
  std::vector<std::uint8_t> pixels;
  for (const SampleId id : order) {
    const auto& of = samples[id].image.pixels;
    pixels.insert(pixels.end(), of.begin(), of.end());
  }
  EXPECT_EQ(batch.pixels, pixels);
}

TEST(LoadBatch, AugmentsByTheSampleAndItsEpoch) {
  const auto samples = mixed_samples(40);
  const TestCache cache(samples);
  const Geometry geometry{32, 32, 3};
  const Batch batch =
      load_batch(*cache, requests_for(samples, 3), options_for(geometry, Recipe::kCifar, 2));
  std::vector<std::uint8_t> want(32 * 32 * 3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    augment(samples[i].image.view(), Recipe::kCifar, geometry, {5, 3, samples[i].id}, want);
    EXPECT_TRUE(std::equal(want.begin(), want.end(),
                           batch.pixels.begin() + static_cast<std::ptrdiff_t>(i * want.size())))
        << "sample " << i;
  }
}

TEST(LoadBatch, OfCropsIsThatOfWholePictures) {
  std::vector<Sample> samples;
  for (SampleId id = 0; id < 12; ++id) {
    const Image image = random_image(40 + static_cast<int>(id), 57, id % 4 == 0 ? 1 : 3, id);
    samples.push_back(id % 3 == 2 ? raw(id, image) : encoded(id, image));
  }
  const TestCache cache(samples);
  const Geometry geometry{24, 20, 3};
  const Batch batch =
      load_batch(*cache, requests_for(samples, 3), options_for(geometry, Recipe::kImageNet, 2));
  std::vector<std::uint8_t> want(24 * 20 * 3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    augment(samples[i].image.view(), Recipe::kImageNet, geometry, {5, 3, samples[i].id}, want);
    EXPECT_TRUE(std::equal(want.begin(), want.end(),
                           batch.pixels.begin() + static_cast<std::ptrdiff_t>(i * want.size())))
        << "sample " << i;
  }
}

TEST(LoadBatch, BringsColourToGrayAndGrayToColour) {
  std::vector<Sample> samples{raw(0, random_image(4, 4, 1, 1)), raw(1, random_image(4, 4, 3, 2))};
  const TestCache cache(samples);
  const Batch colour = load_batch(*cache, requests_for(samples), options_for({4, 4, 3}));
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_EQ(colour.pixels[i], samples[0].image.pixels[i / 3]);
    EXPECT_EQ(colour.pixels[48 + i], samples[1].image.pixels[i]);
  }
  const Batch gray = load_batch(*cache, requests_for(samples), options_for({4, 4, 1}));
  EXPECT_EQ(gray.pixels.size(), 32U);
  EXPECT_TRUE(
      std::equal(gray.pixels.begin(), gray.pixels.begin() + 16, samples[0].image.pixels.begin()));
}

TEST(LoadBatch, IsTheSameForAnyThreads) {
  const auto samples = mixed_samples(150);
  const TestCache cache(samples);
  const auto requests = requests_for(samples, 2);
  const Batch one = load_batch(*cache, requests, options_for({32, 32, 3}, Recipe::kCifar, 1));
  for (const int threads : {2, 8}) {
    expect_equal(one,
                 load_batch(*cache, requests, options_for({32, 32, 3}, Recipe::kCifar, threads)));
  }
}

TEST(LoadBatch, IsTheSameFromManyThreads) {
  const auto samples = mixed_samples(60);
  const TestCache cache(samples);
  const auto requests = requests_for(samples, 1);
  const LoadOptions options = options_for({32, 32, 3}, Recipe::kCifar, 2);
  const Batch want = load_batch(*cache, requests, options);
  std::vector<Batch> got(4);
  std::vector<std::thread> threads;
  for (Batch& batch : got) {
    threads.emplace_back([&] { batch = load_batch(*cache, requests, options); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Batch& batch : got) expect_equal(batch, want);
}

TEST(LoadBatch, IsTheSameForAnyRanks) {
  const auto samples = mixed_samples(50);
  const TestCache cache(samples);
  const LoadOptions options = options_for({32, 32, 3}, Recipe::kCifar, 2);
  const SampleSet set = select_samples(*cache, Split::kTrain, "");
  const std::int64_t global_batch = 30;
  for (std::uint64_t step = 0; step < 5; ++step) {  // crosses two ends of epochs
    const auto positions = stream(set.size(), 9, step * global_batch, global_batch);
    const auto batch_of = [&](int rank, int ranks) {
      const auto [first, last] = share(global_batch, rank, ranks);
      std::vector<Request> requests;
      for (std::int64_t i = first; i < last; ++i) {
        const auto& [epoch, index] = positions[static_cast<std::size_t>(i)];
        requests.push_back({set.ids[index], epoch, set.weights[index]});
      }
      return load_batch(*cache, requests, options);
    };
    const Batch whole = batch_of(0, 1);
    for (const int ranks : {2, 4}) {
      std::vector<Batch> parts;
      for (int rank = 0; rank < ranks; ++rank) parts.push_back(batch_of(rank, ranks));
      expect_equal(joined(parts), whole);
    }
  }
}

TEST(LoadBatch, MixesEachWithTheOneBeforeIt) {
  const auto samples = mixed_samples(24);
  const TestCache cache(samples);
  const auto requests = requests_for(samples, 1);
  const Geometry geometry{32, 32, 3};
  const std::size_t bytes = 32 * 32 * 3;
  const Batch plain = load_batch(*cache, requests, options_for(geometry, Recipe::kCifar));
  int kinds[3] = {};
  for (std::uint64_t number = 0; number < 12; ++number) {
    LoadOptions options =
        options_for(geometry, parse_recipe("crop+flip+mixup:p=0.75,alpha=1+cutmix:p=0.75"));
    options.first_batch = number;
    const Batch batch = load_batch(*cache, requests, options);
    const auto how = mix_of(options.recipe, geometry, options.seed, number);
    ++kinds[!how ? 0 : how->box ? 2 : 1];
    EXPECT_EQ(batch.mix, how);
    EXPECT_EQ(batch.ids, plain.ids);

    EXPECT_EQ(batch.weights, plain.weights);
    if (!how) {
      expect_equal(batch, plain);
      continue;
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::size_t before = (i + samples.size() - 1) % samples.size();
      EXPECT_EQ(batch.partners[i], samples[before].id);
      std::vector<std::uint8_t> want(
          plain.pixels.begin() + static_cast<std::ptrdiff_t>(i * bytes),
          plain.pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * bytes));
      for (int y = 0; y < 32; ++y) {
        mix_rows({want.data(), 32, 32, 3}, 1, plain.pixels.data() + before * bytes, y, y + 1, *how);
      }
      EXPECT_TRUE(std::equal(want.begin(), want.end(),
                             batch.pixels.begin() + static_cast<std::ptrdiff_t>(i * bytes)));
      std::vector<std::pair<std::int32_t, float>> labels;
      for (const std::int32_t label : samples[i].labels) labels.emplace_back(label, how->own);
      for (const std::int32_t label : samples[before].labels) {
        labels.emplace_back(label, 1 - how->own);
      }
      ASSERT_EQ(batch.label_offsets[i + 1] - batch.label_offsets[i], labels.size());
      for (std::size_t k = 0; k < labels.size(); ++k) {
        const std::size_t at = batch.label_offsets[i] + k;
        EXPECT_EQ(std::pair(batch.labels[at], batch.label_weights[at]), labels[k]);
      }
    }
  }
  EXPECT_THAT(kinds, testing::Each(testing::Gt(0)));
}

// As in PyTorch with CrossEntropyLoss(weight) and mixup: own * w[a] * loss(a) + (1 - own) * w[b] *
// loss(b). The total weight of the batch is that without mixing.
TEST(LoadBatch, EachLabelOfAMixedSampleHasTheWeightOfItsOwnSample) {
  const auto samples = mixed_samples(24);
  const TestCache cache(samples);
  auto requests = requests_for(samples, 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].weight = std::array{1.0F, 0.25F, 7.0F}.at(i % 3);
  }
  LoadOptions options = options_for({32, 32, 3}, parse_recipe("mixup:p=1,alpha=1"));
  int mixed = 0;
  for (options.first_batch = 0; options.first_batch < 5; ++options.first_batch) {
    const Batch batch = load_batch(*cache, requests, options);
    ASSERT_TRUE(batch.mix);
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::size_t before = (i + samples.size() - 1) % samples.size();
      sum += double{batch.weights[i]};
      EXPECT_EQ(batch.others[i] - batch.label_offsets[i], samples[i].labels.size());
      for (std::uint32_t k = batch.label_offsets[i]; k < batch.label_offsets[i + 1]; ++k) {
        const bool is_own = k < batch.others[i];
        const double share = is_own ? batch.mix->own : 1 - batch.mix->own;
        const double wanted = share * double{requests[is_own ? i : before].weight};
        EXPECT_NEAR(double{batch.weights[i]} * double{batch.label_weights[k]}, wanted, 1e-6);
        ++mixed;
      }
    }
    double plain = 0;
    for (const Request& request : requests) plain += double{request.weight};
    EXPECT_NEAR(sum, plain, 1e-4);
  }
  EXPECT_GT(mixed, 100);
}

TEST(LoadBatch, PartsOfAMixedBatchAreThePartsOfTheWhole) {
  const auto samples = mixed_samples(50);
  const TestCache cache(samples);
  LoadOptions options =
      options_for({32, 32, 3}, parse_recipe("crop+flip+mixup:alpha=1+cutmix:p=0.75"));
  const auto all = requests_for(samples, 1);
  for (options.first_batch = 0; options.first_batch < 6; ++options.first_batch) {
    options.threads = 1;
    const Batch whole = load_batch(*cache, all, options);
    for (const int ranks : {1, 2, 3, 4, 50}) {
      std::vector<Batch> parts;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, last] = share(50, rank, ranks);
        std::vector<Request> requests(all.begin() + first, all.begin() + last);
        requests.push_back(all[static_cast<std::size_t>((first + 49) % 50)]);
        requests.back().partner = true;
        options.threads = 1 + rank % 8;
        parts.push_back(load_batch(*cache, requests, options));
      }
      expect_equal(joined(parts), whole);
    }
  }
}

TEST(Loader, NumbersTheBatchesItMixes) {
  const auto samples = mixed_samples(9);
  const TestCache cache(samples);
  LoadOptions options = options_for({8, 8, 3}, parse_recipe("mixup:alpha=1"), 2);
  options.first_batch = 7;
  Loader loader(*cache, options, [&](std::uint64_t) { return requests_for(samples); });
  Batch batch;
  for (int i = 0; i < 4; ++i, ++options.first_batch) {
    batch = loader.next(std::move(batch));
    expect_equal(batch, load_batch(*cache, requests_for(samples), options));
  }
}

TEST(LoadBatch, PaddingIsNotMixed) {
  const auto samples = mixed_samples(4);
  const TestCache cache(samples);
  EXPECT_THROW(load_batch(*cache, {{samples[1].id, 0, 1}, {0, 0, 0}},
                          options_for({8, 8, 3}, parse_recipe("mixup"))),
               UsageError);
}

TEST(LoadBatch, PadsWithZerosWithoutReading) {
  const auto samples = mixed_samples(4);
  const TestCache cache(samples);
  const SampleId unknown = 12345;
  const Batch batch = load_batch(*cache, {{samples[1].id, 0, 1}, {unknown, 0, 0}, {unknown, 0, 0}},
                                 options_for({8, 8, 3}, Recipe::kCifar, 2));
  EXPECT_THAT(batch.ids, ElementsAre(samples[1].id, ~SampleId{0}, ~SampleId{0}));
  EXPECT_THAT(batch.weights, ElementsAre(1, 0, 0));
  EXPECT_THAT(batch.label_offsets, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(batch.groups, ElementsAre(0, 0, 0));
  EXPECT_THAT(std::span(batch.pixels).subspan(8 * 8 * 3), testing::Each(0));
}

TEST(LoadBatch, OfNothingIsEmpty) {
  const TestCache cache(mixed_samples(2));
  const Batch batch = load_batch(*cache, {}, options_for({8, 8, 3}));
  EXPECT_EQ(batch.size(), 0U);
  EXPECT_THAT(batch.label_offsets, ElementsAre(0));
}

std::vector<Sample> samples_with_one_broken() {
  auto samples = mixed_samples(12);
  samples[9].coding = Coding::kEncoded;
  samples[9].payload = to_bytes(as_bytes(std::string_view("\xFF\xD8\xFF\xE0 no picture at all")));
  return samples;
}

TEST(LoadBatch, NamesWhatItCannotDecode) {
  const auto samples = samples_with_one_broken();
  const TestCache cache(samples);
  for (const int threads : {1, 2}) {
    EXPECT_THAT(
        message_of<Error>([&] {
          load_batch(*cache, requests_for(samples), options_for({8, 8, 3}, Recipe::kNone, threads));
        }),
        AllOf(HasSubstr("sample " + std::to_string(samples[9].id) + ", 'name" +
                        std::to_string(samples[9].id) + "', in shards/00001.mdb"),
              HasSubstr("winnow verify")));
  }
}

TEST(LoadBatch, WithoutPixelsHasAllElse) {
  const auto samples = mixed_samples(30);
  const TestCache cache(samples);
  for (const char* recipe : {"crop+flip", "crop+mixup:alpha=1+cutmix:p=0.75"}) {
    LoadOptions options = options_for({32, 32, 3}, parse_recipe(recipe), 2);
    auto requests = requests_for(samples, 1);
    requests[4].weight = 0.5F;
    requests.back().partner = true;
    for (options.first_batch = 0; options.first_batch < 4; ++options.first_batch) {
      options.data.pixels = true;
      Batch whole = load_batch(*cache, requests, options);
      EXPECT_FALSE(whole.pixels.empty());
      whole.pixels.clear();
      options.data.pixels = false;
      expect_equal(load_batch(*cache, requests, options), whole);
    }
  }
}

// A picture that cannot be decoded is no obstacle, so it is not decoded.
TEST(LoadBatch, WithoutPixelsDecodesNothing) {
  const auto samples = samples_with_one_broken();
  const TestCache cache(samples);
  LoadOptions options = options_for({8, 8, 3}, Recipe::kNone, 2);
  options.data.pixels = false;
  EXPECT_EQ(load_batch(*cache, requests_for(samples), options).size(), samples.size());
}

TEST(LoadBatch, RefusesUnknownSamplesAndOptionsThatMakeNoSense) {
  const auto samples = mixed_samples(4);
  const TestCache cache(samples);
  EXPECT_THROW(load_batch(*cache, {{11, 0, 1}}, options_for({8, 8, 3})), Error);
  const auto requests = requests_for(samples);
  EXPECT_THROW(load_batch(*cache, requests, options_for({8, 8, 3}, Recipe::kNone, 0)), UsageError);
  EXPECT_THROW(load_batch(*cache, requests, options_for({-8, 8, 3})), UsageError);
  EXPECT_THROW(load_batch(*cache, requests, options_for({8, 8, 2})), UsageError);
  LoadOptions none_ahead = options_for({8, 8, 3});
  none_ahead.batches_ahead = 0;
  EXPECT_THROW(Loader(*cache, none_ahead, [](std::uint64_t) { return std::vector<Request>(); }),
               UsageError);
}

TEST(Loader, GivesTheBatchesOfItsPlanInOrder) {
  const auto samples = mixed_samples(40);
  const TestCache cache(samples);
  const auto plan = [&](std::uint64_t index) {
    std::vector<Request> requests;
    if (index == 20) return requests;
    for (std::size_t i = 0; i < 7; ++i) {
      requests.push_back(
          {samples[(index * 7 + i) % samples.size()].id, static_cast<std::uint32_t>(index), 1});
    }
    return requests;
  };
  for (const int ahead : {1, 3}) {
    LoadOptions options = options_for({32, 32, 3}, Recipe::kCifar, 2);
    options.batches_ahead = ahead;
    Loader loader(*cache, options, plan);
    for (std::uint64_t index = 0; index < 20; ++index) {
      expect_equal(loader.next(), load_batch(*cache, plan(index), options));
    }
    EXPECT_EQ(loader.next().size(), 0U);
    EXPECT_EQ(loader.next().size(), 0U);
  }
}

TEST(Loader, TheMemoryOfABatchServesForAnother) {
  const auto samples = mixed_samples(40);
  const TestCache cache(samples);
  // Batches of different lengths, with padding where the previous batch had pixels.
  const auto plan = [&](std::uint64_t index) {
    std::vector<Request> requests;
    if (index == 30) return requests;
    for (std::size_t i = 0; i < 3 + index % 5; ++i) {
      const float weight = (index + i) % 3 == 0 ? 0.0F : 1.0F;
      requests.push_back({samples[(index * 7 + i) % samples.size()].id, 0, weight});
    }
    return requests;
  };
  const LoadOptions options = options_for({32, 32, 3}, Recipe::kCifar, 2);
  Loader loader(*cache, options, plan);
  std::set<const std::uint8_t*> seen;
  Batch batch;
  for (std::uint64_t index = 0; index < 30; ++index) {
    batch = loader.next(std::move(batch));
    expect_equal(batch, load_batch(*cache, plan(index), options));
    seen.insert(batch.pixels.data());
  }
  EXPECT_EQ(loader.next(std::move(batch)).size(), 0U);
  EXPECT_LT(seen.size(), 20U);  // some grew, most were reused
}

TEST(LoadStages, GoThroughAllKindsOfRecords) {
  const auto samples = mixed_samples(40);
  const TestCache cache(samples);
  LoadStages all(*cache, requests_for(samples), options_for({32, 32, 3}, Recipe::kCifar, 2), 16);
  EXPECT_TRUE(all.encoded());
  all.read();
  all.decode();
  all.augment();
  std::vector<Sample> bare;
  for (const Sample& sample : samples) {
    if (sample.coding == Coding::kRaw) bare.push_back(sample);
  }
  LoadStages pixels(*cache, requests_for(bare), options_for({32, 32, 3}), 7);
  EXPECT_FALSE(pixels.encoded());
  pixels.augment();
  pixels.copy();
  EXPECT_THROW(LoadStages(*cache, {{1, 0, 1}}, options_for({8, 8, 3}), 1), Error);
}

TEST(LoadStages, NameTheBottleneck) {
  EXPECT_EQ(bottleneck(100, {.read = 1000, .decode = 125, .augment = 2000}),
            "the bottleneck is decoding, 80 % of the time of an image");
  EXPECT_EQ(bottleneck(1000, {.read = 1000, .augment = 4000}),
            "the bottleneck is reading, 80 % of the time of an image");
  EXPECT_EQ(bottleneck(100, {.read = 1000, .augment = 500}),
            "the bottleneck is putting batches together, 70 % of the time of an image");
}

TEST(Loader, PreparesNoMoreThanItMay) {
  const auto samples = mixed_samples(10);
  const TestCache cache(samples);
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> planned{0};
  LoadOptions options = options_for({32, 32, 3});
  options.batches_ahead = 3;
  Loader loader(*cache, options, [&](std::uint64_t index) {
    EXPECT_LT(index, asked + 3);
    ++planned;
    return requests_for(samples);
  });
  for (int round = 0; round < 100; ++round) {
    loader.settle();
    // Gives a faulty loader time to plan too much; a correct one has nothing left to do.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(planned, asked + 3);
    ++asked;
    EXPECT_EQ(loader.next().size(), samples.size());
  }
}

TEST(Loader, CarriesWhatPreparingThrows) {
  const auto samples = samples_with_one_broken();
  const TestCache cache(samples);
  Loader loader(*cache, options_for({8, 8, 3}, Recipe::kNone, 2), [&](std::uint64_t index) {
    return std::vector<Request>{{samples[index + 7].id, 0, 1}};
  });
  EXPECT_THAT(loader.next().ids, ElementsAre(samples[7].id));
  EXPECT_THAT(loader.next().ids, ElementsAre(samples[8].id));
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(message_of<Error>([&] { loader.next(); }),
                HasSubstr("sample " + std::to_string(samples[9].id)));
  }
}

TEST(Loader, CarriesWhatPlanningThrows) {
  const auto samples = mixed_samples(4);
  const TestCache cache(samples);
  Loader loader(*cache, options_for({8, 8, 3}), [&](std::uint64_t index) {
    if (index == 2) throw RefusedError("no third batch");
    return requests_for(samples);
  });
  EXPECT_EQ(loader.next().size(), 4U);
  EXPECT_EQ(loader.next().size(), 4U);
  EXPECT_EQ(message_of<RefusedError>([&] { loader.next(); }), "no third batch");
}

TEST(Loader, CanBeLeftAtAnyTime) {
  const auto samples = mixed_samples(20);
  const TestCache cache(samples);
  for (std::uint64_t taken = 0; taken < 4; ++taken) {
    for (int round = 0; round < 10; ++round) {
      const auto planned = std::make_shared<std::atomic<std::uint64_t>>(0);
      {
        Loader loader(*cache, options_for({16, 16, 3}, Recipe::kCifar, 2),
                      [&samples, planned](std::uint64_t) {
                        ++*planned;
                        return requests_for(samples);
                      });
        for (std::uint64_t i = 0; i < taken; ++i) {
          EXPECT_EQ(loader.next().size(), samples.size());
        }
      }
      EXPECT_EQ(planned.use_count(), 1) << "nothing is left that could plan";
      EXPECT_GE(*planned, taken);
      EXPECT_LE(*planned, taken + 2);
    }
  }
}

// Destroys a loader in the middle of a batch. A signal handler holds the thread that loads a
// sample, until the planner has been told to stop. Needs a process of its own.
class LeftLoader {
 public:
  static void hold_at(int signal) { std::signal(signal, &hold); }

  static void leave(const Cache& cache, const LoadOptions& options,
                    const std::vector<Request>& requests) {
    const Loader loader(cache, options, std::make_shared<StoppedPlanner>(requests));
    while (!held) std::this_thread::yield();
  }

 private:
  class StoppedPlanner : public Planner {
   public:
    explicit StoppedPlanner(std::vector<Request> requests) : requests_(std::move(requests)) {}
    Planned plan(std::uint64_t) override { return {.requests = requests_}; }
    void stop() noexcept override { stopped = true; }

   private:
    std::vector<Request> requests_;
  };
  static void hold(int) {
    held = true;
    while (!stopped) ::usleep(1000);
  }

  // Static, because a signal handler can reach nothing else.
  static inline std::atomic<bool> held{false};
  static inline std::atomic<bool> stopped{false};
};

TEST(LoaderDeathTest, GivesUpABatchHalfWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto samples = mixed_samples(20);
  const auto point = [&](std::size_t sample) {
    return "=load.record.before:" + std::to_string(samples[sample].id) + ":1";
  };
  // Loading the next sample would kill the process.
  ::setenv("WINNOW_FAILPOINTS", ("usr1" + point(7) + ",kill" + point(8)).c_str(), 1);
  EXPECT_EXIT(
      {
        LeftLoader::hold_at(SIGUSR1);
        {
          const TestCache cache(samples);
          LeftLoader::leave(*cache, options_for({2, 2, 3}, Recipe::kCifar), requests_for(samples));
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
  ::unsetenv("WINNOW_FAILPOINTS");
}

// The clock advances by 3 s at each reading.
TEST(Loader, CountsTheTimeItMadeOthersWait) {
  const auto samples = mixed_samples(4);
  const TestCache cache(samples);
  std::atomic<int> looks{0};
  LoadOptions options = options_for({8, 8, 3});
  options.clock = [&] {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(3 * ++looks));
  };
  Loader loader(*cache, options, [&](std::uint64_t) {
    while (looks == 0) std::this_thread::yield();  // until next() waits
    return requests_for(samples);
  });
  EXPECT_EQ(loader.waited_seconds(), 0);
  EXPECT_EQ(loader.next().size(), samples.size());
  EXPECT_EQ(loader.waited_seconds(), 3);
  loader.settle();  // the next batch is ready
  EXPECT_EQ(loader.next().size(), samples.size());
  EXPECT_EQ(loader.waited_seconds(), 3);
  EXPECT_EQ(looks, 2);
}

using Labels = std::vector<std::vector<std::int32_t>>;  // for each image

std::string digest_of(const std::vector<std::string>& classes, const Labels& labels) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    samples.push_back(raw(i, random_image(4, 4, 3, i)));
    samples.back().labels = labels[i];
  }
  const TestCache cache(samples, "original", 1, classes);
  return digest_by_names(*cache);
}

TEST(DigestByNames, IsOfNamesInWhateverOrder) {
  const std::string plain = digest_of({"ant", "bee", "cat"}, {{0, 2}, {1}, {}, {0, 1, 2}});
  // The labels of an image are stored in ascending order, also if the names have another order.
  EXPECT_EQ(digest_of({"cat", "ant", "bee"}, {{0, 1}, {2}, {}, {0, 1, 2}}), plain);
  EXPECT_EQ(digest_of({"ant", "bee", "cat"}, {{2, 0}, {1}, {}, {1, 2, 0}}), plain);
  // Another label, a label moved to the next image, another name.
  EXPECT_NE(digest_of({"ant", "bee", "cat"}, {{0, 1}, {1}, {}, {0, 1, 2}}), plain);
  EXPECT_NE(digest_of({"ant", "bee", "cat"}, {{0}, {1, 2}, {}, {0, 1, 2}}), plain);
  EXPECT_NE(digest_of({"ant", "bee", "cow"}, {{0, 2}, {1}, {}, {0, 1, 2}}), plain);
}

}  // namespace winnow::pipeline::loader_test
