#include "app/embed/given_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "common/npy.h"

namespace winnow::app {
namespace {

// Ids of the images that the cache has read, by name; nullopt if several have the name.
std::unordered_map<std::string, std::optional<SampleId>> ids_by_name(const pipeline::Cache& cache) {
  std::unordered_map<std::string, std::optional<SampleId>> ids;
  cache.for_each_ledger_row([&](const pipeline::LedgerRow& row) {
    if (row.fate != pipeline::Fate::kOk) return;
    const auto [at, added] = ids.try_emplace(row.name, row.id);
    if (!added) at->second = std::nullopt;
  });
  return ids;
}

struct RowOfImage {
  SampleId id;
  std::uint64_t row;  // row of the matrix
};

// In the order of ids.
std::vector<RowOfImage> rows_of_images(const std::vector<std::string>& lines,
                                       const std::filesystem::path& names,
                                       const pipeline::Cache& cache) {
  const std::string root = cache.paths().root.string();
  const auto ids = ids_by_name(cache);
  std::vector<RowOfImage> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = ids.find(lines[i]);
    const std::string where = fmt::format("{}, line {}: ", names.string(), i + 1);
    if (found == ids.end()) {
      throw UsageError(
          where +
          fmt::format("{} has no image '{}'; names are those of its ledger.jsonl", root, lines[i]));
    }
    if (!found->second) {
      throw UsageError(where + fmt::format("{} has several images '{}', of several sources; ingest "
                                           "them one by one to tell them apart",
                                           root, lines[i]));
    }
    rows.push_back({*found->second, i});
  }
  std::ranges::sort(rows, {}, &RowOfImage::id);
  const auto again = std::ranges::adjacent_find(rows, {}, &RowOfImage::id);
  if (again != rows.end()) {
    throw UsageError(fmt::format("{} names '{}' in lines {} and {}; leave one of them out",
                                 names.string(), lines[again->row], again->row + 1,
                                 (again + 1)->row + 1));
  }
  return rows;
}

}  // namespace

dedup::FeatureTable given_vectors(const std::filesystem::path& npy,
                                  const std::filesystem::path& names, dedup::FeatureType type,
                                  const pipeline::Cache& cache) {
  const NpyMatrix matrix(npy);
  const std::vector<std::string> lines = read_list_lines(names);
  if (lines.size() != matrix.rows()) {
    throw UsageError(
        fmt::format("{} names {} images and {} has {} vectors; give one name for each vector",
                    names.string(), lines.size(), npy.string(), matrix.rows()));
  }
  if (lines.empty()) throw UsageError(npy.string() + " has no vectors");
  dedup::FeatureTable table = dedup::empty_features(type, matrix.columns(), npy.string());
  std::vector<float> vector(matrix.columns());
  for (const auto& [id, row] : rows_of_images(lines, names, cache)) {
    matrix.read(row, vector);
    if (const std::string why = dedup::why_no_feature(vector); !why.empty()) {
      throw FormatError(fmt::format("{}: the vector of '{}', row {}, {}; leave it and its name out",
                                    npy.string(), lines[row], row, why));
    }
    dedup::append_feature(table, id, vector);
  }
  return table;
}

}  // namespace winnow::app
