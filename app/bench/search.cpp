#include "app/bench/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "app/bench/rows.h"
#include "app/words.h"
#include "common/error.h"
#include "common/rng.h"
#include "common/statistics.h"
#include "dedup/search/plan.h"
#include "dedup/search/search.h"

namespace winnow::app {
namespace {

// Random codes. Every hundredth is followed by one within the radius.
dedup::CodeColumn codes_with_neighbours(const SearchBenchRequest& o) {
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

// The best rate of several runs.
double best_rate(double amount, const auto& work) {
  double seconds = seconds_of(work);
  for (int run = 0; run < 20; ++run) seconds = std::min(seconds, seconds_of(work));
  return amount / std::max(seconds, 1e-9);
}

// Pairs of such codes that a core compares per second, with codes in its cache.
double pairs_per_second(const dedup::CodeColumn& codes, int radius) {
  const std::size_t words = codes.words_per_code();
  const std::size_t count = std::min<std::size_t>(2048 / words, codes.words.size() / words);
  const dedup::CodePlanes all{codes.words.data(), count, words, count};
  const dedup::CodePlanes planes =
      all.first_words(dedup::words_to_compare(words, static_cast<std::uint32_t>(radius)));
  std::vector<std::uint32_t> found(count);
  const auto n = static_cast<double>(count);
  return best_rate(n * (n - 1) / 2, [&] {
    dedup::best_scan_kernel().candidates(planes, planes, true, static_cast<std::uint32_t>(radius),
                                         found.data());
  });
}

// Bytes that a core copies per second, in memory.
double bytes_per_second() {
  const std::vector<char> from(std::size_t{64} << 20, 1);
  std::vector<char> to(from.size());
  return best_rate(static_cast<double>(from.size()),
                   [&] { std::memcpy(to.data(), from.data(), from.size()); });
}

// Attainable seconds: the comparisons and copies of the search's plan at the machine's rates.
double attainable_search_s(const dedup::CodeColumn& codes, const SearchBenchRequest& o,
                           int threads) {
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

}  // namespace

void bench_search(const SearchBenchRequest& o, const Session& session) {
  if (o.bits % 64 != 0) {
    throw UsageError(
        fmt::format("a code consists of 64-bit words; --bits {} is not a multiple of 64", o.bits));
  }
  const dedup::CodeColumn codes = codes_with_neighbours(o);
  std::vector<std::uint32_t> rows(o.count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const int threads = plan_threads(session.threads).decode;
  std::vector<double> searched;
  std::vector<double> attainable;
  for (int round = 0; round < o.rounds; ++round) {
    end_if_stopped(session.stop);
    std::uint64_t planted = 0;
    std::uint64_t found = 0;
    searched.push_back(seconds_of([&] {
      dedup::find_edges(codes, rows, o.radius, [&](std::span<const dedup::Edge> edges) {
        found += edges.size();
        for (const dedup::Edge& edge : edges) planted += edge.b % 100 == 1 && edge.a + 1 == edge.b;
      });
    }));
    if (planted != (o.count + 98) / 100) {
      throw FormatError(
          fmt::format("the search found only {} of {} known pairs", planted, (o.count + 98) / 100));
    }
    attainable.push_back(attainable_search_s(codes, o, threads));
    say(session,
        fmt::format("round {}: {} codes of {} bits, radius {}: {:.3f} s, {} pairs", round + 1,
                    grouped(o.count), o.bits, o.radius, searched.back(), grouped(found)));
  }
  const auto n = static_cast<double>(o.count);
  tell_rows(o.json, session, {{"search", n / median(searched), n / median(attainable), "codes/s"}});
}

}  // namespace winnow::app
