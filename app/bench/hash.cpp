#include "app/bench/hash.h"

#include <algorithm>

#include "app/bench/rows.h"
#include "common/resample.h"
#include "common/rng.h"
#include "common/statistics.h"
#include "dedup/hash/hashes.h"

namespace winnow::app {
namespace {

// Colour pictures that are neither smooth nor noise. Some are larger than a core's cache.
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

// Pictures that `work` processes per second on this thread, measured for at least `seconds`.
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

}  // namespace

void bench_hash(const HashBenchRequest& o, const Session& session) {
  if (dedup::common_scale(o.hashes) != 1) {
    throw UsageError(
        "this benchmark hashes pictures at full size; name hashes without @1/2, @1/4 and @1/8");
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
      end_if_stopped(session.stop);
      hashed[i].push_back(pictures_per_second(images, o.seconds, [&](const Image& image) {
        dedup::compute_hashes(image.view(), sets[i], memory);
      }));
    }
    grayed.push_back(pictures_per_second(images, o.seconds, [&](const Image& image) {
      memory.gray.reshape(image.height_px, image.width_px, 1);
      to_gray(image.view(), memory.gray.pixels.data());
    }));
  }
  std::vector<BenchRow> rows;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::string name;
    for (const dedup::HashKind& hash : sets[i]) {
      name += (name.empty() ? "" : "+") + hash.name();
    }
    rows.push_back({name, median(hashed[i]), median(grayed), "images/s"});
  }
  tell_rows(o.json, session, rows);
}

}  // namespace winnow::app
