#include "dedup/search/join.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

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
#include "dedup/search/plan.h"

namespace winnow::dedup {
namespace {

// A plane of a tile (16 KiB) and one of its partner's stay in a core's first-level cache.
constexpr std::size_t kTileWords = 2048;
constexpr std::size_t kBatchEdges = 16384;
// Cells from which work is divided: partitions by chunks, buckets and tiles among threads.
constexpr std::size_t kChunkCodes = 1 << 17;
constexpr std::size_t kParallelCodes = 1 << 16;
constexpr std::size_t kParallelTiles = 64;
// What a scan must take before a cell is looked at, and what a plan must save to be followed.
constexpr double kSmallScanNs = 2000;
constexpr double kWorthwhile = 0.8;
// A cell that gets bands of its own, if those it inherits serve it ill; if they do not.
constexpr std::size_t kReplanCodes = 1 << 12;
constexpr std::size_t kAlwaysReplanCodes = 1 << 17;
constexpr std::size_t kSample = 256;
constexpr std::size_t kReplanSample = 1024;

// Runs body(0..count - 1), in parallel if asked for. A thread that waits here takes no work from
// outside, which would need memory of its own on top.
template <class Body>
void for_each_index(std::size_t count, bool parallel, const Body& body) {
  if (!parallel) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, count, body); });
}

// Codes that agree in some bands.
struct Cell {
  CodePlanes codes;
  const std::uint32_t* names;
};

// In which of a band's buckets the codes of a cell are.
class Keys {
 public:
  Keys(const Cell& cell, const Band& band, const ScanKernel& kernel)
      : codes_(cell.codes.count),
        buckets_(std::size_t{1} << band.bits.size()),
        keys_(std::make_unique_for_overwrite<std::uint16_t[]>(codes_)),
        counts_(chunks() * buckets_) {
    for_each_index(chunks(), chunks() > 1, [&](std::size_t c) {
      const auto [first, last] = chunk(c);
      kernel.gather_bits(cell.codes.part(first, last), band.bits, keys_.get() + first);
      std::uint32_t* counts = counts_.data() + c * buckets_;
      for (std::size_t j = first; j < last; ++j) ++counts[keys_[j]];
    });
  }

  std::size_t chunks() const noexcept { return (codes_ + kChunkCodes - 1) / kChunkCodes; }
  std::pair<std::size_t, std::size_t> chunk(std::size_t c) const noexcept {
    return {c * kChunkCodes, std::min((c + 1) * kChunkCodes, codes_)};
  }
  std::uint16_t operator[](std::size_t code) const noexcept { return keys_[code]; }
  std::size_t buckets() const noexcept { return buckets_; }
  std::uint32_t count(std::size_t c, std::size_t bucket) const noexcept {
    return counts_[c * buckets_ + bucket];
  }
  std::size_t count(std::size_t bucket) const noexcept {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < chunks(); ++c) sum += count(c, bucket);
    return sum;
  }

 private:
  std::size_t codes_;
  std::size_t buckets_;
  std::unique_ptr<std::uint16_t[]> keys_;
  std::vector<std::uint32_t> counts_;  // of each chunk
};

// The codes of a cell that are in some of a band's buckets, in their order.
class Excerpt {
 public:
  // `wanted`: by bucket, 1 or 0.
  Excerpt(const Cell& cell, const Keys& keys, const std::vector<std::uint8_t>& wanted)
      : words_per_code_(cell.codes.words_per_code) {
    std::vector<std::size_t> ends(keys.chunks());
    for (std::size_t c = 0; c < ends.size(); ++c) {
      for (std::size_t b = 0; b < keys.buckets(); ++b) count_ += wanted[b] * keys.count(c, b);
      ends[c] = count_;
    }
    words_ = std::make_unique_for_overwrite<std::uint64_t[]>(count_ * words_per_code_);
    names_ = std::make_unique_for_overwrite<std::uint32_t[]>(count_);
    for_each_index(ends.size(), ends.size() > 1, [&](std::size_t c) {
      std::size_t to = c == 0 ? 0 : ends[c - 1];
      // What is not wanted is written over.
      for (std::size_t j = keys.chunk(c).first; to < ends[c]; ++j) {
        names_[to] = cell.names[j];
        for (std::size_t w = 0; w < words_per_code_; ++w) {
          words_[w * count_ + to] = cell.codes.words[w * cell.codes.stride + j];
        }
        to += wanted[keys[j]];
      }
    });
  }
  Cell cell() const noexcept {
    return {{words_.get(), count_, words_per_code_, count_}, names_.get()};
  }

