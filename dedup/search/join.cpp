#include "dedup/search/join.h"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "dedup/search/cells_internal.h"
#include "dedup/search/plan.h"

namespace winnow::dedup {
namespace {

// One plane of a tile (16 KiB) and one of its partner fit into a core's first-level cache.
constexpr std::size_t kTileWords = 2048;
constexpr std::size_t kBatchEdges = 16384;
// From this size on, buckets and tiles are divided among threads.
constexpr std::size_t kParallelCodes = 1 << 16;
constexpr std::size_t kParallelTiles = 64;
// Minimum cost of a scan before a cell is examined, and minimum saving for a plan.
constexpr double kSmallScanNs = 2000;
constexpr double kWorthwhile = 0.8;
// A cell of this size gets new bands if the inherited ones serve it badly; of the second size,
// always.
constexpr std::size_t kReplanCodes = 1 << 12;
constexpr std::size_t kAlwaysReplanCodes = 1 << 17;
constexpr std::size_t kSample = 256;
constexpr std::size_t kReplanSample = 1024;

// The bands that led to a cell, from it back to the whole.
struct Past {
  const Band* band;
  const Past* before;
};

// A cell to be joined, with its history.
struct Work {
  Cell left;
  Cell right;  // unused if one side is joined with itself
  std::span<const Band> bands;
  int budget;
  const Past* past;
  std::span<const std::uint64_t>
      // Masks of bands in which pairs must differ: all others were found before.
      differ;
  // Shared with the other parts of the search; else it belongs to this part only.
  bool shared = false;
  std::uint64_t name = 0;   // identifies shared work, equal in all parts
  std::uint64_t large = 0;  // more expensive cells are shared again; 0: not known yet
};

// A hash of all these values, in order.
std::uint64_t digest_of(std::uint64_t name, std::uint64_t number,
                        std::span<const std::byte> more = {}) {
  const std::array<std::uint64_t, 3> all{name, number, xxh3_64(more)};
  return xxh3_64(std::as_bytes(std::span(all)));
}

// Common data of all cells of a search.
struct Task {
  bool self;  // one side is joined with itself
  std::size_t words;
  int radius;
  std::size_t compared;  // leading words that are compared first
  SearchMethod method;
  SearchPart part;
  const ScanKernel& kernel;
  JoinCosts costs;
  std::size_t replan_codes;  // like kReplanCodes

  JoinCase case_of(std::size_t of_left, std::size_t of_right, int budget) const {
    const auto left = static_cast<double>(of_left);
    const auto right = static_cast<double>(of_right);
    return {.codes = self ? left : left + right,
            .pairs = self ? left * (left - 1) / 2 : left * right,
            .words_per_code = words,
            .radius = radius,
            .budget = budget,
            .differences = {}};
  }
};

const ScanKernel& kernel_of(const SearchOptions& options) {
  for (const ScanKernel& kernel : scan_kernels()) {
    if (kernel.name == options.kernel && kernel.runs_here()) return kernel;
  }
  return best_scan_kernel();
}

// Differences of pairs spread over two runs (or one) by two additive sequences, without pairs of a
// code with itself.
std::vector<std::uint64_t> sample(const CodePlanes& a, const CodePlanes& b, bool self,
                                  std::size_t pairs) {
  std::vector<std::uint64_t> differences;
  if (a.count == 0 || b.count == 0) return differences;
  differences.reserve(pairs * a.words_per_code);
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    x += 0x9E3779B97F4A7C15;
    y += 0xD1B54A32D192ED03;
    const std::size_t of_a = static_cast<std::size_t>(((x >> 32) * a.count) >> 32);
    const std::size_t of_b = static_cast<std::size_t>(((y >> 32) * b.count) >> 32);
    if (self && of_a == of_b) continue;
    for (std::size_t w = 0; w < a.words_per_code; ++w) {
      differences.push_back(a.words[w * a.stride + of_a] ^ b.words[w * b.stride + of_b]);
    }
  }
  return differences;
}

Task task_of(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
             const SearchPart& part, const SearchOptions& options) {
  const bool self = !right;
  const std::size_t words = left.codes.words_per_code;
  const ScanKernel& kernel = kernel_of(options);
  const std::size_t compared =
      words_to_compare(words, static_cast<std::uint32_t>(radius),
                       sample(left.codes, self ? left.codes : right->codes, self, kReplanSample));
  Task task{.self = self,
            .words = words,
            .radius = radius,
            .compared = compared,
            .method = options.method,
            .part = part,
            .kernel = kernel,
            .costs = join_costs(kernel.pair_ns * static_cast<double>(compared), words),
            .replan_codes = kReplanCodes};
  if (options.method == SearchMethod::kJoin) {
    task.costs.pair = 50;  // makes partitions cheaper than scans
    task.replan_codes = 0;
  }
  return task;
}

// The decision about a cell.
struct Step {
  enum class Kind { kNothing, kScan, kSplit };
  Kind kind = Kind::kNothing;
  std::vector<Band> bands = {};  // bands to split by; empty: the inherited ones
};

// Chooses the step by the costs of scans and partitions.
class Planner {
 public:
  explicit Planner(const Task& task) : task_(task) {}

