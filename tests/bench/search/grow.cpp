// Times how much a growing index saves; see --help.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/rng.h"
#include "dedup/index/index.h"

namespace {

using namespace winnow;
using namespace winnow::dedup;
namespace fs = std::filesystem;

constexpr const char* kHelp =
    "bench_index [--old 3000000] [--new 100000] [--radius 8] [--rounds 3] [--folder FOLDER]\n\n"
    "Makes an index of so many random 64-bit codes in FOLDER (default: a new one in /tmp, gone\n"
    "afterwards), then, a few times by turns, adds new ones, of which every hundredth is near an\n"
    "old one, beside a search of all codes anew for the same links, and deduplicates the index by\n"
    "its links beside doing so by a search. Each step is a process of its own, and reads the "
    "index\n"
    "from its files; tells the medians of seconds and of the peak of memory, and fails where both "
    "ways\n"
    "give different links or selections.\n";

struct Settings {
  std::uint64_t old_codes = 3'000'000;
  std::uint64_t new_codes = 100'000;
  int radius = 8;
  int rounds = 3;
  fs::path folder;
};

// Results that a step sends to the process that started it.
struct Told {
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t result = 0;  // number of links or of removed samples
};

struct Measured {
  Told told;
  double peak_mb = 0;
};

// Runs a step in a process of its own.
Measured measure(const std::function<Told()>& step) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      const Told told = step();
      code = ::write(pipe_ends[1], &told, sizeof(told)) == sizeof(told) ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_index: %s\n", error.what());
    }
    ::_exit(code);
  }
  ::close(pipe_ends[1]);
  Measured measured;
  const bool got =
      ::read(pipe_ends[0], &measured.told, sizeof(Told)) == static_cast<ssize_t>(sizeof(Told));
  ::close(pipe_ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (!got || status != 0) throw std::runtime_error("a step failed");
  measured.peak_mb = static_cast<double>(usage.ru_maxrss) / 1000;
  return measured;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Told timed(const std::function<std::uint64_t()>& body) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_before = cpu_seconds();
  Told told;
  told.result = body();
  told.cpu_seconds = cpu_seconds() - cpu_before;
  told.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return told;
}

std::vector<std::uint64_t> random_codes(std::uint32_t batch, std::uint64_t count) {
  std::vector<std::uint64_t> codes(count);
  CounterRng rng(1, batch, 0, RandomUse::kTest);
  for (std::uint64_t i = 0; i < count; ++i) {
    // A stream of random numbers repeats after 2^26 numbers.
    if (i % (1 << 20) == 0) rng = {1, batch, i, RandomUse::kTest};
    codes[i] = rng.next_u64();
  }
  return codes;
}

Fingerprints table_of(const Settings& settings, std::uint32_t batch) {
  const std::uint64_t count = batch == 0 ? settings.old_codes : settings.new_codes;
  std::vector<std::uint64_t> codes = random_codes(batch, count);
  if (batch > 0) {
    const std::vector<std::uint64_t> old = random_codes(0, settings.old_codes);
    for (std::uint64_t i = 0; i < count; i += 100) {
      codes[i] = old[codes[i] % old.size()] ^ (std::uint64_t{0b101} << (codes[i] % 60));
    }
  }
  Fingerprints table;
  table.ids.resize(count);
  std::iota(table.ids.begin(), table.ids.end(), SampleId{0});
  table.splits.assign(count, Split::kTrain);
  table.labels.offsets.assign(count + 1, 0);
  table.group_keys.offsets.assign(count + 1, 0);
  table.widths_px.assign(count, 64);
  table.heights_px.assign(count, 64);
  table.file_bytes.assign(count, 1000);
  table.sharpness.assign(count, 1);
  table.quality.assign(count, 50);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t number = (std::uint64_t{batch} << 40) + i;
    table.file_hashes.push_back(xxh3_128(std::as_bytes(std::span(&number, 1))));
  }
  table.pixel_hashes = table.file_hashes;
  table.codes = {{"phash", 1, 64, std::move(codes)}};
  return table;
}