 private:
  std::size_t words_per_code_;
  std::size_t count_ = 0;
  std::unique_ptr<std::uint64_t[]> words_;
  std::unique_ptr<std::uint32_t[]> names_;
};

// A cell in the order of one band's bits, cut into buckets.
class Partition {
 public:
  Partition(std::size_t capacity, std::size_t words_per_code)
      : capacity_(capacity),
        words_per_code_(words_per_code),
        words_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity * words_per_code)),
        names_(std::make_unique_for_overwrite<std::uint32_t[]>(capacity)),
        keys_(std::make_unique_for_overwrite<std::uint16_t[]>(capacity)) {}

  std::size_t capacity() const noexcept { return capacity_; }
  // Of the codes, those in a bucket.
  double share_of(std::size_t bucket) const noexcept {
    const double codes = std::max<std::uint32_t>(offsets_.back(), 1);
    return (offsets_[bucket + 1] - offsets_[bucket]) / codes;
  }

  // The cell has capacity() codes at most.
  void fill(const Cell& cell, const Band& band, const ScanKernel& kernel) {
    const std::size_t codes = cell.codes.count;
    const std::size_t buckets = std::size_t{1} << band.bits.size();
    const std::size_t chunks = (codes + kChunkCodes - 1) / kChunkCodes;
    const auto chunk = [&](std::size_t c) {
      return std::pair(c * kChunkCodes, std::min((c + 1) * kChunkCodes, codes));
    };
    starts_.assign(chunks * buckets, 0);
    for_each_index(chunks, chunks > 1, [&](std::size_t c) {
      const auto [first, last] = chunk(c);
      kernel.gather_bits(cell.codes.part(first, last), band.bits, keys_.get() + first);
      std::uint32_t* counts = starts_.data() + c * buckets;
      for (std::size_t j = first; j < last; ++j) ++counts[keys_[j]];
    });
    offsets_.resize(buckets + 1);
    std::uint32_t at = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      offsets_[bucket] = at;
      for (std::size_t c = 0; c < chunks; ++c) {
        at += std::exchange(starts_[c * buckets + bucket], at);
      }
    }
    offsets_[buckets] = at;
    for_each_index(chunks, chunks > 1, [&](std::size_t c) {
      const auto [first, last] = chunk(c);
      move(cell, first, last, starts_.data() + c * buckets);
    });
  }

  Cell bucket(std::size_t b) const noexcept {
    const std::size_t first = offsets_[b];
    return {{words_.get() + first, capacity_, words_per_code_, offsets_[b + 1] - first},
            names_.get() + first};
  }

 private:
  // Moves codes [first, last) to where their buckets' codes belong, `to`.
  void move(const Cell& cell, std::size_t first, std::size_t last, std::uint32_t* to) {
    const std::uint16_t* keys = keys_.get();
    const std::uint64_t* codes = cell.codes.words;
    const std::uint32_t* names = cell.names;
    std::uint64_t* moved_codes = words_.get();
    std::uint32_t* moved_names = names_.get();
    const std::size_t words = words_per_code_;
    const std::size_t stride = cell.codes.stride;
    const std::size_t moved_stride = capacity_;
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t place = to[keys[j]]++;
      moved_names[place] = names[j];
      moved_codes[place] = codes[j];
      for (std::size_t w = 1; w < words; ++w) {
        moved_codes[w * moved_stride + place] = codes[w * stride + j];
      }
    }
  }

  std::size_t capacity_;
  std::size_t words_per_code_;
  std::unique_ptr<std::uint64_t[]> words_;
  std::unique_ptr<std::uint32_t[]> names_;
  std::unique_ptr<std::uint16_t[]> keys_;
  std::vector<std::uint32_t> starts_;  // of each bucket's codes of each chunk
  std::vector<std::uint32_t> offsets_;
};

// Partitions of one thread that nobody uses just now: their memory is not asked of the system, and
// cleared by it, for every cell again.
class Spares {
 public:
  std::unique_ptr<Partition> take(std::size_t codes, std::size_t words_per_code) {
    for (auto& spare : spares_) {
      if (spare->capacity() < codes || spare->capacity() > 8 * codes) continue;
      std::swap(spare, spares_.back());
      std::unique_ptr<Partition> taken = std::move(spares_.back());
      spares_.pop_back();
      return taken;
    }
    return std::make_unique<Partition>(codes + codes / 4, words_per_code);
  }
  void give(std::unique_ptr<Partition> partition) {
    if (partition->capacity() <= kLargest && spares_.size() < kMost) {
      spares_.push_back(std::move(partition));
    }
  }