  Step step_of(const Work& work) const {
    JoinCase problem =
        task_.case_of(work.left.codes.count, task_.self ? 0 : work.right.codes.count, work.budget);
    if (problem.pairs < 1) return {};
    if (task_.method == SearchMethod::kScan || problem.pairs * task_.costs.pair < kSmallScanNs ||
        is_scan_cheapest(problem, task_.costs)) {
      return {Step::Kind::kScan};
    }
    const auto codes = static_cast<std::size_t>(problem.codes);
    JoinChoice inherited;
    if (!work.bands.empty()) {
      inherited = choose_levels(problem, work.bands, task_.costs);
      if (worthwhile(inherited)) {  // for uniform codes
        const auto differences = sample_of(work, kSample);
        problem.differences = differences;
        inherited = choose_levels(problem, work.bands, task_.costs);
      } else if (codes < task_.replan_codes) {
        return {Step::Kind::kScan};
      }
    }
    if (worthwhile(inherited) && codes < kAlwaysReplanCodes) return {Step::Kind::kSplit};
    if (work.past != nullptr && codes < task_.replan_codes) return {Step::Kind::kScan};
    const auto differences = sample_of(work, kReplanSample);
    problem.differences = differences;
    JoinPlan plan = plan_join(problem, unused_bits(work.past), task_.costs);
    if (worthwhile(inherited) && inherited.cost_ns <= plan.choice.cost_ns) {
      return {Step::Kind::kSplit};
    }
    if (worthwhile(plan.choice)) return {Step::Kind::kSplit, std::move(plan.bands)};
    return {Step::Kind::kScan};
  }

 private:
  static bool worthwhile(const JoinChoice& choice) {
    return choice.levels > 0 && choice.cost_ns < kWorthwhile * choice.scan_ns;
  }

  std::vector<std::uint64_t> unused_bits(const Past* past) const {
    std::vector<std::uint64_t> unused(task_.words, ~std::uint64_t{0});
    for (; past != nullptr; past = past->before) {
      for (std::size_t w = 0; w < task_.words; ++w) unused[w] &= ~past->band->mask[w];
    }
    return unused;
  }

  std::vector<std::uint64_t> sample_of(const Work& work, std::size_t pairs) const {
    return sample(work.left.codes, task_.self ? work.left.codes : work.right.codes, task_.self,
                  pairs);
  }

  const Task& task_;
};

// Reports progress and checks for stop. Thread-safe.
class Watch {
 public:
  explicit Watch(const SearchOptions& options) : options_(options) {}

