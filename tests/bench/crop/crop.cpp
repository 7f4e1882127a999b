// Times crops of photos; see --help.

#include "pipeline/decode/crop.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "common/resample.h"
#include "common/rng.h"
#include "datasets/formats.h"
#include "pipeline/augment/sampling.h"

namespace {

using namespace winnow;
using namespace winnow::pipeline;

constexpr const char* kHelp =
    "bench_crop SOURCE [--side 224] [--threads CORES] [--seconds 4]\n\n"
    "Holds the encoded images of a data set in memory and tells how many a second become the\n"
    "pixels of a RandomResizedCrop of so many pixels a side, by all threads: decoded whole and no\n"
    "more; decoded whole, cut and resized; decoded in the crop alone and resized; the same at the\n"
    "scale that covers the target. One line of JSON.\n";

struct Settings {
  std::string source;
  int side_px = 224;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  int seconds = 4;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (!flag.starts_with("--")) {
      settings.source = flag;
      continue;
    }
    int* const value = flag == "--side"      ? &settings.side_px
                       : flag == "--threads" ? &settings.threads
                       : flag == "--seconds" ? &settings.seconds
                                             : nullptr;
    if (value == nullptr || ++i == argc) throw std::runtime_error(kHelp);
    const std::string_view text = argv[i];
    const auto [end, error] = std::from_chars(text.begin(), text.end(), *value);
    if (error != std::errc() || end != text.end() || *value < 1) throw std::runtime_error(kHelp);
  }
  if (settings.source.empty()) throw std::runtime_error(kHelp);
  return settings;
}

std::vector<Bytes> hold(const std::string& path) {
  const auto source = datasets::open_source(path, {});
  std::vector<Bytes> files;
  for (std::size_t i = 0; i < source->entries().size(); ++i) {
    auto payload = source->read(i);
    if (!payload || !std::holds_alternative<Bytes>(*payload)) continue;
    files.push_back(std::get<Bytes>(*std::move(payload)));
  }
  if (files.empty()) throw std::runtime_error(path + " holds no encoded images");
  return files;
}

// Processes files with `use(file, epoch)`. Runs whole epochs, so that all kinds do the same work.
double images_per_second(const std::vector<Bytes>& files, const Settings& settings,
                         const auto& use) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  double done = 0;
  for (std::uint32_t epoch = 0; passed() < settings.seconds; ++epoch) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < files.size(); i = next++) use(epoch, i);
    };
    std::vector<std::future<void>> others;
    for (int t = 1; t < settings.threads; ++t) {
      others.push_back(std::async(std::launch::async, work));
    }
    work();
    for (std::future<void>& other : others) other.get();
    done += static_cast<double>(files.size());
  }
  return done / passed();
}

void run(const Settings& settings) {
  const std::vector<Bytes> files = hold(settings.source);
  const Size target{settings.side_px, settings.side_px};
  std::atomic<std::uint64_t> sum{0};  // prevents the compiler from removing the work
  const auto take = [&sum](const auto& image) {
    if (!image) throw std::runtime_error("an image cannot be decoded: " + image.error().detail);
    sum += (*image).pixels.back();
  };
  const auto box_of = [](std::uint32_t epoch, std::size_t i, Size whole) {
    CounterDraws draws(CounterRng(0, epoch, i, RandomUse::kTest));
    return random_resized_crop(whole.height_px, whole.width_px, {}, draws);
  };
  const auto crop = [&](CropScale scale) {
    return images_per_second(files, settings, [&, scale](std::uint32_t epoch, std::size_t i) {
      take(decode_and_resize_crop(
          files[i], {}, [&](Size whole) { return box_of(epoch, i, whole); }, target, scale));
    });
  };
  const auto decode_only = [&] {
    return images_per_second(files, settings,
                             [&](std::uint32_t, std::size_t i) { take(decode(files[i], {})); });
  };
  const double before = decode_only();
  const double whole = images_per_second(files, settings, [&](std::uint32_t epoch, std::size_t i) {
    const auto image = decode(files[i], {});
    take(image);
    const Box box = box_of(epoch, i, {image->height_px, image->width_px});
    const Image resized = resize(part_of(image->view(), box), target.height_px, target.width_px,
                                 ResampleFilter::kBilinear);
    sum += resized.pixels.back();
  });
  const double cropped = crop(CropScale::kFull);
  const double scaled = crop(CropScale::kCovering);
  const double after = decode_only();
  std::printf(
      "{\"decode only\": %.1f, \"decode, cut and resize\": %.1f, \"crop and resize\": %.1f, "
      "\"scaled crop and resize\": %.1f}\n",
      (before + after) / 2, whole, cropped, scaled);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