 private:
  static constexpr std::size_t kLargest = std::size_t{1} << 18;
  static constexpr std::size_t kMost = 8;
  std::vector<std::unique_ptr<Partition>> spares_;
};

// The bands that a cell was parted by, from it back to the whole.
struct Past {
  const Band* band;
  const Past* before;
};

struct Work {
  Cell left;
  Cell right;  // not used in a join of one side with itself
  std::span<const Band> bands;
  int budget;
  const Past* past;
  std::span<const std::uint64_t>
      differ;               // the masks of the bands that pairs differ in: others were found before
  bool shared = false;      // with the other parts of the search; else all of it is this one's
  std::uint64_t name = 0;   // of what is shared, the same in all parts
  std::uint64_t large = 0;  // what costs more is shared again; 0: not known yet
};

// A number that says what all of these say, in their order.
std::uint64_t digest_of(std::uint64_t name, std::uint64_t number,
                        std::span<const std::byte> more = {}) {
  const std::array<std::uint64_t, 3> all{name, number, xxh3_64(more)};
  return xxh3_64(std::as_bytes(std::span(all)));
}

// Tells how far a search is, and ends it when that is asked for. Safe from many threads.
class Watch {
 public:
  explicit Watch(const SearchOptions& options) : options_(options) {}

  void check_stop() const {
    if (options_.stop && options_.stop())
      throw StoppedError("stopped before the end of the search");
  }
  // Of `codes`, a share of all that is to be done is done.
  void add(double share, std::size_t codes) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    share_ = std::min(1.0, share_ + share);
    options_.progress({static_cast<std::uint64_t>(share_ * static_cast<double>(codes)), codes, {}});
  }

 private:
  const SearchOptions& options_;
  std::mutex mutex_;
  double share_ = 0;
};

class Joiner {
 public:
  Joiner(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
         const SearchPart& part, const SearchOptions& options, const EdgeSink& sink)
      : left_(left),
        right_(right),
        part_(part),
        words_(left.codes.words_per_code),
        radius_(radius),
        method_(options.method),
        kernel_(kernel_of(options)),
        costs_(join_costs(kernel_.pair_ns * static_cast<double>(words_to_compare(
                                                words_, static_cast<std::uint32_t>(radius))),
                          words_)),
        replan_codes_(kReplanCodes),
        sink_(sink),
        watch_(options) {
    if (options.method == SearchMethod::kJoin) {
      costs_.pair = 50;  // so that partitions are cheaper
      replan_codes_ = 0;
    }
  }

  std::uint64_t run() {
    Work all{{left_.codes, left_.names}, {}, {}, radius_, nullptr, {}};
    if (right_) all.right = {right_->codes, right_->names};
    all.shared = part_.count > 1;
    visit(all);
    for (Local& local : locals_) flush(local);
    return division_;
  }

 private:
  struct Local {
    std::vector<Edge> edges;
    std::array<std::uint32_t, kTileWords> found;
    std::array<std::uint32_t, kTileWords> hits;
    std::array<std::uint32_t, kTileWords> distances;
    std::vector<std::uint64_t> query;
    Spares spares;
  };

  static const ScanKernel& kernel_of(const SearchOptions& options) {
    for (const ScanKernel& kernel : scan_kernels()) {
      if (kernel.name == options.kernel && kernel.runs_here()) return kernel;
    }
    return best_scan_kernel();
  }

  bool self() const noexcept { return !right_; }

  JoinCase case_of(const Work& work) const {
    return case_of(work.left.codes.count, self() ? 0 : work.right.codes.count, work.budget);
  }
  JoinCase case_of(std::size_t of_left, std::size_t of_right, int budget) const {
    const auto left = static_cast<double>(of_left);
    const auto right = static_cast<double>(of_right);
    return {.codes = self() ? left : left + right,
            .pairs = self() ? left * (left - 1) / 2 : left * right,
            .words_per_code = words_,
            .radius = radius_,
            .budget = budget,
            .differences = {}};
  }