  void check_stop() const {
    if (options_.stop && options_.stop())
      throw StoppedError("stopped before the end of the search");
  }
  // Records that a share of the total work is done for `codes` codes.
  void add(double share, std::size_t codes) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    share_ += share;
    constexpr double kAll = 1 - 1e-9;  // shares sum to 1 except for rounding
    const auto done = static_cast<std::uint64_t>(share_ * static_cast<double>(codes));
    options_.progress({share_ < kAll ? done : codes, codes, {}});
  }

 private:
  const SearchOptions& options_;
  std::mutex mutex_;
  double share_ = 0;
};

// Compares the codes of cells that are not split, and reports near pairs.
class Scanner {
 public:
  Scanner(const Task& task, const EdgeSink& sink, Watch& watch)
      : task_(task), sink_(sink), watch_(watch) {}

  void scan(const Work& work) {
    if (task_.self) {
      scan_tiles(work, work.left, work.left, false);
      // Make the longer run the inner one.
    } else if (work.left.codes.count > work.right.codes.count) {
      scan_tiles(work, work.right, work.left, true);
    } else {
      scan_tiles(work, work.left, work.right, false);
    }
  }

  // Reports the remaining edges.
  void finish() {
    for (Local& local : locals_) flush(local);
  }

 private:
  struct Local {
    std::vector<Edge> edges;
    std::array<std::uint32_t, kTileWords> found;
    std::array<std::uint32_t, kTileWords> hits;
    std::array<std::uint32_t, kTileWords> distances;
    std::vector<std::uint64_t> query;
  };

  void scan_tiles(const Work& work, const Cell& queries, const Cell& codes, bool swapped) {
    // Parts take turns. The name decides who begins; otherwise small cells would always go to the
    // same part.
    const auto parts = static_cast<std::uint64_t>(task_.part.count);
    const auto is_mine = [&](std::uint64_t turn) {
      return !work.shared ||
             (work.name + turn) % parts == static_cast<std::uint64_t>(task_.part.index);
    };
    std::size_t tile = std::max<std::size_t>(kTileWords / task_.words, 64);
    if (work.shared) {  // small enough for every part to get some
      const std::size_t longer = std::max(queries.codes.count, codes.codes.count);
      tile = std::clamp<std::size_t>(longer / (2 * parts), 64, tile);
    }
    if (queries.codes.count <= tile && codes.codes.count <= tile) {
      if (is_mine(0)) scan_tile(queries, codes, task_.self, work.differ, swapped);
      return;
    }
    const std::size_t rows = (queries.codes.count + tile - 1) / tile;
    const std::size_t columns = (codes.codes.count + tile - 1) / tile;
    const auto cut = [&](const Cell& cell, std::size_t t) {
      const std::size_t first = t * tile;
      return Cell{cell.codes.part(first, std::min(first + tile, cell.codes.count)),
                  cell.names + first};
    };
    for_each_index(rows * columns, rows * columns >= kParallelTiles, [&](std::size_t pair) {
      const std::size_t x = pair / columns;
      const std::size_t y = pair % columns;
      watch_.check_stop();
      if (work.past == nullptr && y == 0) {
        watch_.add(1.0 / static_cast<double>(rows), queries.codes.count);
      }
      if ((task_.self && x > y) || !is_mine(pair)) return;
      scan_tile(cut(queries, x), cut(codes, y), task_.self && x == y, work.differ, swapped);
    });
  }

