#include "dedup/index/index.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "dedup/index/scan.h"

namespace winnow::dedup {
namespace {

// A block of 64-bit codes (16 KiB) and one of its partner's stay in a core's first-level cache.
constexpr std::size_t kBlockCodes = 2048;

Edge make_edge(std::uint32_t a, std::uint32_t b, std::uint32_t distance) {
  return {std::min(a, b), std::max(a, b), distance};
}

// Sorts rows by key, equal keys by row, and calls `first(row)` for the first row of every key and
// `again(first_row, row)` for the others.
template <class KeyLess, class First, class Again>
void for_each_run(std::span<const std::uint32_t> rows, const KeyLess& less, const First& first,
                  const Again& again) {
  std::vector<std::uint32_t> sorted(rows.begin(), rows.end());
  tbb::parallel_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (less(a, b)) return true;
    return !less(b, a) && a < b;
  });
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t i = begin;
    first(sorted[begin]);
    while (++i < sorted.size() && !less(sorted[begin], sorted[i])) again(sorted[begin], sorted[i]);
    begin = i;
  }
}

// The distinct codes of a column, as planes, with the first row that has each.
struct DistinctCodes {
  std::vector<std::uint64_t> words;  // plane w: words[w * rows.size() + j]
  std::vector<std::uint32_t> rows;
  std::size_t words_per_code;

  CodePlanes planes() const noexcept { return {words.data(), rows.size(), words_per_code}; }
};

DistinctCodes planes_of(const CodeColumn& codes, std::vector<std::uint32_t> rows) {
  const std::size_t per_code = codes.words_per_code();
  DistinctCodes out{std::vector<std::uint64_t>(rows.size() * per_code), std::move(rows), per_code};
  for (std::size_t j = 0; j < out.rows.size(); ++j) {
    for (std::size_t w = 0; w < per_code; ++w) {
      out.words[w * out.rows.size() + j] = codes.words[out.rows[j] * per_code + w];
    }
  }
  return out;
}

// Appends the edges between codes of blocks x and y, x <= y.
void scan_blocks(const DistinctCodes& codes, std::size_t x, std::size_t y, std::uint32_t radius,
                 const ScanKernel& kernel, std::vector<Edge>& edges) {
  const CodePlanes planes = codes.planes();
  const std::size_t end_x = std::min((x + 1) * kBlockCodes, planes.stride);
  const std::size_t end_y = std::min((y + 1) * kBlockCodes, planes.stride);
  std::array<std::uint32_t, kBlockCodes> hits;
  std::vector<std::uint64_t> query(planes.words_per_code);
  for (std::size_t i = x * kBlockCodes; i < end_x; ++i) {
    for (std::size_t w = 0; w < query.size(); ++w) query[w] = planes.words[w * planes.stride + i];
    const std::size_t first = x == y ? i + 1 : y * kBlockCodes;
    const std::size_t count = kernel.scan(planes, first, end_y, query.data(), radius, hits.data());
    for (std::size_t k = 0; k < count; ++k) {
      std::uint32_t bits = 0;
      for (std::size_t w = 0; w < query.size(); ++w) {
        bits += static_cast<std::uint32_t>(
            std::popcount(query[w] ^ planes.words[w * planes.stride + hits[k]]));
      }
      edges.push_back(make_edge(codes.rows[i], codes.rows[hits[k]], bits));
    }
  }
}

}  // namespace

const ScanKernel& best_scan_kernel() noexcept {
  const auto kernels = scan_kernels();
  return *std::find_if(kernels.begin(), kernels.end() - 1,
                       [](const ScanKernel& kernel) { return kernel.runs_here(); });
}

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept {
  int bits = 0;
  for (std::size_t w = 0; w < a.size(); ++w) bits += std::popcount(a[w] ^ b[w]);
  return bits;
}

std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius) {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> first_rows;
  for_each_run(
      rows,
      [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::lexicographical_compare(codes.code(a), codes.code(b));
      },
      [&](std::uint32_t row) {
        if (radius > 0) first_rows.push_back(row);
      },
      [&](std::uint32_t first, std::uint32_t row) {
        edges.push_back({first, row, 0});
      });

  if (radius > 0) {
    const DistinctCodes distinct = planes_of(codes, std::move(first_rows));
    const std::size_t blocks = (distinct.rows.size() + kBlockCodes - 1) / kBlockCodes;
    const ScanKernel& kernel = best_scan_kernel();
    tbb::enumerable_thread_specific<std::vector<Edge>> found;
    tbb::parallel_for(std::size_t{0}, blocks * blocks, [&](std::size_t pair) {
      const std::size_t x = pair / blocks;
      const std::size_t y = pair % blocks;
      if (x > y) return;
      scan_blocks(distinct, x, y, static_cast<std::uint32_t>(radius), kernel, found.local());
    });
    for (const std::vector<Edge>& part : found) edges.insert(edges.end(), part.begin(), part.end());
  }
  // Edges are distinct, so sorting takes away the order in which threads found them.
  tbb::parallel_sort(edges.begin(), edges.end());
  return edges;
}

std::vector<Edge> equal_edges(std::span<const Hash128> hashes,
                              std::span<const std::uint32_t> rows) {
  std::vector<Edge> edges;
  for_each_run(
      rows, [&](std::uint32_t a, std::uint32_t b) { return hashes[a] < hashes[b]; },
      [](std::uint32_t) {},
      [&](std::uint32_t first, std::uint32_t row) {
        edges.push_back({first, row, 0});
      });
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace winnow::dedup
