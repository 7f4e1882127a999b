// Times the search for all near pairs among codes that are made up or read; see --help.

#include "dedup/search/search.h"

#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>

#include "common/comm/mpi/mpi.h"
#include "common/rng.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/search/plan.h"
#include "dedup/search/scan.h"

namespace {

using namespace winnow;
using namespace winnow::dedup;

constexpr const char* kHelp =
    "bench_search [--count N] [--bits 64] [--hash NAME] [--radius 8] [--planted N] [--cluster 2] "
    "[--codes FILE]\n"
    "             [--method auto|scan|join] [--kernel NAME] [--threads T] [--seed S] [--check N]\n"
    "             [--write FILE] [--collect]\n\n"
    "Finds all pairs within a radius among random codes (or those in FILE, bits / 64 words of 8\n"
    "bytes each) into which `planted` codes are put within the radius of others, in clusters of "
    "so\n"
    "many; tells the time, whether each planted pair was found, the peak of memory, and what a "
    "scan\n"
    "and the plan's own work would take at this machine's rates. Edges are counted, or with\n"
    "--collect held and sorted; --check compares N rows with a scan; --write keeps the codes.\n"
    "Under mpirun ranks share the search, --threads each, by no other --method and --kernel than\n"
    "those of the plan, and without --collect and --check.\n";

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of(const auto& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Pairs of codes per second that one core compares if they are in its cache.
double pair_rate(const ScanKernel& kernel, std::size_t words) {
  const std::size_t count = 2048 / words;
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  std::vector<std::uint64_t> codes(count * words);
  for (std::uint64_t& word : codes) word = rng.next_u64();
  const CodePlanes all{codes.data(), count, words, count};
  const CodePlanes planes = all.first_words(words_to_compare(words, 0));
  std::vector<std::uint32_t> found(count);
  double best = 0;
  for (int i = 0; i < 200; ++i) {
    const double s = seconds_of([&] { kernel.candidates(planes, planes, true, 0, found.data()); });
    best = std::max(best, static_cast<double>(count) * static_cast<double>(count - 1) / 2 / s);
  }
  return best;
}

// Bytes per second that one core copies, for more than its caches hold.
double copy_rate() {
  std::vector<char> from(256 << 20, 1);
  std::vector<char> to(from.size());
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double s = seconds_of([&] { std::memcpy(to.data(), from.data(), from.size()); });
    best = std::max(best, static_cast<double>(from.size()) / s);
  }
  return best;
}

void flip(CounterRng& rng, std::uint64_t* code, int bits, int flips) {
  std::vector<std::uint64_t> mask(static_cast<std::size_t>(bits) / 64);
  while (flips > 0) {
    const std::uint32_t bit = rng.below(static_cast<std::uint32_t>(bits));
    const std::uint64_t one = std::uint64_t{1} << (bit % 64);
    if ((mask[bit / 64] & one) != 0) continue;
    mask[bit / 64] |= one;
    --flips;
  }
  for (std::size_t w = 0; w < mask.size(); ++w) code[w] ^= mask[w];
}

double peak_gb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
}

std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{std::min(a, b)} << 32) | std::max(a, b);
}

std::size_t threads_of(const std::map<std::string, std::string>& flags) {
  const auto given = flags.find("threads");
  return given == flags.end() ? std::thread::hardware_concurrency() : std::stoull(given->second);
}

