#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/progress.h"
#include "common/stop.h"
#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Rows a < b of a table that are `distance` bits apart; between two tables, row a of the one and
// row b of the other.
struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t distance;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept;

// Bits between two images, whose rows of a column these are.
// Of one orientation: hamming().
// Of 2 or 8: the least between the first code of either and any code of the other. The seventh is
// left out: a picture turned to the right has the other turned to the left, which is the sixth.
// Symmetric. No metric: the codes of a turned picture are not the same bits in another order.
int code_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  int orientations) noexcept;
int row_distance(const CodeColumn& codes, std::uint32_t a, std::uint32_t b) noexcept;
// Whether the rows of an edge have one code, in all orientations. Rows at distance 0 need not: they
// may agree in one orientation only, and what is near the one need not be near the other.
bool have_one_code(const CodeColumn& codes, const Edge& edge) noexcept;

// Takes edges as they are found: every edge once, one batch at a time, in no order, on any thread.
// What it throws ends the search and comes out of it.
using EdgeSink = std::function<void(std::span<const Edge>)>;

// How to search, the result being the same.
enum class SearchMethod {
  kAuto,  // what plan.h expects to be faster
  kScan,  // compare every pair
  kJoin,  // partition by bands of bits, however few the codes
};
struct SearchOptions {
  SearchMethod method = SearchMethod::kAuto;
  std::string_view kernel = {};  // a row of scan.h that runs here; empty: the best
  ProgressSink progress = {};    // counts codes, by an estimate of what they take
  StopRequested stop = {};       // asked often; StoppedError
};

// All pairs within `radius` bits among `rows` of the column, exactly, up to equal codes.
// Rows of one code are linked to the first of them, at distance 0. Between two codes only their
// first rows are linked. So components are exact while a heap of equal images costs a line, not a
// square. Of several orientations, equal codes are those that are equal in all of them.
// Parallel by TBB. Beside the edges it needs about 28 bytes a row for codes of 64 bits, and 16
// more for every 64 bits more; twice that with orientations, of which each is searched by itself.
void find_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                const EdgeSink& sink, const SearchOptions& options = {});

// A search that several processes share, each of which has all the codes.
struct SearchPart {
  int index = 0;  // 0 .. count-1
  int count = 1;
};

// The edges of one part: all parts together give those of find_edges() once each, and have about as
// much to do. They are to be given the same codes, rows, radius and options, and a kernel by name
// if their processors differ. Returns a number that tells how the work was divided, the same in all
// parts; where it is not, they do not fit together and edges may be missing.
std::uint64_t find_edges_of_part(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                 int radius, const SearchPart& part, const EdgeSink& sink,
                                 const SearchOptions& options = {});

// All of find_edges(), sorted; the result depends on nothing but the input.
std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius, const SearchOptions& options = {});

// Some rows of a column of codes.
struct CodedRows {
  const CodeColumn& codes;
  std::span<const std::uint32_t> rows;
};

// All pairs of a row of `a` and a row of `b` within `radius` bits,
// equal codes included: x rows of one code and y of another are x * y edges. Both columns are of
// one hash.
void find_edges_between(const CodedRows& a, const CodedRows& b, int radius, const EdgeSink& sink,
                        const SearchOptions& options = {});

struct Neighbour {
  std::uint32_t row;
  std::uint32_t distance;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// The `rows` within `radius` bits of a row's code, in the order of `rows`, by a scan.
std::vector<Neighbour> neighbours_of(std::span<const std::uint64_t> code, const CodeColumn& codes,
                                     std::span<const std::uint32_t> rows, int radius);

// What edges_within found beside what a scan for some rows finds.
struct SelfCheck {
  std::uint64_t queries = 0;
  std::uint64_t edges = 0;  // that the scans found
  // Edges of those rows that only one of both has; sorted. Empty: all is well.
  std::vector<Edge> missing;  // from `edges`
  std::vector<Edge> wrong;    // in `edges`
};

// Checks the result of edges_within for `queries` of the rows, drawn at random by `seed`: each is
// compared with every row, bit by bit, by none of the code that found the edges.
SelfCheck check_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                      std::span<const Edge> edges, std::uint64_t queries, std::uint64_t seed);

// Links rows of equal hash to the first of them. Sorted; distance 0.
std::vector<Edge> equal_edges(std::span<const Hash128> hashes, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
