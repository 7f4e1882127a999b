#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/progress.h"
#include "common/stop.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Rows a < b of a table that are `distance` bits apart. Between two tables: row a of the first and
// row b of the second.
struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t distance;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept;

// Distance in bits between two images, given their rows of a column.
// One orientation  hamming().
// 2 or 8           The minimum between the first code of either image and any code of the other.
//                  Orientation 6 is left out, because a picture turned to the right has the other
//                  turned to the left, which is orientation 5.
// Symmetric, but not a metric: the codes of a turned picture are not a permutation of the same
// bits.
int code_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  int orientations) noexcept;
int row_distance(const CodeColumn& codes, std::uint32_t a, std::uint32_t b) noexcept;
// Whether the rows of an edge have equal codes in all orientations. Rows at distance 0 need not:
// they may agree in one orientation only, so what is near one may not be near the other.
bool have_one_code(const CodeColumn& codes, const Edge& edge) noexcept;

// Receives edges as they are found: every edge once, one batch at a time, in no order, on any
// thread. An exception ends the search and is passed on.
using EdgeSink = std::function<void(std::span<const Edge>)>;

// How to search. The result is the same.
enum class SearchMethod {
  kAuto,  // the faster one, as estimated by plan.h
  kScan,  // compare every pair
  kJoin,  // partition by bands of bits, even for few codes
};
struct SearchOptions {
  SearchMethod method = SearchMethod::kAuto;
  std::string_view kernel = {};  // a kernel of scan.h that runs here; empty: the fastest
  ProgressSink progress = {};    // counts codes, weighted by their estimated cost
  StopRequested stop = {};       // asked often; throws StoppedError
};

// Finds all pairs within `radius` bits among `rows` of the column, exactly, up to equal codes.
//
// Equal codes  Rows of one code are linked to the first of them, at distance 0. Two codes are
//              linked by their first rows only. Components are exact, and n equal images cost n
//              links, not n * n. With several orientations, codes are equal if all orientations
//              are.
// Threads      Parallel by TBB.
// Memory       Besides the edges, about 28 bytes a row for 64-bit codes and 16 more for each
//              further 64 bits. Twice that with orientations; each of them is searched separately.
void find_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                const EdgeSink& sink, const SearchOptions& options = {});

// One part of a search that several processes share. Each has all the codes.
struct SearchPart {
  int index = 0;  // 0 .. count-1
  int count = 1;
};

// The edges of one part. All parts together give those of find_edges(), each once, with about equal
// work.
// In   All parts need the same codes, rows, radius and options, and the same kernel by name if
//      their processors differ.
// Out  A number that identifies how the work was divided. If it differs between parts, edges may be
//      missing.
std::uint64_t find_edges_of_part(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                 int radius, const SearchPart& part, const EdgeSink& sink,
                                 const SearchOptions& options = {});

// The edges of find_edges(), sorted. Depends on the input only.
std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius, const SearchOptions& options = {});

// Some rows of a column of codes.
struct CodedRows {
  const CodeColumn& codes;
  std::span<const std::uint32_t> rows;
};

// Finds all pairs of a row of `a` and a row of `b` within `radius` bits. Equal codes count in full:
// x rows and y rows of one code give x * y edges. Both columns have the same hash.
void find_edges_between(const CodedRows& a, const CodedRows& b, int radius, const EdgeSink& sink,
                        const SearchOptions& options = {});

struct Neighbour {
  std::uint32_t row;
  std::uint32_t distance;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// The `rows` within `radius` bits of a code, in order, by a scan.
std::vector<Neighbour> neighbours_of(std::span<const std::uint64_t> code, const CodeColumn& codes,
                                     std::span<const std::uint32_t> rows, int radius);

// Comparison of edges_within() with scans for some rows.
struct SelfCheck {
  std::uint64_t queries = 0;
  std::uint64_t edges = 0;  // found by the scans
  // Differences between both, for those rows; sorted. Empty: correct.
  std::vector<Edge> missing;  // found by a scan, not in `edges`
  std::vector<Edge> wrong;    // in `edges`, not found by a scan
};

// Checks the result of edges_within() for `queries` random rows (drawn by `seed`). Compares each
// with every row, bit by bit, with none of the code that found the edges.
SelfCheck check_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                      std::span<const Edge> edges, std::uint64_t queries, std::uint64_t seed);

// Links rows of equal hash to the first of them. Sorted; distance 0.
std::vector<Edge> equal_edges(std::span<const Hash128> hashes, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
