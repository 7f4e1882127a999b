#include "pipeline/ingest/assemble.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/file.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

void move_if_there(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (fs::exists(from, ignored)) move_file(from, to);
}

class LedgerFile {
 public:
  explicit LedgerFile(const fs::path& path) : file_(path) {}
  void add(const std::string& lines) {
    hash_.update(as_bytes(lines));
    file_.append(as_bytes(lines));
  }
  std::string finish() {
    file_.finish();
    return to_hex(hash_.digest());
  }

 private:
  DurableFile file_;
  Xxh3Stream hash_;
};

// Temporary files that are to lie beside those of a cache.
struct Beside {
  explicit Beside(const CachePaths& paths)
      : table(paths.fingerprints().parent_path() / "table.next"),
        ledger(paths.fingerprints().parent_path() / "ledger.next") {}

  void finish(const CachePaths& paths, const Manifest& manifest) const {
    move_file(table, paths.added_fingerprints(manifest.tables.fingerprints_hash));
    move_file(ledger, paths.added_ledger(manifest.tables.ledger_hash));
  }

  fs::path table;
  fs::path ledger;
};

// The columns for statistics.
dedup::ColumnNames counted() { return {"labels", "widths_px", "heights_px", "file_bytes"}; }

// Reads the ledger rows of parts in order. Holds those of one part.
class PartRows {
 public:
  PartRows(const std::vector<NamedPart>& parts, const CachePaths& paths)
      : parts_(parts), paths_(paths) {}

  // The row of `id`; null if there is none. Ids must be requested in ascending order.
  const LedgerRow* find(SampleId id) {
    while (next_ == rows_.size() || rows_[next_].id < id) {
      if (next_ < rows_.size()) {
        ++next_;
      } else if (part_ < parts_.size()) {
        read(parts_[part_++].name);
      } else {
        return nullptr;
      }
    }
    return rows_[next_].id == id ? &rows_[next_] : nullptr;
  }

 private:
  void read(const std::string& part) {
    rows_.clear();
    next_ = 0;
    for_each_piece(paths_, part, [&](const std::string& lines, const dedup::Fingerprints&) {
      std::ranges::move(parse_ledger(lines, "a part"), std::back_inserter(rows_));
    });
  }

  const std::vector<NamedPart>& parts_;
  const CachePaths& paths_;
  std::size_t part_ = 0;
  std::vector<LedgerRow> rows_;
  std::size_t next_ = 0;
};

// Reads the thumbnails of parts in id order. Holds those of one part.
class PartThumbnails {
 public:
  PartThumbnails(const std::vector<NamedPart>& parts, const CachePaths& paths)
      : parts_(parts), paths_(paths) {}

  // The thumbnail of `id`, which must exist. Ids must be requested in ascending order.
  std::span<const dedup::ThumbnailBlock> find(SampleId id) {
    while (next_ < rows_.size() && rows_.ids[next_] < id) ++next_;
    while (next_ == rows_.size()) {
      rows_ = {};
      next_ = 0;
      for_each_piece(paths_, parts_.at(part_++).name,
                     [&](const std::string&, const dedup::Fingerprints& rows) {
                       dedup::append_rows(rows_, dedup::select_columns(rows, {"thumbnails"}));
                     });
    }
    return rows_.thumbnails[next_];
  }

 private:
  const std::vector<NamedPart>& parts_;
  const CachePaths& paths_;
  std::size_t part_ = 0;
  dedup::Fingerprints rows_;
  std::size_t next_ = 0;
};

// Merges the thumbnails of a cache and of parts; the result has the ids `ids`. Must be read from
// the first row on.
dedup::ThumbnailSource with_parts(const dedup::ThumbnailSource& old, std::vector<SampleId> old_ids,
                                  std::vector<SampleId> ids, PartThumbnails& fresh) {
  if (!old) return {};
  return [=, &fresh](std::size_t first, std::size_t count) {
    dedup::Ragged<dedup::ThumbnailBlock> out;
    const auto from = std::ranges::lower_bound(old_ids, ids[first]);
    const auto to = std::ranges::upper_bound(from, old_ids.end(), ids[first + count - 1]);
    const auto there =
        old(static_cast<std::size_t>(from - old_ids.begin()), static_cast<std::size_t>(to - from));
    std::size_t next = 0;
    for (std::size_t row = first; row < first + count; ++row) {
      const bool is_old = from + static_cast<std::ptrdiff_t>(next) < to &&
                          from[static_cast<std::ptrdiff_t>(next)] == ids[row];
      out.push_back(is_old ? there[next++] : fresh.find(ids[row]));
    }
    return out;
  };
}

}  // namespace

