#include "dedup/decisions/cut_links.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace winnow::dedup {
namespace {

void search(const LinkSource& source, const CodeColumn& codes, std::span<const std::uint32_t> rows,
            int threshold, const EdgeSink& sink) {
  if (source) {
    source(codes, rows, threshold, sink);
  } else {
    find_edges(codes, rows, threshold, sink);
  }
}

}  // namespace

RowList rows_to_cut(const Components& components, const RowSets& apart) {
  std::vector<bool> is_cut(components.count);
  for (const RowList& set : apart) {
    std::set<std::uint32_t> met;
    for (const std::uint32_t row : set) {
      const std::uint32_t component = components.of_row[row];
      if (!met.insert(component).second) is_cut[component] = true;
    }
  }
  RowList rows;
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    if (is_cut[components.of_row[row]]) rows.push_back(row);
  }
  return rows;
}

std::vector<bool> rows_that_stand_out(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                      std::span<const Edge> always, const RowSets& apart) {
  const std::size_t table_rows = codes.words.size() / codes.words_per_code();
  UnionFind same(table_rows);
  same.unite(always);
  std::vector<bool> root_stands_out(table_rows);
  for (const RowList& set : apart) {
    for (const std::uint32_t row : set) root_stands_out[same.root_of(row)] = true;
  }
  for (const std::uint32_t row : rows) {
    const std::uint32_t root = same.root_of(row);
    if (!std::ranges::equal(codes.code(root), codes.code(row))) root_stands_out[root] = true;
  }
  std::vector<bool> stands_out(table_rows);
  for (const std::uint32_t row : rows) stands_out[row] = root_stands_out[same.root_of(row)];
  return stands_out;
}

std::vector<Edge> links_of_all_pairs(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                     const std::vector<bool>& stands_out, int threshold,
                                     const LinkSource& source) {
  const auto place_of = [&](std::uint32_t row) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(rows, row) - rows.begin());
  };
  UnionFind one_code(rows.size());
  std::vector<Edge> between;  // between codes, by places of rows
  search(source, codes, rows, threshold, [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      const Edge of_places{place_of(edge.a), place_of(edge.b), edge.distance};
      if (have_one_code(codes, edge)) {
        one_code.unite(of_places);
      } else {
        between.push_back(of_places);
      }
    }
  });
  const Components code_of = std::move(one_code).components();
  std::vector<RowList> members(code_of.count);  // rows that get links of their own
  std::vector<std::optional<std::uint32_t>> first_free(code_of.count);
  std::vector<Edge> links;
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    const std::uint32_t code = code_of.of_row[place];
    const std::uint32_t row = rows[place];
    if (!stands_out[row] && first_free[code]) {
      links.push_back({*first_free[code], row, 0});
      continue;
    }
    if (!stands_out[row]) first_free[code] = row;
    for (const std::uint32_t other : members[code]) links.push_back({other, row, 0});
    members[code].push_back(row);
  }
  for (const Edge& edge : between) {
    for (const std::uint32_t a : members[code_of.of_row[edge.a]]) {
      for (const std::uint32_t b : members[code_of.of_row[edge.b]]) {
        links.push_back({std::min(a, b), std::max(a, b), edge.distance});
      }
    }
  }
  return links;
}

LinkSource links_inside(const Cut& cut, const LinkSource& source) {
  return [&cut, &source](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                         int threshold, const EdgeSink& sink) {
    RowList whole(rows.begin(), rows.end());
    const auto begin = std::stable_partition(whole.begin(), whole.end(),
                                             [&](std::uint32_t row) { return !cut.is_cut[row]; });
    const RowList to_cut(begin, whole.end());
    whole.erase(begin, whole.end());
    search(source, codes, whole, threshold, sink);
    std::vector<Edge> links = links_of_all_pairs(codes, to_cut, cut.stands_out, threshold, source);
    const std::vector<std::uint32_t>& part_of = cut.parts.of_row;
    std::erase_if(links, [&](const Edge& edge) { return part_of[edge.a] != part_of[edge.b]; });
    sink(links);
  };
}

}  // namespace winnow::dedup
