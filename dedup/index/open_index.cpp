#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/json_text.h"
#include "dedup/index/open_index_internal.h"
#include "dedup/table/thumbnail_source.h"

namespace winnow::dedup {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw FormatError(file.string() + " " + what +
                    "; restore it from a copy, or make the index again with winnow index add");
}

// An I/O error does not mean that nothing is there.
bool is_there(const fs::path& path) {
  struct stat status {};
  const int error = try_patiently([&] { return ::stat(path.c_str(), &status) == 0 ? 0 : errno; });
  if (error == 0) return true;
  if (error == ENOENT || error == ENOTDIR) return false;
  errno = error;
  throw_errno("cannot look for " + path.string());
}

// Files that only a manifest can explain.
void refuse_lost_manifest(const fs::path& folder) {
  if (!is_there(folder) || !fs::is_directory(folder)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    // Another process may just have created an index.
    if (!is_file_of_index(name) || is_there(manifest_path(folder))) continue;
    throw FormatError(folder.string() + " has files of an index, such as " + name +
                      ", but no manifest.json; restore that from a copy, "
                      "or make the index again in another folder with winnow index add");
  }
}

}  // namespace

OpenIndex::OpenIndex(fs::path folder, IndexManifest manifest)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), first_rows_{0} {
  for (const Segment& segment : manifest_.segments) {
    segments_.push_back({open(segment.table), open(segment.names), open(segment.links)});
    first_rows_.push_back(first_rows_.back() + segment.rows);
  }
  live_.assign(first_rows_.back(), true);
  if (manifest_.tombstones) {
    const File file = open(*manifest_.tombstones);
    const InputFile& input = *checked(file, *manifest_.tombstones);
    for (const std::uint32_t row : read_tombstones(input, rows(), manifest_.deleted)) {
      live_[row] = false;
    }
  }
}

OpenIndex::File OpenIndex::open(const SealedFile& sealed) const {
  const fs::path path = folder_ / sealed.name;
  if (!is_there(path)) fail(path, "is missing");
  auto input = std::make_shared<const InputFile>(path);
  if (input->size() != sealed.bytes) {
    fail(path, "is damaged: it has " + std::to_string(input->size()) + " bytes instead of " +
                   std::to_string(sealed.bytes));
  }
  return {std::move(input)};
}

const std::shared_ptr<const InputFile>& OpenIndex::checked(const File& file,
                                                           const SealedFile& sealed) const {
  if (!file.checked && to_hex(hash_of_table(*file.input)) != sealed.hash) {
    fail(file.input->path(), "is damaged: its hash is not the one in the manifest");
  }
  file.checked = true;
  return file.input;
}

Fingerprints OpenIndex::columns(const ColumnNames& names) const {
  Fingerprints table;
  if (segments_.empty() && names.contains(codes_name(manifest_.kind))) {
    table.codes = {{manifest_.kind.hash, manifest_.kind.version, manifest_.kind.bits, {}}};
  }
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    Fingerprints part = columns(i, names);
    if (!part.ids.empty() && !table.ids.empty() && table.ids.back() >= part.ids[0]) {
      refuse_rows(i);
    }
    if (i == 0) {
      table = std::move(part);
    } else {
      append_rows(table, part);
    }
  }
  return table;
}

Fingerprints OpenIndex::columns(std::size_t segment, const ColumnNames& names) const {
  const Segment& of = manifest_.segments[segment];
  const InputFile& file = *checked(segments_[segment].table, of.table);
  Fingerprints part = read_fingerprints(file, &names);
  const auto is_known = [&](SampleId id) { return source_of(id) < manifest_.sources.size(); };
  if (part.size() != of.rows || !std::ranges::all_of(part.ids, is_known)) refuse_rows(segment);
  if (names.contains(codes_name(manifest_.kind))) {
    comparable_codes(part, manifest_.kind, file.path().string());
  }
  return part;
}

void OpenIndex::refuse_rows(std::size_t segment) const {
  fail(folder_ / manifest_.segments[segment].table.name,
       "belongs to another index: its rows are not those of the manifest");
}

Fingerprints OpenIndex::live_columns(const ColumnNames& names) const {
  Fingerprints table = columns(names);
  return manifest_.deleted == 0 ? table : select_rows(table, live_);
}

ThumbnailSource OpenIndex::thumbnails() const {
  std::vector<CountedThumbnails> tables;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    tables.push_back({thumbnails(i), manifest_.segments[i].rows});
  }
  return join_rows(std::move(tables));
}

ThumbnailSource OpenIndex::thumbnails(std::size_t segment) const {
  return open_thumbnails(checked(segments_[segment].table, manifest_.segments[segment].table));
}

ThumbnailSource OpenIndex::live_thumbnails() const {
  return manifest_.deleted == 0 ? thumbnails() : select_rows(thumbnails(), live_);
}

