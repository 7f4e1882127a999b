#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/image.h"
#include "common/resample.h"
#include "common/rng.h"
#include "common/statistics.h"
#include "dedup/hash/hashes.h"
#include "tools/bench_rows.h"
#include "tools/benches.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

struct HashBench {
  std::vector<std::string> hashes{"phash", "dhash"};
  int width_px = 500;
  int height_px = 375;
  double seconds = 1;
  int rounds = 3;
  bool json = false;
};

// Colour pictures that are neither smooth nor noise, some more than a core's cache holds.
std::vector<Image> pictures(int height_px, int width_px) {
  std::vector<Image> images;
  for (std::uint64_t i = 0; i < 16; ++i) {
    CounterRng rng(i, 0, 0, RandomUse::kTest);
    Image& image = images.emplace_back(height_px, width_px, 3);
    int value = 128;
    for (std::uint8_t& p : image.pixels) {
      value = std::clamp(value + static_cast<int>(rng.next_u32() % 33) - 16, 0, 255);
      p = static_cast<std::uint8_t>(value);
    }
  }
  return images;
}

// Pictures that `work` gets through in a second, on this thread, by at least `seconds` of it.
double pictures_per_second(const std::vector<Image>& images, double seconds, const auto& work) {
  double done = 0;
  double passed = 0;
  while (passed < seconds) {
    passed += seconds_of([&] {
      for (const Image& image : images) work(image);
    });
    done += static_cast<double>(images.size());
  }
  return done / passed;
}

void bench_hash(const HashBench& o, const Session& session) {
  if (dedup::common_scale(o.hashes) != 1) {
    throw UsageError("pictures are not made smaller here; name hashes without @1/2, @1/4 and @1/8");
  }
  std::vector<std::vector<dedup::HashKind>> sets;
  for (const std::string& name : o.hashes) sets.push_back({dedup::find_hash(name)});
  if (sets.size() > 1) {
    std::vector<dedup::HashKind>& all = sets.emplace_back();
    for (std::size_t i = 0; i + 1 < sets.size(); ++i) all.push_back(sets[i].front());
  }
  const std::vector<Image> images = pictures(o.height_px, o.width_px);
  std::vector<std::vector<double>> hashed(sets.size());
  std::vector<double> grayed;
  dedup::HashMemory memory;
  for (int round = 0; round < o.rounds; ++round) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      check(session.stop);
      hashed[i].push_back(pictures_per_second(images, o.seconds, [&](const Image& image) {
        dedup::compute_hashes(image.view(), sets[i], memory);
      }));
    }
    grayed.push_back(pictures_per_second(images, o.seconds, [&](const Image& image) {
      memory.gray.reshape(image.height_px, image.width_px, 1);
      to_gray(image.view(), memory.gray.pixels.data());
    }));
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::string name;
    for (const dedup::HashKind& hash : sets[i]) {
      name += (name.empty() ? "" : "+") + hash.name();
    }
    rows.push_back({name, median(hashed[i]), median(grayed), "images/s"});
  }
  report(o.json, session, rows);
}

}  // namespace

SubVerb add_bench_hash(Verb bench) {
  auto o = std::make_shared<HashBench>();
  const Verb verb = bench.add_verb(
      "hash", "Hashing of decoded pixels on one core, beside making them gray, which is the least");
  verb.add_option("--hash", o->hashes, "Each alone, and all together")
      .delimiter(',')
      .show_default();
  verb.add_option("--width", o->width_px, "Of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--height", o->height_px, "Of the pictures")
      .check(whole_in(1, 1 << 14))
      .show_default();
  verb.add_option("--seconds", o->seconds, "Of each run")
      .check(real_above(0, kMostSeconds))
      .show_default();
  verb.add_option("--rounds", o->rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  return {verb, [o](Session& session) { bench_hash(*o, session); }};
}

}  // namespace winnow::tools
