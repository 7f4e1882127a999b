#include "dedup/table/thumbnail_source.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace winnow::dedup {

ThumbnailSource select_rows(const ThumbnailSource& thumbnails, const std::vector<bool>& keep) {
  constexpr std::uint32_t kFewBetween = 4;  // gap in rows that is read rather than skipped
  if (!thumbnails) return {};
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep[row]) rows.push_back(static_cast<std::uint32_t>(row));
  }
  return [thumbnails, rows = std::move(rows)](std::size_t first, std::size_t count) {
    Ragged<ThumbnailBlock> out;
    const std::size_t last = first + count;
    for (std::size_t i = first; i < last;) {
      std::size_t end = i + 1;
      while (end < last && rows[end] - rows[end - 1] <= kFewBetween) ++end;
      const std::size_t begin = rows[i];
      const Ragged<ThumbnailBlock> run = thumbnails(begin, rows[end - 1] - begin + 1);
      for (; i < end; ++i) out.push_back(run[rows[i] - begin]);
    }
    return out;
  };
}

ThumbnailSource join_rows(std::vector<CountedThumbnails> tables) {
  std::erase_if(tables, [](const CountedThumbnails& table) { return table.rows == 0; });
  const auto has_some = [](const CountedThumbnails& table) { return table.thumbnails != nullptr; };
  if (tables.empty() || !std::ranges::all_of(tables, has_some)) return {};
  return [tables = std::move(tables)](std::size_t first, std::size_t count) {
    Ragged<ThumbnailBlock> out;
    for (const CountedThumbnails& table : tables) {
      if (first >= table.rows) {
        first -= table.rows;
        continue;
      }
      const std::size_t here = std::min(count, table.rows - first);
      const Ragged<ThumbnailBlock> part = table.thumbnails(first, here);
      for (std::size_t row = 0; row < here; ++row) out.push_back(part[row]);
      count -= here;
      first = 0;
      if (count == 0) break;
    }
    return out;
  };
}

}  // namespace winnow::dedup
