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

// Two rows whose codes are `distance` bits apart. In a search of one table: a < b. In a search
// between two tables: row a of the first one and row b of the second.
struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t distance;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept;

// Distance in bits between two images, given the words of each: its codes in all orientations.
// One orientation  hamming().
// 2 or 8           The minimum over all pairs of the first code of one image and any code of the
//                  other. Orientation 6 is left out: if a picture is turned to the right from
//                  another, the other is turned to the left from it, which is orientation 5.
// Symmetric, but not a metric: the code of a turned picture does not consist of the same bits in
// another order.
int code_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  int orientations) noexcept;
int row_distance(const CodeColumn& codes, std::uint32_t a, std::uint32_t b) noexcept;
// Whether the two rows of an edge have equal codes in all orientations. Rows at distance 0 may have
// equal codes in one orientation only; a third row may then be near one of them but not the other.
bool have_one_code(const CodeColumn& codes, const Edge& edge) noexcept;

// Receives the edges that a search finds: each once, in batches, in no order. Called by any thread,
// by one at a time. An exception ends the search, which throws it.
using EdgeSink = std::function<void(std::span<const Edge>)>;

// How pairs are searched. The result is the same.
enum class SearchMethod {
  kAuto,  // the faster method, by the cost estimate of plan.h
  kScan,  // compare every pair
  kJoin,  // divide codes by bands of bits first (plan.h), even if there are few
};
struct SearchOptions {
  SearchMethod method = SearchMethod::kAuto;
  std::string_view kernel = {};  // name of a kernel of scan.h that runs here; empty: the fastest
  ProgressSink progress = {};    // receives the number of codes done, weighted by cost
  StopRequested stop = {};       // asked often; throws StoppedError
};

// Finds all pairs of `rows` whose codes are within `radius` bits. Exact, except that equal codes
// are represented by the first row that has them.
//
// Equal codes  Each row is linked to the first row with the same code, at distance 0. Two different
//              codes are only linked by their first rows. Connected components are those of all
//              pairs, but n equal images cost n links, not n * n. With several orientations, codes
//              are equal if they are in all of them.
// Threads      Parallel by TBB.
// Memory       Besides the edges, about 28 bytes a row for 64-bit codes, and 16 more for each
//              further 64 bits. Twice as much for several orientations, which are searched one
//              after the other.
void find_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                const EdgeSink& sink, const SearchOptions& options = {});

// A process's part of a search that several processes share. Each process has all the codes.
struct SearchPart {
  int index = 0;  // 0 .. count-1
  int count = 1;
};

// Finds the edges of one part of a search. All parts together find the edges of find_edges(), each
// once, with about equal work.
// In   The same codes, rows, radius and options for all parts. If processors differ, also the same
//      kernel by name.
// Out  A number that identifies how the work was divided. If parts return different numbers, edges
//      may be missing.
std::uint64_t find_edges_of_part(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                 int radius, const SearchPart& part, const EdgeSink& sink,
                                 const SearchOptions& options = {});

// The edges of find_edges(), sorted. Depends on the input only.
std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius, const SearchOptions& options = {});

// A column of codes, and the rows of it that are searched.
struct CodedRows {
  const CodeColumn& codes;
  std::span<const std::uint32_t> rows;
};

// Finds all pairs of a row of `a` and a row of `b` whose codes are within `radius` bits. Equal
// codes are not represented by one row: m rows and n rows of one code give m * n edges. Both
// columns have the same hash.
void find_edges_between(const CodedRows& a, const CodedRows& b, int radius, const EdgeSink& sink,
                        const SearchOptions& options = {});

struct Neighbour {
  std::uint32_t row;
  std::uint32_t distance;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// Finds the rows among `rows` whose codes are within `radius` bits of `code`, in the order of
// `rows`. Compares every one.
std::vector<Neighbour> neighbours_of(std::span<const std::uint64_t> code, const CodeColumn& codes,
                                     std::span<const std::uint32_t> rows, int radius);

// Result of checking edges_within() against plain comparisons for some rows.
struct SelfCheck {
  std::uint64_t queries = 0;
  std::uint64_t edges = 0;  // found by the scans
  // Edges of the checked rows in which edges_within() and plain comparison differ, sorted. Both
  // lists are empty if edges_within() is correct.
  std::vector<Edge> missing;  // edges found by plain comparison, but not by edges_within()
  std::vector<Edge> wrong;    // edges of edges_within() that plain comparison does not find
};

// Checks the edges of edges_within() for `queries` random rows, drawn by `seed` without
// replacement; for all rows if there are fewer. Compares each of these with every row, bit by bit,
// with none of the code that found the edges.
SelfCheck check_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                      std::span<const Edge> edges, std::uint64_t queries, std::uint64_t seed);

// Links each row to the first row with the same hash, with distance 0. Sorted.
std::vector<Edge> equal_edges(std::span<const Hash128> hashes, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