  void scan_tile(const Cell& queries, const Cell& codes, bool triangle,
                 std::span<const std::uint64_t> differ, bool swapped) {
    Local& local = locals_.local();
    const auto radius = static_cast<std::uint32_t>(task_.radius);
    const std::size_t found = task_.kernel.candidates(queries.codes.first_words(task_.compared),
                                                      codes.codes.first_words(task_.compared),
                                                      triangle, radius, local.found.data());
    if (found == 0) return;
    local.query.resize(task_.words);
    for (std::size_t f = 0; f < found; ++f) {
      const std::size_t i = local.found[f];
      for (std::size_t w = 0; w < task_.words; ++w) {
        local.query[w] = queries.codes.words[w * queries.codes.stride + i];
      }
      const std::size_t first = triangle ? i + 1 : 0;
      const std::size_t hits = task_.kernel.scan(codes.codes.part(first, codes.codes.count),
                                                 {local.query.data(), radius, differ},
                                                 local.hits.data(), local.distances.data());
      for (std::size_t h = 0; h < hits; ++h) {
        Edge edge{queries.names[i], codes.names[first + local.hits[h]], local.distances[h]};
        if (task_.self ? edge.a > edge.b : swapped) std::swap(edge.a, edge.b);
        local.edges.push_back(edge);
      }
      if (local.edges.size() >= kBatchEdges) flush(local);
    }
  }

  void flush(Local& local) {
    if (local.edges.empty()) return;
    {
      const std::lock_guard lock(sink_mutex_);
      sink_(local.edges);
    }
    local.edges.clear();
  }

  const Task& task_;
  const EdgeSink& sink_;
  Watch& watch_;
  std::mutex sink_mutex_;
  tbb::enumerable_thread_specific<Local> locals_;
};

// Visits a cell and the cells it is divided into.
class Joiner {
 public:
  Joiner(const Task& task, const EdgeSink& sink, const SearchOptions& options)
      : task_(task), planner_(task), watch_(options), scanner_(task, sink, watch_) {}

  // Processes the whole; returns the number that identifies how work was divided.
  std::uint64_t run(const Work& whole) {
    visit(whole);
    scanner_.finish();
    return division_;
  }

 private:
  void visit(const Work& work) {
    watch_.check_stop();
    const Step step = planner_.step_of(work);
    if (step.kind == Step::Kind::kScan) {
      if (work.shared) division_ += digest_of(work.name, ~std::uint64_t{0});
      scanner_.scan(work);
    } else if (step.kind == Step::Kind::kSplit) {
      Work by_bands = work;
      if (!step.bands.empty()) by_bands.bands = step.bands;
      split(by_bands);
    }
  }

  void split(Work work) {
    const std::size_t codes = work.left.codes.count + (task_.self ? 0 : work.right.codes.count);
    std::unique_ptr<Partition> left;
    std::unique_ptr<Partition> right;
    std::vector<std::uint64_t> loads(work.shared ? static_cast<std::size_t>(task_.part.count) : 0);
    std::vector<std::uint64_t> differ(work.differ.begin(), work.differ.end());
    std::vector<Past> past(static_cast<std::size_t>(work.budget) + 1);
    for (int i = 0; i <= work.budget; ++i) {
      const auto next = static_cast<std::size_t>(i);
      const Band& band = work.bands[next];
      std::vector<std::uint32_t> owners;
      if (work.shared) {
        owners = fill_shared(work, next, loads, left, right);
      } else {
        fill(work.left, band, left);
        if (!task_.self) fill(work.right, band, right);
      }
      past[next] = {&band, i == 0 ? work.past : &past[next - 1]};
      for_each_index(std::size_t{1} << band.bits.size(), codes >= kParallelCodes,
                     [&](std::size_t bucket) {
                       Work part{left->bucket(bucket), {},          work.bands.subspan(next + 1),
                                 work.budget - i,      &past[next], differ};
                       if (!task_.self) part.right = right->bucket(bucket);
                       part.shared = work.shared && owners[bucket] == kAllParts;
                       if (part.shared) {
                         part.name = digest_of(work.name, next << 32 | bucket);
                         part.large = work.large;
                       }
                       visit(part);
                       if (work.past == nullptr) {
                         watch_.add(share_of(work.budget, i) * left->share_of(bucket), codes);
                       }
                     });
      differ.insert(differ.end(), band.mask.begin(), band.mask.end());
    }
    spares_.local().give(std::move(left));
    if (right) spares_.local().give(std::move(right));
  }

