#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dedup/search/plan.h"
#include "dedup/search/scan.h"

// The cells into which a search divides its codes; see plan.h.
namespace winnow::dedup {

// Number of codes of a cell that one thread counts and moves at once.
inline constexpr std::size_t kChunkCodes = 1 << 17;

// Runs body(0..count - 1), in parallel on request. A waiting thread takes no outside work, which
// would need additional memory.
template <class Body>
void for_each_index(std::size_t count, bool parallel, const Body& body) {
  if (!parallel) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, count, body); });
}

// A cell: codes that agree in some bands.
struct Cell {
  CodePlanes codes;
  const std::uint32_t* names;
};

// Sorts the codes of a cell into the buckets of a band: says which bucket each code is in.
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
  std::vector<std::uint32_t> counts_;  // for each chunk
};

// The codes of a cell that are in some buckets of a band, in order.
class Excerpt {
 public:
  // wanted  For each bucket 1 or 0.
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
      // Without branches: unwanted entries are overwritten by the next one.
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

// A cell sorted by one band's bits, divided into buckets.
class Partition {
 public:
  Partition(std::size_t capacity, std::size_t words_per_code)
      : capacity_(capacity),
        words_per_code_(words_per_code),
        words_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity * words_per_code)),
        names_(std::make_unique_for_overwrite<std::uint32_t[]>(capacity)),
        keys_(std::make_unique_for_overwrite<std::uint16_t[]>(capacity)) {}

  std::size_t capacity() const noexcept { return capacity_; }
  // The share of the cell's codes that is in a bucket.
  double share_of(std::size_t bucket) const noexcept {
    const double codes = std::max<std::uint32_t>(offsets_.back(), 1);
    return (offsets_[bucket + 1] - offsets_[bucket]) / codes;
  }

  // Divides a cell, which has at most capacity() codes.
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
  // Moves codes [first, last) to the next free places of their buckets, `to`.
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
  std::vector<std::uint32_t> starts_;  // where the codes of each bucket begin, for each chunk
  std::vector<std::uint32_t> offsets_;
};

// Partitions of one thread that are not in use, kept to avoid allocating and clearing their memory
// for every cell.
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

}  // namespace winnow::dedup