int run(std::map<std::string, std::string> flags, const LinkSource& links) {
  const auto number = [&](const char* name, std::uint64_t otherwise) {
    return flags.contains(name) ? std::stoull(flags[name]) : otherwise;
  };
  const std::string hash = flags.contains("hash") ? flags["hash"] : "bench";
  CodeColumn column = empty_codes(hash, 1, static_cast<int>(number("bits", 64)));
  const std::size_t words = column.words_per_code();
  std::size_t count = number("count", 1'000'000);
  const int radius = static_cast<int>(number("radius", 8));
  const std::size_t planted_count = number("planted", count / 100);
  const std::size_t cluster = std::max<std::size_t>(number("cluster", 2), 2);
  const std::size_t threads = threads_of(flags);
  SearchOptions options;
  options.kernel = flags["kernel"];
  if (flags["method"] == "scan") options.method = SearchMethod::kScan;
  if (flags["method"] == "join") options.method = SearchMethod::kJoin;

  CounterRng rng(number("seed", 1), 0, 0, RandomUse::kTest);
  if (flags.contains("codes")) {
    std::ifstream file(flags["codes"], std::ios::binary | std::ios::ate);
    if (!file) throw std::runtime_error("cannot read " + flags["codes"]);
    count = std::min<std::size_t>(count, static_cast<std::size_t>(file.tellg()) / (8 * words));
    column.words.resize(count * words);
    file.seekg(0).read(reinterpret_cast<char*>(column.words.data()),
                       static_cast<std::streamsize>(column.words.size() * 8));
  } else {
    column.words.resize(count * words);
    for (std::size_t i = 0; i < column.words.size(); ++i) {
      // A stream of random numbers repeats after 2^26 numbers.
      if (i % (1 << 20) == 0) rng = {number("seed", 1), 1, i, RandomUse::kTest};
      column.words[i] = rng.next_u64();
    }
  }
  // Each cluster has its centre in its first row and members behind it. They are at most half the
  // radius from the centre (the whole radius if there is a single one), so all are within the
  // radius of each other.
  std::unordered_set<std::uint64_t> planted;
  std::set<std::vector<std::uint64_t>> members;  // equal codes are linked only to the first
  for (std::size_t row = 0, done = 0; done < planted_count && row + cluster <= count;) {
    members = {{&column.words[row * words], &column.words[(row + 1) * words]}};
    for (std::size_t m = 1; m < cluster && done < planted_count; ++m, ++done) {
      std::uint64_t* code = &column.words[(row + m) * words];
      const int most = std::max(cluster == 2 ? radius : radius / 2, 1);
      do {
        std::copy_n(&column.words[row * words], words, code);
        flip(rng, code, column.bits,
             1 + static_cast<int>(rng.below(static_cast<std::uint32_t>(most))));
      } while (!members.insert({code, code + words}).second);
      planted.insert(key_of(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row + m)));
    }
    row += cluster;
  }
  if (flags.contains("write")) {
    std::ofstream(flags["write"], std::ios::binary)
        .write(reinterpret_cast<const char*>(column.words.data()),
               static_cast<std::streamsize>(column.words.size() * 8));
  }

  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  std::vector<Edge> edges;
  std::uint64_t found = 0;
  std::uint64_t found_planted = 0;
  const bool collect = flags.contains("collect") || flags.contains("check");
  const double cpu_before = cpu_seconds();
  const double took = seconds_of([&] {
    if (collect) {
      edges = edges_within(column, rows, radius, options);
      found = edges.size();
      return;
    }
    const EdgeSink count_edges = [&](std::span<const Edge> batch) {
      found += batch.size();
      if (planted.empty()) return;
      for (const Edge& edge : batch) found_planted += planted.count(key_of(edge.a, edge.b));
    };
    if (links) return links(column, rows, radius, count_edges);
    find_edges(column, rows, radius, count_edges, options);
  });
  const double cpu = cpu_seconds() - cpu_before;
  const double peak = peak_gb();
  for (const Edge& edge : edges) found_planted += planted.count(key_of(edge.a, edge.b));

  const ScanKernel& kernel = best_scan_kernel();
  const double pairs_s = pair_rate(kernel, words) * static_cast<double>(threads);
  const double bytes_s = copy_rate() * static_cast<double>(threads);
  const auto n = static_cast<double>(count);
  const std::vector<std::uint64_t> unused(words, ~std::uint64_t{0});
  const JoinCase problem{n, n * (n - 1) / 2, words, radius, radius, {}};
  const JoinPlan plan =
      plan_join(problem, unused, join_costs(1e9 * static_cast<double>(threads) / pairs_s, words));
  const JoinWork least = work_of(problem, plan);
  const double work =
      least.moves * static_cast<double>(8 * words + 4) / bytes_s + least.pairs / pairs_s;
  const double scan = problem.pairs / pairs_s;
  const std::string shape = plan.choice.levels == 0
                                ? "scan"
                                : std::to_string(plan.choice.levels) + " of " +
                                      std::to_string(plan.bands.size()) + " bands agree";
  std::printf(
      "%zu codes of %d bits within %d: %.3f s (%.3f s of CPU), %llu edges, planted %llu of %zu, "
      "peak %.2f GB "
      "(%zu threads, %s)\n"
      "  attainable: %.3f s for the plan's comparisons and copies (%s); %.3f s for a scan at "
      "%.1f G pairs/s; ratio %.2f\n",
      count, column.bits, radius, took, cpu, static_cast<unsigned long long>(found),
      static_cast<unsigned long long>(found_planted), planted.size(), peak, threads,
      std::string(options.kernel.empty() ? kernel.name : options.kernel).c_str(), work,
      shape.c_str(), scan, pairs_s / 1e9, took / work);
  if (flags.contains("check")) {
    const SelfCheck check = check_edges(column, rows, radius, edges, number("check", 0), 1);
    std::printf("  check of %llu rows against a scan: %llu edges, %zu missing, %zu wrong\n",
                static_cast<unsigned long long>(check.queries),
                static_cast<unsigned long long>(check.edges), check.missing.size(),
                check.wrong.size());
    if (!check.missing.empty() || !check.wrong.empty()) return 1;
  }
  return found_planted == planted.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (!flag.starts_with("--") || flag == "--help") {
      std::fputs(kHelp, flag == "--help" ? stdout : stderr);
      return flag == "--help" ? 0 : 2;
    }
    const bool has_value = flag != "--collect" && i + 1 < argc;
    flags[flag.substr(2)] = has_value ? argv[++i] : "";
  }
  try {
    const auto comm = comm::launched_by_mpi() ? comm::make_mpi() : comm::make_single();
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    threads_of(flags));
    int code = 0;
    with_shared_search(*comm, [&](const LinkSource& links) { code = run(flags, links); },
                       {.all_links = true});
    if (comm->rank() > 0) {
      std::printf("rank %d: %.3f s of CPU, peak %.2f GB\n", comm->rank(), cpu_seconds(), peak_gb());
    }
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_search: %s\n", error.what());
    return 1;
  }
}
