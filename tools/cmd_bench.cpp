#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/image.h"
#include "common/resample.h"
#include "common/rng.h"
#include "datasets/formats.h"
#include "dedup/hash/hashes.h"
#include "dedup/search/plan.h"
#include "dedup/search/scan.h"
#include "dedup/search/search.h"
#include "pipeline/decode/decode.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/sampler.h"
#include "pipeline/load/stages.h"
#include "tools/bench_exchange.h"
#include "tools/bench_rows.h"
#include "tools/bench_shuffle.h"
#include "tools/command.h"
#include "tools/ingest_flags.h"
#include "tools/load_shards.h"
#include "tools/shuffle_flags.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using datasets::Listing;
using datasets::Source;

struct BenchOptions {
  fs::path source;
  fs::path out;
  IngestFlags flags;
  double seconds = 0;
  int rounds = 3;
  std::uint64_t hold_mib = 1024;
  bool json = false;
};

// Inputs of a source, evenly spread over its listing, in memory.
struct Held {
  std::vector<std::size_t> positions;
  std::vector<Bytes> bytes;
};

Held hold(const Source& source, std::uint64_t most_bytes, const StopRequested& stop) {
  const Listing& entries = source.entries();
  double total = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    total += static_cast<double>(entries.input_bytes(i));
  }
  const double share = std::min(1.0, static_cast<double>(most_bytes) / std::max(total, 1.0));
  Held held;
  double due = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    due += share;
    if (due < 1) continue;
    due -= 1;
    check(stop);
    auto payload = source.read(i);
    if (!payload) continue;
    auto* bytes = std::get_if<Bytes>(&*payload);
    if (bytes == nullptr) {
      throw UsageError(
          std::string(source.format()) +
          " holds bare pixels, of which none is decoded; name a set of encoded images");
    }
    held.positions.push_back(i);
    held.bytes.push_back(std::move(*bytes));
  }
  if (held.bytes.empty()) throw RefusedError("none of the inputs could be read");
  return held;
}

// Decodes what is held `times` times over on `threads` threads, and nothing else but, where a
// folder for `copies` is given, to write what was decoded into a file for each thread. Returns the
// pixels that were decoded.
std::uint64_t decode_all(const Held& held, std::uint64_t times, int threads,
                         const pipeline::DecodeSettings& settings, const StopRequested& stop,
                         const fs::path& copies = {}) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> pixels{0};
  const std::uint64_t end = times * held.bytes.size();
  const auto work = [&](int thread) {
    std::optional<DurableFile> file;
    if (!copies.empty()) file.emplace(copies / std::to_string(thread));
    for (std::uint64_t i = next++; i < end; i = next++) {
      check(stop);
      const Bytes& bytes = held.bytes[i % held.bytes.size()];
      const auto image = pipeline::decode(bytes, settings);
      if (!image) continue;
      if (file) file->append(bytes);
      pixels += static_cast<std::uint64_t>(image->height_px) *
                static_cast<std::uint64_t>(image->width_px);
    }
    if (file) file->finish();
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work, i));
  work(0);
  for (std::future<void>& other : others) other.get();
  return pixels;
}

// How often what is held must be gone through for one thread of `threads` to be busy for `seconds`.
std::uint64_t times_for(double seconds, const Held& held, int threads,
                        const pipeline::DecodeSettings& settings, const StopRequested& stop) {
  const double once = seconds_of([&] { decode_all(held, 1, threads, settings, stop); });
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(seconds / std::max(once, 1e-6))));
}