void assemble(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
              const Cache* base, const CachePaths& paths, Manifest& manifest) {
  Tally tally = base != nullptr ? *base->manifest().images.tally : Tally{};
  FateCounts fates{};
  dedup::FingerprintWriter::Size size;
  for (const NamedPart& named : parts) {
    const Part& part = named.part;
    if (!part.info.file.empty()) manifest.shards.push_back(part.info);
    tally.add(part.tally);
    for (std::size_t i = 0; i < fates.size(); ++i) fates[i] += part.fates[i];
    size += part.size;
  }
  make_directories(paths.fingerprints().parent_path());
  const Beside beside(paths);
  dedup::ColumnSource old_table;
  dedup::ThumbnailSource old_thumbnails;
  if (base != nullptr) {
    old_table = base->open_fingerprints();
    old_thumbnails = base->open_thumbnails();
    size += dedup::FingerprintWriter::size_of(old_table, old_thumbnails);
  }
  dedup::FingerprintWriter table(base != nullptr ? beside.table : paths.fingerprints(), no_rows,
                                 size);
  LedgerFile ledger(base != nullptr ? beside.ledger : paths.ledger());
  Statistics statistics(manifest.classes.size());
  if (base != nullptr) {
    statistics.add(old_table(counted()));
    table.append(old_table, old_thumbnails);
    base->for_each_ledger_row([&](const LedgerRow& row) { ledger.add(to_json_lines({row})); });
  }
  for (const NamedPart& named : parts) {
    for_each_piece(paths, named.name,
                   [&](const std::string& lines, const dedup::Fingerprints& rows) {
                     table.append(rows);
                     statistics.add(rows);
                     ledger.add(lines);
                   });
  }
  manifest.tables.fingerprints_hash = to_hex(table.finish());
  manifest.tables.ledger_hash = ledger.finish();
  if (base != nullptr) beside.finish(paths, manifest);
  for (const auto& [name, count] : by_name(fates)) manifest.inputs.by_fate[name] += count;
  manifest.images = summary_of(tally, std::move(statistics));
}

Remarks assemble_again(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
                       const Cache& base, const CachePaths& paths, Manifest& manifest) {
  Tally tally = *base.manifest().images.tally;
  const dedup::ColumnSource old_table = base.open_fingerprints();
  const dedup::ThumbnailSource old_thumbnails = base.open_thumbnails();
  dedup::FingerprintWriter::Size size =
      dedup::FingerprintWriter::size_of(old_table, old_thumbnails);
  for (const NamedPart& named : parts) {
    tally.add(named.part.tally);
    size += named.part.size;
    if (named.part.info.file.empty()) continue;
    ShardInfo shard = named.part.info;
    shard.file = shard_file(named.name);
    std::erase_if(manifest.shards, [&](const ShardInfo& old) { return old.file == shard.file; });
    manifest.shards.push_back(std::move(shard));
  }
  std::ranges::sort(manifest.shards, {}, &ShardInfo::first_id);
  manifest.images = summary_of(tally);

  const Beside beside(paths);
  const dedup::ColumnSource new_table = [&](const dedup::ColumnNames& columns) {
    std::vector<dedup::Fingerprints> tables{old_table(columns)};
    for (const NamedPart& named : parts) {
      for_each_piece(paths, named.name, [&](const std::string&, const dedup::Fingerprints& rows) {
        if (rows.size() > 0) tables.push_back(dedup::select_columns(rows, columns));
      });
    }
    return dedup::merge(tables);
  };
  dedup::FingerprintWriter table(beside.table, no_rows, size);
  PartThumbnails fresh_thumbnails(parts, paths);
  table.append(new_table,
               with_parts(old_thumbnails, old_table({}).ids, new_table({}).ids, fresh_thumbnails));
  manifest.tables.fingerprints_hash = to_hex(table.finish());
  manifest.images.statistics = Statistics(manifest.classes.size());
  manifest.images.statistics->add(new_table(counted()));

  Remarks remarks;
  FateCounts fates{};
  PartRows fresh(parts, paths);
  LedgerFile ledger(beside.ledger);
  base.for_each_ledger_row([&](const LedgerRow& old) {
    const LedgerRow* again = fresh.find(old.id);
    const LedgerRow& row = again != nullptr ? *again : old;
    ++fates[static_cast<std::size_t>(row.fate)];
    remarks.add(row);
    ledger.add(to_json_lines({row}));
  });
  manifest.tables.ledger_hash = ledger.finish();
  manifest.inputs.by_fate = by_name(fates);
  beside.finish(paths, manifest);
  return remarks;
}

void settle(const CachePaths& paths, const Manifest& manifest) {
  for (const ShardInfo& shard : manifest.shards) {
    move_if_there(paths.root / added_shard_file(shard), paths.root / shard.file);
  }
  move_if_there(paths.added_fingerprints(manifest.tables.fingerprints_hash), paths.fingerprints());
  move_if_there(paths.added_ledger(manifest.tables.ledger_hash), paths.ledger());
}

}  // namespace winnow::pipeline