  // The share of a split's work in band number `i` of budget + 1; later bands have less budget.
  static double share_of(int budget, int i) noexcept {
    return 2.0 * (budget + 1 - i) / ((budget + 1.0) * (budget + 2.0));
  }

  // Divides a cell into the buckets of a band.
  void fill(const Cell& cell, const Band& band, std::unique_ptr<Partition>& into) {
    Spares& spares = spares_.local();
    if (into && into->capacity() < cell.codes.count) spares.give(std::move(into));
    if (!into) into = spares.take(cell.codes.count, task_.words);
    into->fill(cell, band, task_.kernel);
  }

  // Divides this part's share of a shared cell, and assigns each bucket to a part. All parts decide
  // the same.
  std::vector<std::uint32_t> fill_shared(Work& work, std::size_t next,
                                         std::vector<std::uint64_t>& loads,
                                         std::unique_ptr<Partition>& left,
                                         std::unique_ptr<Partition>& right) {
    const Band& band = work.bands[next];
    const Keys left_keys(work.left, band, task_.kernel);
    std::optional<Keys> right_keys;
    if (!task_.self) right_keys.emplace(work.right, band, task_.kernel);
    std::vector<std::uint64_t> costs(left_keys.buckets());
    for (std::size_t bucket = 0; bucket < costs.size(); ++bucket) {
      const JoinCase problem = task_.case_of(
          left_keys.count(bucket), right_keys ? right_keys->count(bucket) : 0, work.budget);
      // The cost of a scan. Where codes are alike it may come to a scan; elsewhere buckets are of
      // equal size, so only the ratio matters.
      const double cost = problem.pairs * task_.costs.pair + problem.codes * task_.costs.move;
      if (problem.pairs >= 1) costs[bucket] = 1 + static_cast<std::uint64_t>(std::llround(cost));
    }
    if (work.large == 0) {  // the first one; as many bands as the budget are still to come
      const std::uint64_t all = std::accumulate(costs.begin(), costs.end(), std::uint64_t{0}) *
                                (static_cast<std::uint64_t>(work.budget) + 1);
      work.large = all / (8 * loads.size()) + 1;
    }
    std::vector<std::uint32_t> owners = share_out(costs, work.large, loads);
    const std::uint64_t bits = xxh3_64(std::as_bytes(std::span(band.mask)));
    division_ += digest_of(digest_of(work.name, next), bits,
                           std::as_bytes(std::span(std::as_const(owners))));
    std::vector<std::uint8_t> wanted;
    for (std::uint32_t& owner : owners) {
      // Parts take turns in being first; otherwise small cells would always go to the same part.
      if (owner < loads.size())
        owner = static_cast<std::uint32_t>((work.name + owner) % loads.size());
      wanted.push_back(owner == kAllParts || owner == static_cast<std::uint32_t>(task_.part.index));
    }
    fill(Excerpt(work.left, left_keys, wanted).cell(), band, left);
    if (right_keys) fill(Excerpt(work.right, *right_keys, wanted).cell(), band, right);
    return owners;
  }

  const Task& task_;
  const Planner planner_;
  Watch watch_;
  Scanner scanner_;
  // Sum of the hashes of decisions about shared work.
  std::atomic<std::uint64_t> division_ = 0;
  tbb::enumerable_thread_specific<Spares> spares_;
};

}  // namespace

std::uint64_t join(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
                   const SearchPart& part, const SearchOptions& options, const EdgeSink& sink) {
  const Task task = task_of(left, right, radius, part, options);
  Work whole{{left.codes, left.names}, {}, {}, radius, nullptr, {}};
  if (right) whole.right = {right->codes, right->names};
  whole.shared = part.count > 1;
  return Joiner(task, sink, options).run(whole);
}

}  // namespace winnow::dedup