void bench_decode(const BenchOptions& o, const Session& session) {
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions options = ingest_options(o.flags, session);
  const Held held = hold(*source, o.hold_mib << 20, session.stop);
  const auto count = static_cast<double>(held.bytes.size());
  const std::uint64_t times =
      times_for(o.seconds, held, options.threads, options.decode, session.stop);
  const std::uint64_t times_alone =
      std::max<std::uint64_t>(1, times / static_cast<std::uint64_t>(options.threads));
  std::vector<double> together;
  std::vector<double> alone;
  double megapixels = 0;
  for (int round = 0; round < o.rounds; ++round) {
    together.push_back(seconds_of([&] {
                         megapixels = 1e-6 / static_cast<double>(times) *
                                      static_cast<double>(decode_all(held, times, options.threads,
                                                                     options.decode, session.stop));
                       }) /
                       static_cast<double>(times));
    alone.push_back(
        seconds_of([&] { decode_all(held, times_alone, 1, options.decode, session.stop); }) /
        static_cast<double>(times_alone));
    say(session, fmt::format("round {}: {} images, {:.1f} a second on {} threads, {:.1f} on one",
                             round + 1, held.bytes.size(), count / together.back(), options.threads,
                             count / alone.back()));
  }
  const double linear = options.threads / median(alone);
  report(o.json, session,
         {{"decode", count / median(together), count * linear, "images/s"},
          {"decode pixels", megapixels / median(together), megapixels * linear, "Mpixel/s"}});
}

// Some inputs of a source, `times` times over, under names of their own.
class Repeated final : public Source {
 public:
  Repeated(const Source& source, const std::vector<std::size_t>& positions, std::uint64_t times)
      : source_(source), positions_(positions) {
    for (std::uint64_t turn = 0; turn < times; ++turn) {
      for (const std::size_t position : positions) {
        datasets::Entry entry = source.entries()[position];
        entry.name = std::to_string(turn) + "/" + entry.name;
        entries_.push_back(entry);
      }
    }
  }

  std::string_view format() const noexcept override { return source_.format(); }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override {
    return source_.class_names();
  }
  std::string description() const override { return source_.description(); }
  Expected<datasets::Payload, datasets::ReadError> read(std::size_t position) const override {
    return source_.read(positions_[position % positions_.size()]);
  }

 private:
  const Source& source_;
  const std::vector<std::size_t>& positions_;
  Listing entries_;
};

void bench_ingest(const BenchOptions& o, const Session& session) {
  const fs::path out = o.out.empty() ? fs::temp_directory_path() : o.out;
  if (!fs::is_directory(out))
    throw UsageError(out.string() + " is no folder; name one that is there");
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions options = ingest_options(o.flags, session);
  const Held held = hold(*source, o.hold_mib << 20, session.stop);
  const std::uint64_t times =
      times_for(o.seconds, held, options.threads, options.decode, session.stop);
  const Repeated repeated(*source, held.positions, times);
  const auto count = static_cast<double>(repeated.entries().size());
  const auto rate_of = [count](const auto& work) { return count / seconds_of(work); };
  const auto decode_to = [&](const fs::path& copies) {
    decode_all(held, times, options.threads, options.decode, session.stop, copies);
  };
  std::vector<double> ingested;
  std::vector<double> decoded;
  std::vector<double> copied;
  for (int round = 0; round < o.rounds; ++round) {
    decoded.push_back(rate_of([&] { decode_to({}); }));
    {
      const TemporaryFolder copies(out);
      fs::create_directory(copies.path());
      copied.push_back(rate_of([&] { decode_to(copies.path()); }));
    }
    const TemporaryFolder cache(out);
    ingested.push_back(
        rate_of([&] { pipeline::ingest(repeated, o.source, cache.path(), options, {}); }));
    say(session, fmt::format("round {}: {} images, {:.1f} a second decoded, {:.1f} decoded and "
                             "copied, {:.1f} ingested",
                             round + 1, grouped(repeated.entries().size()), decoded.back(),
                             copied.back(), ingested.back()));
  }
  report(o.json, session,
         {{"ingest", median(ingested), median(decoded), "images/s"},
          {"ingest, of decoding and writing", median(ingested), median(copied), "images/s"}});
}

