#include "dedup/search/scan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dedup/search/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

CodeRun run_of(const CodePlanes& codes) noexcept {
  return {codes.words, codes.stride, codes.words_per_code, codes.count};
}

}  // namespace

std::size_t words_to_compare(std::size_t words_per_code, std::uint32_t radius,
                             std::span<const std::uint64_t> differences) noexcept {
  constexpr double kFewPairs = 64;
  const double pairs =
      static_cast<double>(differences.size()) / static_cast<double>(words_per_code);
  for (const std::size_t words : {1U, 2U, 4U}) {
    if (words >= words_per_code) break;
    // Random words differ in 32 bits each, with a deviation of four.
    double mean = 32.0 * static_cast<double>(words);
    double deviation = 4.0 * std::sqrt(static_cast<double>(words));
    if (pairs >= kFewPairs) {
      double sum = 0;
      double squares = 0;
      for (std::size_t at = 0; at < differences.size(); at += words_per_code) {
        int bits = 0;
        for (std::size_t w = 0; w < words; ++w) bits += std::popcount(differences[at + w]);
        sum += bits;
        squares += static_cast<double>(bits) * bits;
      }
      mean = sum / pairs;
      deviation = std::max(deviation, std::sqrt(std::max(0.0, squares / pairs - mean * mean)));
    }
    if (radius <= mean - 5 * deviation) return words;
  }
  return words_per_code;
}

std::size_t ScanKernel::scan(const CodePlanes& codes, const ScanQuery& query, std::uint32_t* hits,
                             std::uint32_t* distances) const noexcept {
  return loops->scan(
      run_of(codes),
      {query.words, query.radius, query.differ.data(), query.differ.size() / codes.words_per_code},
      hits, distances);
}

std::size_t ScanKernel::candidates(const CodePlanes& queries, const CodePlanes& codes,
                                   bool triangle, std::uint32_t radius,
                                   std::uint32_t* found) const noexcept {
  return loops->candidates(run_of(queries), run_of(codes), triangle, radius, found);
}

void ScanKernel::gather_bits(const CodePlanes& codes, std::span<const std::uint16_t> bits,
                             std::uint16_t* keys) const noexcept {
  loops->gather_bits(run_of(codes), bits.data(), bits.size(), keys);
}

const ScanKernel& best_scan_kernel() noexcept {
  const auto kernels = scan_kernels();
  return *std::find_if(kernels.begin(), kernels.end() - 1,
                       [](const ScanKernel& kernel) { return kernel.runs_here(); });
}

}  // namespace winnow::dedup