  void visit(const Work& work) {
    JoinCase problem = case_of(work);
    if (problem.pairs < 1) return;
    watch_.check_stop();
    if (method_ == SearchMethod::kScan || problem.pairs * costs_.pair < kSmallScanNs) {
      scan(work);
      return;
    }
    const auto worthwhile = [&](const JoinChoice& choice) {
      return choice.levels > 0 && choice.cost_ns < kWorthwhile * choice.scan_ns;
    };
    const auto codes = static_cast<std::size_t>(problem.codes);
    JoinChoice inherited;
    if (!work.bands.empty()) {
      inherited = choose_levels(problem, work.bands, costs_);
      if (worthwhile(inherited)) {  // were the codes uniform
        const auto differences = sample(work, kSample);
        problem.differences = differences;
        inherited = choose_levels(problem, work.bands, costs_);
      } else if (codes < replan_codes_) {
        scan(work);
        return;
      }
    }
    if (worthwhile(inherited) && codes < kAlwaysReplanCodes) {
      split(work);
      return;
    }
    if (work.past != nullptr && codes < replan_codes_) {
      scan(work);
      return;
    }
    const auto differences = sample(work, kReplanSample);
    problem.differences = differences;
    const JoinPlan plan = plan_join(problem, unused_bits(work.past), costs_);
    if (worthwhile(inherited) && inherited.cost_ns <= plan.choice.cost_ns) {
      split(work);
    } else if (worthwhile(plan.choice)) {
      Work replanned = work;
      replanned.bands = plan.bands;
      split(replanned);
    } else {
      scan(work);
    }
  }

  std::vector<std::uint64_t> unused_bits(const Past* past) const {
    std::vector<std::uint64_t> unused(words_, ~std::uint64_t{0});
    for (; past != nullptr; past = past->before) {
      for (std::size_t w = 0; w < words_; ++w) unused[w] &= ~past->band->mask[w];
    }
    return unused;
  }