struct HashOptions {
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

void bench_hash(const HashOptions& o, const Session& session) {
  std::vector<std::vector<const dedup::Hash*>> sets;
  for (const std::string& name : o.hashes) sets.push_back({&dedup::find_hash(name)});
  if (sets.size() > 1) {
    std::vector<const dedup::Hash*>& all = sets.emplace_back();
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
    for (const dedup::Hash* hash : sets[i]) {
      name += (name.empty() ? "" : "+") + std::string(hash->name);
    }
    rows.push_back({name, median(hashed[i]), median(grayed), "images/s"});
  }
  report(o.json, session, rows);
}

struct SearchBench {
  std::uint64_t count = 1'000'000;
  int bits = 64;
  int radius = 8;
  int rounds = 3;
  bool json = false;
};

// Random codes, of which every hundredth is followed by one within the radius of it.
dedup::CodeColumn codes_with_neighbours(const SearchBench& o) {
  dedup::CodeColumn codes{"bench", 1, o.bits, {}};
  const std::size_t words = codes.words_per_code();
  codes.words.resize(o.count * words);
  for (std::size_t row = 0; row < o.count; ++row) {
    CounterRng rng(0, 0, row, RandomUse::kTest);
    std::uint64_t* code = &codes.words[row * words];
    if (row % 100 != 1) {
      for (std::size_t w = 0; w < words; ++w) code[w] = rng.next_u64();
      continue;
    }
    std::copy_n(code - words, words, code);
    for (int flip = 0; flip < o.radius; ++flip) {
      const std::uint32_t bit = rng.below(static_cast<std::uint32_t>(o.bits));
      code[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    }
  }
  return codes;
}

// The largest rate of some runs.
double best_rate(double amount, const auto& work) {
  double seconds = seconds_of(work);
  for (int run = 0; run < 20; ++run) seconds = std::min(seconds, seconds_of(work));
  return amount / std::max(seconds, 1e-9);
}

// Pairs of such codes that a core compares in a second, in its cache.
double pairs_per_second(const dedup::CodeColumn& codes, int radius) {
  const std::size_t words = codes.words_per_code();
  const std::size_t count = std::min<std::size_t>(2048 / words, codes.words.size() / words);
  const dedup::CodePlanes planes{codes.words.data(), count, words, count};
  std::vector<std::uint32_t> found(count);
  const auto n = static_cast<double>(count);
  return best_rate(n * (n - 1) / 2, [&] {
    dedup::best_scan_kernel().candidates(planes, planes, true, static_cast<std::uint32_t>(radius),
                                         found.data());
  });
}

// Bytes that a core copies in a second, to and from memory.
double bytes_per_second() {
  const std::vector<char> from(std::size_t{64} << 20, 1);
  std::vector<char> to(from.size());
  return best_rate(static_cast<double>(from.size()),
                   [&] { std::memcpy(to.data(), from.data(), from.size()); });
}

// Beside the comparisons and copies of the search's plan, at the machine's rates for both.
double attainable_search_s(const dedup::CodeColumn& codes, const SearchBench& o, int threads) {
  const std::size_t words = codes.words_per_code();
  const auto n = static_cast<double>(o.count);
  const double pairs_s = pairs_per_second(codes, o.radius);
  const dedup::JoinCase problem{n, n * (n - 1) / 2, words, o.radius, o.radius, {}};
  const dedup::JoinWork work = dedup::work_of(
      problem, dedup::plan_join(problem, std::vector<std::uint64_t>(words, ~std::uint64_t{0}),
                                dedup::join_costs(1e9 / pairs_s, words)));
  const auto bytes = static_cast<double>(words * sizeof(std::uint64_t) + sizeof(std::uint32_t));
  return (work.moves * bytes / bytes_per_second() + work.pairs / pairs_s) / threads;
}

void bench_search(const SearchBench& o, const Session& session) {
  if (o.bits % 64 != 0) {
    throw UsageError(fmt::format("codes have whole words; {} bits are not n * 64", o.bits));
  }
  const dedup::CodeColumn codes = codes_with_neighbours(o);
  std::vector<std::uint32_t> rows(o.count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const int threads = plan_threads(session.threads).decode;
  std::vector<double> searched;
  std::vector<double> attainable;
  for (int round = 0; round < o.rounds; ++round) {
    check(session.stop);
    std::uint64_t planted = 0;
    std::uint64_t found = 0;
    searched.push_back(seconds_of([&] {
      dedup::find_edges(codes, rows, o.radius, [&](std::span<const dedup::Edge> edges) {
        found += edges.size();
        for (const dedup::Edge& edge : edges) planted += edge.b % 100 == 1 && edge.a + 1 == edge.b;
      });
    }));
    if (planted != (o.count + 98) / 100) {
      throw FormatError(fmt::format("the search found {} of {} pairs that were put in", planted,
                                    (o.count + 98) / 100));
    }
    attainable.push_back(attainable_search_s(codes, o, threads));
    say(session,
        fmt::format("round {}: {} codes of {} bits within {}: {:.3f} s, {} pairs", round + 1,
                    grouped(o.count), o.bits, o.radius, searched.back(), grouped(found)));
  }
  const auto n = static_cast<double>(o.count);
  report(o.json, session, {{"search", n / median(searched), n / median(attainable), "codes/s"}});
}

struct LoaderBench {
  fs::path cache;
  std::string augment = "cifar";
  int image_side_px = 0;
  std::uint64_t batch = 128;
  int threads = 0;
  double seconds = 5;
  int rounds = 3;
  pipeline::ShuffleOptions shuffle;
  MemoryFlags memory;
  bool json = false;
};

// Takes `batches` batches, or as many as come within `seconds`; how many images they had.
std::uint64_t take_batches(const pipeline::Cache& cache, const pipeline::Sampler& sampler,
                           const pipeline::LoadOptions& options, std::uint64_t batch,
                           std::uint64_t batches, double seconds, const StopRequested& stop) {
  const auto begin = std::chrono::steady_clock::now();
  pipeline::Loader loader(cache, options, [&](std::uint64_t i) {
    return i < batches ? sampler.requests(i * batch, batch) : std::vector<pipeline::Request>{};
  });
  std::uint64_t taken = 0;
  pipeline::Batch got = loader.next();
  for (; got.size() > 0; got = loader.next(std::move(got))) {
    check(stop);
    taken += got.size();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (seconds > 0 && passed.count() > seconds) break;
  }
  return taken;
}

void bench_loader(const LoaderBench& o, Session& session) {
  MemoryFlags whole = o.memory;  // what is measured is one machine
  whole.replicas = session.comm.size();
  const PlacedShards placed = place_shards(o.cache, whole, session);
  const auto cache = pipeline::open_cache(o.cache, placed.placement, session.comm.rank());
  const pipeline::DatasetInfo info = pipeline::describe(*cache);
  const int side = o.image_side_px;
  if (side == 0 && (info.height_px == 0 || info.width_px == 0)) {
    throw UsageError("the images of " + o.cache.string() +
                     " differ in size; say by --image-size what a net takes");
  }
  constexpr std::uint64_t kSeed = 1;
  const pipeline::LoadOptions options{.geometry = {side > 0 ? side : info.height_px,
                                                   side > 0 ? side : info.width_px, info.channels},
                                      .recipe = pipeline::parse_recipe(o.augment),
                                      .seed = kSeed,
                                      .threads = thread_plan(session, o.threads).decode};
  pipeline::SamplingOptions sampling{.shuffle = o.shuffle};
  sampling.shuffle.batch = o.batch;
  const pipeline::Sampler sampler(pipeline::select_samples(*cache, Split::kTrain, ""), kSeed,
                                  sampling);
  // What a loader gets through in that time is what every part is measured on.
  const std::uint64_t batches = std::max<std::uint64_t>(
      1, take_batches(*cache, sampler, options, o.batch, ~0ULL, o.seconds, session.stop) / o.batch);
  const auto count = static_cast<double>(batches * o.batch);
  pipeline::LoadStages stages(*cache, sampler.requests(0, batches * o.batch), options,
                              static_cast<std::size_t>(o.batch));
  const auto rate_of = [&](const auto& work) {
    check(session.stop);
    return count / seconds_of(work);
  };
  std::vector<double> loaded, read, decoded, augmented, copied;
  for (int round = 0; round < o.rounds; ++round) {
    loaded.push_back(rate_of(
        [&] { take_batches(*cache, sampler, options, o.batch, batches, 0, session.stop); }));
    read.push_back(rate_of([&] { stages.read(); }));
    if (stages.encoded()) decoded.push_back(rate_of([&] { stages.decode(); }));
    augmented.push_back(rate_of([&] { stages.augment(); }));
    if (!stages.encoded()) copied.push_back(rate_of([&] { stages.copy(); }));
    say(session, fmt::format("round {}: {} images on {} threads, {:.0f} a second", round + 1,
                             grouped(batches * o.batch), options.threads, loaded.back()));
  }
  const auto rate = [](const std::vector<double>& rates) {
    return rates.empty() ? 0 : median(rates);
  };
  const double achieved = median(loaded);
  std::vector<Row> rows{{"loader, of reading", achieved, rate(read), "images/s"}};
  if (!decoded.empty())
    rows.push_back({"loader, of decoding", achieved, rate(decoded), "images/s"});
  rows.push_back({"loader, of augmenting", achieved, rate(augmented), "images/s"});
  if (!copied.empty()) rows.push_back({"loader, of copying", achieved, rate(copied), "images/s"});
  report(o.json, session, rows);
  say(session, pipeline::bottleneck(achieved, {rate(read), rate(decoded), rate(augmented)}));
}

CLI::App* add_bench_of(CLI::App& bench, const std::string& name, const std::string& what,
                       double seconds, BenchOptions& o) {
  o.seconds = seconds;
  CLI::App* app = bench.add_subcommand(name, what);
  app->add_option("source", o.source, "Data set, as of ingest")->required();
  app->add_option("--seconds", o.seconds, "A run goes through the source until it takes so long")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--rounds", o.rounds, "Runs of each kind, by turns; medians count")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--hold", o.hold_mib,
                  "MiB of inputs to hold in memory; of a larger source a part, evenly spread")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_flag("--json", o.json, "Print one JSON object on stdout");
  add_ingest_flags(*app, o.flags);
  return app;
}

}  // namespace

Command add_bench(CLI::App& program) {
  auto decode = std::make_shared<BenchOptions>();
  auto ingest = std::make_shared<BenchOptions>();
  CLI::App* app =
      program.add_subcommand("bench", "Measure what is achieved beside what is attainable");
  app->require_subcommand(1);
  CLI::App* of_decode = add_bench_of(
      *app, "decode", "Decoding from memory on all cores, beside one core's rate times the cores",
      5, *decode);
  CLI::App* of_ingest = add_bench_of(*app, "ingest",
                                     "A whole ingest, beside decoding the same images from memory "
                                     "on the same cores, and beside that "
                                     "with plain writing of their bytes",
                                     20, *ingest);
  of_ingest->add_option("--out", ingest->out,
                        "Folder in which caches are made and removed again; empty: where temporary "
                        "files are kept");
  auto hash = std::make_shared<HashOptions>();
  CLI::App* of_hash = app->add_subcommand(
      "hash", "Hashing of decoded pixels on one core, beside making them gray, which is the least");
  of_hash->add_option("--hash", hash->hashes, "Each alone, and all together")
      ->delimiter(',')
      ->capture_default_str();
  of_hash->add_option("--width", hash->width_px, "Of the pictures")
      ->check(CLI::Range(1, 1 << 14))
      ->capture_default_str();
  of_hash->add_option("--height", hash->height_px, "Of the pictures")
      ->check(CLI::Range(1, 1 << 14))
      ->capture_default_str();
  of_hash->add_option("--seconds", hash->seconds, "Of each run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  of_hash->add_option("--rounds", hash->rounds, "Runs of each kind, by turns; medians count")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  of_hash->add_flag("--json", hash->json, "Print one JSON object on stdout");
  auto search = std::make_shared<SearchBench>();
  CLI::App* of_search = app->add_subcommand(
      "search",
      "Search for all near pairs of random codes, beside the plan's comparisons and copies alone");
  of_search->add_option("--count", search->count, "Of codes; one in a hundred has a neighbour")
      ->check(CLI::Range(2ULL, 4'000'000'000ULL))
      ->capture_default_str();
  of_search->add_option("--bits", search->bits, "Of a code")
      ->check(CLI::Range(64, 1024))
      ->capture_default_str();
  of_search->add_option("--radius", search->radius, "Bits in which near codes differ at most")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  of_search->add_option("--rounds", search->rounds, "Runs; medians count")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  of_search->add_flag("--json", search->json, "Print one JSON object on stdout");
  auto loader = std::make_shared<LoaderBench>();
  CLI::App* of_loader = app->add_subcommand(
      "loader",
      "Training batches taken as fast as they come, beside reading, decoding and augmenting alone, "
      "and, of bare pixels, copying them");
  of_loader->add_option("cache", loader->cache, "Cache made by winnow ingest")->required();
  add_memory_flags(*of_loader, loader->memory);
  of_loader->add_option("--augment", loader->augment, "Augmentation recipe, as of train")
      ->capture_default_str();
  of_loader
      ->add_option("--image-size", loader->image_side_px, "Side in pixels; 0: as the images are")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  of_loader->add_option("--batch-size", loader->batch, "Images of a batch")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  add_shuffle_flags(*of_loader, loader->shuffle);
  of_loader->add_option("--threads", loader->threads, "That load; 0: all there are")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  of_loader->add_option("--seconds", loader->seconds, "Of a run of the loader")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  of_loader->add_option("--rounds", loader->rounds, "Runs of each kind, by turns; medians count")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  of_loader->add_flag("--json", loader->json, "Print one JSON object on stdout");
  const BenchOf shuffle = add_bench_shuffle(*app);
  const BenchOf alltoall = add_bench_alltoall(*app);
  app->footer(
      "Kinds of runs alternate, so that a machine that others use slows all alike.\n\n"
      "Examples:\n"
      "  winnow bench decode photos.tar                     # images/s, and pixels/s\n"
      "  winnow bench ingest photos.tar --out /dev/shm      # without the disk\n"
      "  winnow bench ingest photos/ --store raw --json\n"
      "  winnow bench hash --hash phash,dhash,pdq\n"
      "  winnow bench loader cache --augment cifar --batch-size 128 --threads 2\n"
      "  winnow bench shuffle cache --batch-size 1024 --partitions 16\n"
      "  winnow bench search --count 10000000 --bits 64 --radius 8\n"
      "  mpirun -np 4 winnow bench alltoall -b 64M --gradients 16M");
  return {app, true,
          [=](Session& session) {
            if (alltoall.app->parsed()) return alltoall.run(session);
            comm::on_all(session.comm, [&] {
              if (session.comm.size() == 1) return;
              throw UsageError(
                  "of winnow bench only alltoall runs on several ranks; start this one "
                  "without mpirun");
            });
            if (of_decode->parsed()) {
              bench_decode(*decode, session);
            } else if (of_ingest->parsed()) {
              bench_ingest(*ingest, session);
            } else if (of_hash->parsed()) {
              bench_hash(*hash, session);
            } else if (of_loader->parsed()) {
              bench_loader(*loader, session);
            } else if (shuffle.app->parsed()) {
              shuffle.run(session);
            } else if (of_search->parsed()) {
              bench_search(*search, session);
            }
          },
          /*stops=*/true};
}

}  // namespace winnow::tools
