#include "pipeline/ingest/assemble.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/checksum.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

void move_if_there(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (fs::exists(from, ignored)) move_file(from, to);
}

}  // namespace

void assemble(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
              const Cache* base, const CachePaths& paths, Manifest& manifest) {
  Tally tally = base != nullptr ? *base->manifest().tally : Tally{};
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
  const fs::path beside = paths.fingerprints().parent_path();
  const fs::path table_path = base != nullptr ? beside / "table.next" : paths.fingerprints();
  const fs::path ledger_path = base != nullptr ? beside / "ledger.next" : paths.ledger();
  dedup::ColumnSource old_table;
  if (base != nullptr) {
    old_table = base->open_fingerprints();
    size += dedup::FingerprintWriter::size_of(old_table);
  }
  dedup::FingerprintWriter table(table_path, no_rows, size);
  DurableFile ledger(ledger_path);
  Xxh3Stream ledger_hash;
  const auto add_lines = [&](const std::string& lines) {
    ledger_hash.update(as_bytes(lines));
    ledger.append(as_bytes(lines));
  };
  Statistics statistics(manifest.classes.size());
  if (base != nullptr) {
    statistics.add(old_table({"labels", "widths_px", "heights_px", "file_bytes"}));
    table.append(old_table);
    base->for_each_ledger_row([&](const LedgerRow& row) { add_lines(to_json_lines({row})); });
  }
  for (const NamedPart& named : parts) {
    for_each_piece(paths, named.name,
                   [&](const std::string& lines, const dedup::Fingerprints& rows) {
                     table.append(rows);
                     statistics.add(rows);
                     add_lines(lines);
                   });
  }
  manifest.fingerprints_hash = to_hex(table.finish());
  ledger.finish();
  manifest.ledger_hash = to_hex(ledger_hash.digest());
  if (base != nullptr) {
    move_file(table_path, paths.added_fingerprints(manifest.fingerprints_hash));
    move_file(ledger_path, paths.added_ledger(manifest.ledger_hash));
  }
  for (const auto& [name, count] : by_name(fates)) manifest.ledger[name] += count;
  set_tally(manifest, tally);
  manifest.statistics = std::move(statistics);
}

void settle(const CachePaths& paths, const Manifest& manifest) {
  move_if_there(paths.added_fingerprints(manifest.fingerprints_hash), paths.fingerprints());
  move_if_there(paths.added_ledger(manifest.ledger_hash), paths.ledger());
}

}  // namespace winnow::pipeline