LinksFile OpenIndex::open_links(std::size_t segment) const {
  const Segment& of = manifest_.segments[segment];
  return {checked(segments_[segment].links, of.links), manifest_.kind.radius, first_rows_[segment],
          of.rows};
}

std::vector<std::uint32_t> OpenIndex::read_firsts() const {
  std::vector<std::uint32_t> firsts;
  firsts.reserve(rows());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::vector<std::uint32_t> of_segment = open_links(i).read_firsts();
    firsts.insert(firsts.end(), of_segment.begin(), of_segment.end());
  }
  const auto leads_to_first = [&](std::uint32_t first) {
    return first == kNoCode || firsts[first] == first;
  };
  if (!std::ranges::all_of(firsts, leads_to_first)) {
    fail(folder_, "is damaged: the first row of a code has another code");
  }
  return firsts;
}

void OpenIndex::for_each_link(int nearest, int furthest, const EdgeSink& sink) const {
  std::vector<LinksFile> files;
  for (std::size_t i = 0; i < segments_.size(); ++i) files.push_back(open_links(i));
  for (int distance = nearest; distance <= furthest; ++distance) {
    for (const LinksFile& file : files) file.for_each(distance, distance, sink);
  }
}

NamesFile OpenIndex::open_names(std::size_t segment) const {
  const Segment& of = manifest_.segments[segment];
  return {checked(segments_[segment].names, of.names), of.rows};
}

void OpenIndex::for_each_name(
    const std::function<void(std::uint64_t row, std::string_view)>& take) const {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    open_names(i).for_each(
        [&](std::size_t row, std::string_view name) { take(first_rows_[i] + row, name); });
  }
}

std::shared_ptr<const OpenIndex> find_index(const fs::path& folder) {
  const fs::path path = manifest_path(folder);
  if (!is_there(path)) {
    refuse_lost_manifest(folder);
    if (!is_there(path)) return nullptr;
  }
  std::string text = read_text(path);
  while (true) {
    try {
      return std::make_shared<const OpenIndex>(folder, parse_index_manifest(text, path.string()));
    } catch (const Error&) {
      // A change may have removed a file after the manifest was read; then there is a new manifest.
      std::string now = read_text(path);
      if (now == text) throw;
      text = std::move(now);
    }
  }
}

std::shared_ptr<const OpenIndex> open_index(const fs::path& folder) {
  auto index = find_index(folder);
  if (!index) {
    throw UsageError("there is no index at " + folder.string() +
                     "; make one with: winnow index add " + folder.string() + " CACHE");
  }
  return index;
}

std::string keep_beside(const OpenIndex& index, const Segment& segment,
                        const std::function<void()>& write) {
  try {
    const Fd lock = lock_directory(index.folder());
    if (!std::filesystem::exists(index.folder() / segment.table.name))
      return "the index has changed";
    write();
    return {};
  } catch (const UsageError& error) {
    return error.what();
  } catch (const SystemError& error) {
    return error.what();
  }
}

std::string codes_name(const IndexKind& kind) { return "codes:" + kind.hash; }

const CodeColumn& comparable_codes(const Fingerprints& table, const IndexKind& kind,
                                   std::string_view what) {
  const CodeColumn& codes = codes_of(table, kind.hash);
  if (codes.version != kind.version || codes.bits != kind.bits) {
    throw UsageError(std::string(what) + " has codes of " + kind.hash + " version " +
                     std::to_string(codes.version) + " (" + std::to_string(codes.bits) +
                     " bits), but the index has version " + std::to_string(kind.version) + " (" +
                     std::to_string(kind.bits) +
                     " bits), and these cannot be compared; make both with the same winnow");
  }
  return codes;
}

void check_threshold(const CodeColumn& codes, int threshold) {
  if (threshold >= 0 && threshold <= codes.most_distance()) return;
  throw UsageError("a threshold of " + std::to_string(threshold) + " bits is out of range for '" +
                   codes.hash + "'; choose one from 0 to " + std::to_string(codes.most_distance()));
}

std::vector<std::uint32_t> first_rows_of(const CodeColumn& codes,
                                         std::span<const std::uint32_t> rows, std::size_t row_count,
                                         const LinkSource& links) {
  std::vector<std::uint32_t> first_of(row_count, kNoCode);
  for (const std::uint32_t row : rows) first_of[row] = row;
  links(codes, rows, 0, [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      // Different codes of several orientations can be at distance 0.
      if (std::ranges::equal(codes.code(edge.a), codes.code(edge.b))) first_of[edge.b] = edge.a;
    }
  });
  return first_of;
}

void check_stop(const StopRequested& stop) {
  if (stop && stop()) throw StoppedError("stopped before the end; the index is as it was");
}

std::vector<std::uint32_t> own_firsts(std::span<const std::uint32_t> first_of) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < first_of.size(); ++row) {
    if (first_of[row] == row) rows.push_back(row);
  }
  return rows;
}

}  // namespace winnow::dedup