  // Pairs spread over the cell by two additive sequences, those of a code with itself left out.
  std::vector<std::uint64_t> sample(const Work& work, std::size_t pairs) const {
    const CodePlanes& a = work.left.codes;
    const CodePlanes& b = self() ? a : work.right.codes;
    std::vector<std::uint64_t> differences;
    differences.reserve(pairs * words_);
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      x += 0x9E3779B97F4A7C15;
      y += 0xD1B54A32D192ED03;
      const std::size_t of_a = static_cast<std::size_t>(((x >> 32) * a.count) >> 32);
      const std::size_t of_b = static_cast<std::size_t>(((y >> 32) * b.count) >> 32);
      if (self() && of_a == of_b) continue;
      for (std::size_t w = 0; w < words_; ++w) {
        differences.push_back(a.words[w * a.stride + of_a] ^ b.words[w * b.stride + of_b]);
      }
    }
    return differences;
  }

  void split(Work work) {
    const std::size_t codes = work.left.codes.count + (self() ? 0 : work.right.codes.count);
    std::unique_ptr<Partition> left;
    std::unique_ptr<Partition> right;
    std::vector<std::uint64_t> loads(work.shared ? static_cast<std::size_t>(part_.count) : 0);
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
        if (!self()) fill(work.right, band, right);
      }
      past[next] = {&band, i == 0 ? work.past : &past[next - 1]};
      for_each_index(std::size_t{1} << band.bits.size(), codes >= kParallelCodes,
                     [&](std::size_t bucket) {
                       Work part{left->bucket(bucket), {},          work.bands.subspan(next + 1),
                                 work.budget - i,      &past[next], differ};
                       if (!self()) part.right = right->bucket(bucket);
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
    locals_.local().spares.give(std::move(left));
    if (right) locals_.local().spares.give(std::move(right));
  }

  // Of the work of a split, that of band number `i` of budget + 1, behind which fewer are left.
  static double share_of(int budget, int i) noexcept {
    return 2.0 * (budget + 1 - i) / ((budget + 1.0) * (budget + 2.0));
  }

  // Cuts a cell into the buckets of a band.
  void fill(const Cell& cell, const Band& band, std::unique_ptr<Partition>& into) {
    Spares& spares = locals_.local().spares;
    if (into && into->capacity() < cell.codes.count) spares.give(std::move(into));
    if (!into) into = spares.take(cell.codes.count, words_);
    into->fill(cell, band, kernel_);
  }

  // Cuts what is this part's of a cell that the parts share; says who visits each bucket. All parts
  // decide that alike.
  std::vector<std::uint32_t> fill_shared(Work& work, std::size_t next,
                                         std::vector<std::uint64_t>& loads,
                                         std::unique_ptr<Partition>& left,
                                         std::unique_ptr<Partition>& right) {
    const Band& band = work.bands[next];
    const Keys left_keys(work.left, band, kernel_);
    std::optional<Keys> right_keys;
    if (!self()) right_keys.emplace(work.right, band, kernel_);
    std::vector<std::uint64_t> costs(left_keys.buckets());
    for (std::size_t bucket = 0; bucket < costs.size(); ++bucket) {
      const JoinCase problem =
          case_of(left_keys.count(bucket), right_keys ? right_keys->count(bucket) : 0, work.budget);
      // By a scan: where codes are alike it may come to that, and where they are not, buckets are
      // of one size.
      const double cost = problem.pairs * costs_.pair + problem.codes * costs_.move;
      if (problem.pairs >= 1) costs[bucket] = 1 + static_cast<std::uint64_t>(std::llround(cost));
    }
    if (work.large == 0) {  // the first; there are as many bands as this still to come
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
      // Parts take turns in being the first, or small cells would be one's.
      if (owner < loads.size())
        owner = static_cast<std::uint32_t>((work.name + owner) % loads.size());
      wanted.push_back(owner == kAllParts || owner == static_cast<std::uint32_t>(part_.index));
    }
    fill(Excerpt(work.left, left_keys, wanted).cell(), band, left);
    if (right_keys) fill(Excerpt(work.right, *right_keys, wanted).cell(), band, right);
    return owners;
  }

  void scan(const Work& work) {
    if (work.shared) division_ += digest_of(work.name, ~std::uint64_t{0});
    if (self()) {
      scan_tiles(work, work.left, work.left, false);
    } else if (work.left.codes.count > work.right.codes.count) {  // the longer run is the inner one
      scan_tiles(work, work.right, work.left, true);
    } else {
      scan_tiles(work, work.left, work.right, false);
    }
  }

  void scan_tiles(const Work& work, const Cell& queries, const Cell& codes, bool swapped) {
    // Parts of a search take turns; who begins is told by the name, or small cells would be one's.
    const auto parts = static_cast<std::uint64_t>(part_.count);
    const auto is_mine = [&](std::uint64_t turn) {
      return !work.shared || (work.name + turn) % parts == static_cast<std::uint64_t>(part_.index);
    };
    std::size_t tile = std::max<std::size_t>(kTileWords / words_, 64);
    if (work.shared) {  // so small that there are some for each
      const std::size_t longer = std::max(queries.codes.count, codes.codes.count);
      tile = std::clamp<std::size_t>(longer / (2 * parts), 64, tile);
    }
    if (queries.codes.count <= tile && codes.codes.count <= tile) {
      if (is_mine(0)) scan_tile(queries, codes, self(), work.differ, swapped);
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
      if ((self() && x > y) || !is_mine(pair)) return;
      scan_tile(cut(queries, x), cut(codes, y), self() && x == y, work.differ, swapped);
    });
  }

  void scan_tile(const Cell& queries, const Cell& codes, bool triangle,
                 std::span<const std::uint64_t> differ, bool swapped) {
    Local& local = locals_.local();
    const auto radius = static_cast<std::uint32_t>(radius_);
    const std::size_t found =
        kernel_.candidates(queries.codes, codes.codes, triangle, radius, local.found.data());
    if (found == 0) return;
    local.query.resize(words_);
    for (std::size_t f = 0; f < found; ++f) {
      const std::size_t i = local.found[f];
      for (std::size_t w = 0; w < words_; ++w) {
        local.query[w] = queries.codes.words[w * queries.codes.stride + i];
      }
      const std::size_t first = triangle ? i + 1 : 0;
      const std::size_t hits = kernel_.scan(codes.codes.part(first, codes.codes.count),
                                            {local.query.data(), radius, differ}, local.hits.data(),
                                            local.distances.data());
      for (std::size_t h = 0; h < hits; ++h) {
        Edge edge{queries.names[i], codes.names[first + local.hits[h]], local.distances[h]};
        if (self() ? edge.a > edge.b : swapped) std::swap(edge.a, edge.b);
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

  const JoinSide& left_;
  const std::optional<JoinSide>& right_;
  SearchPart part_;
  std::size_t words_;
  int radius_;
  SearchMethod method_;
  const ScanKernel& kernel_;
  JoinCosts costs_;
  std::size_t replan_codes_;
  const EdgeSink& sink_;
  std::mutex sink_mutex_;
  Watch watch_;
  std::atomic<std::uint64_t> division_ =
      0;  // a sum of digests of what was decided about shared work
  tbb::enumerable_thread_specific<Local> locals_;
};

}  // namespace

std::uint64_t join(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
                   const SearchPart& part, const SearchOptions& options, const EdgeSink& sink) {
  return Joiner(left, right, radius, part, options, sink).run();
}

}  // namespace winnow::dedup