Told add(const Settings& settings, std::uint32_t batch) {
  const Fingerprints table = table_of(settings, batch);
  Addition addition;
  addition.sources.resize(1);
  addition.sources[0].name = "batch " + std::to_string(batch);
  addition.sources[0].listing_hash = to_hex(table.file_hashes.front());
  addition.columns = [&](const ColumnNames& names) { return select_columns(table, names); };
  addition.names = [&](const NameSink& sink) {
    for (const SampleId id : table.ids)
      sink(id, "train/class/photo " + std::to_string(id) + ".jpg");
  };
  IndexOptions options;
  options.radius = settings.radius;
  return timed([&] { return add_to_index(settings.folder, addition, options).rows; });
}

Told search(const Settings& settings, bool by_links) {
  return timed([&] {
    const StoredIndex index = StoredIndex::open(settings.folder);
    const Fingerprints table = index.columns()({"codes:phash", "quality"});
    std::uint64_t found = 0;
    const EdgeSink count = [&](std::span<const Edge> edges) { found += edges.size(); };
    const std::vector<std::uint32_t> rows = matchable_rows(table);
    if (by_links) {
      index.links()(table.codes.front(), rows, settings.radius, count);
    } else {
      find_edges(table.codes.front(), rows, settings.radius, count);
    }
    return found;
  });
}

Told decide(const Settings& settings, bool by_links) {
  return timed([&] {
    const StoredIndex index = StoredIndex::open(settings.folder);
    Options options;
    options.threshold = settings.radius;
    const LinkSource links = by_links ? index.links() : LinkSource();
    return deduplicate(index.columns(), options, links).removed;
  });
}

void tell(const char* what, const std::vector<Measured>& runs) {
  const auto median = [&](const auto& of) {
    std::vector<double> values;
    for (const Measured& run : runs) values.push_back(of(run));
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  std::printf("%-28s %7.2f s, %7.2f s of CPU, peak %5.0f MB\n", what,
              median([](const Measured& m) { return m.told.seconds; }),
              median([](const Measured& m) { return m.told.cpu_seconds; }),
              median([](const Measured& m) { return m.peak_mb; }));
}

void require_same(const char* what, const Measured& a, const Measured& b) {
  if (a.told.result == b.told.result) return;
  throw std::runtime_error(std::string(what) + " differ: " + std::to_string(a.told.result) +
                           " and " + std::to_string(b.told.result));
}

void run(const Settings& settings) {
  tell("the old codes, from nothing", {measure([&] { return add(settings, 0); })});
  std::map<std::string, std::vector<Measured>> runs;
  std::uint64_t links = 0;
  for (int round = 1; round <= settings.rounds; ++round) {
    const auto batch = static_cast<std::uint32_t>(round);
    runs["add"].push_back(measure([&] { return add(settings, batch); }));
    const Measured read = measure([&] { return search(settings, true); });
    runs["search"].push_back(measure([&] { return search(settings, false); }));
    require_same("links", read, runs["search"].back());
    links = read.told.result;
    runs["by links"].push_back(measure([&] { return decide(settings, true); }));
    runs["by search"].push_back(measure([&] { return decide(settings, false); }));
    require_same("selections", runs["by links"].back(), runs["by search"].back());
  }
  tell("new codes, added", runs["add"]);
  tell("all searched anew", runs["search"]);
  tell("deduplicated by links", runs["by links"]);
  tell("deduplicated by a search", runs["by search"]);
  std::printf("%llu links, found either way\n", static_cast<unsigned long long>(links));
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::map<std::string, std::string> flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (!flag.starts_with("--") || flag == "--help" || i + 1 == argc) {
      std::fputs(kHelp, flag == "--help" ? stdout : stderr);
      return flag == "--help" ? 0 : 2;
    }
    flags[flag.substr(2)] = argv[++i];
  }
  try {
    if (flags.contains("old")) settings.old_codes = std::stoull(flags["old"]);
    if (flags.contains("new")) settings.new_codes = std::stoull(flags["new"]);
    if (flags.contains("radius")) settings.radius = std::stoi(flags["radius"]);
    if (flags.contains("rounds")) settings.rounds = std::stoi(flags["rounds"]);
    settings.folder = flags.contains("folder") ? fs::path(flags["folder"])
                                               : fs::temp_directory_path() /
                                                     ("bench_index_" + std::to_string(::getpid()));
    run(settings);
    if (!flags.contains("folder")) fs::remove_all(settings.folder);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_index: %s\n", error.what());
    return 1;
  }
}
