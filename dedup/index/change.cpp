#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "dedup/index/open_index_internal.h"

namespace winnow::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostSources = std::size_t{1} << (64 - kPositionBits);
constexpr const char* kUnfinishedManifest = "manifest.json.tmp";
constexpr std::uint64_t kMostFilesOfChange = 3;
constexpr const char* kAdded = "what is to be put into the index";
constexpr std::uint64_t kMostOfIndex = std::numeric_limits<std::uint32_t>::max() - 1;

// Removes the files of an earlier change that was stopped or could not clean up.
void remove_unnamed(const fs::path& folder, const IndexManifest& manifest) {
  const std::set<std::string> named = manifest.file_names();
  std::vector<std::string> unnamed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours = name == kUnfinishedManifest ||
                         is_file_of_index(name, manifest.next_file + kMostFilesOfChange);
    if (is_ours && !named.contains(name)) unnamed.push_back(name);
  }
  std::ranges::sort(unnamed);
  for (const std::string& name : unnamed) remove_file(folder / name);
}

// The only change of an index at a time. Files are written beside the existing ones, and count once
// the manifest names them.
// A manifest therefore always exists: a new index begins with an empty one, because files without a
// manifest look like the remains of a first change.
class Change {
 public:
  // UsageError if there is no index.
  Change(const fs::path& folder, const StopRequested& stop) : folder_(folder), stop_(stop) {
    open_index(folder);
    lock_ = lock_directory(folder);
    begin();
  }
  // Makes an index of that kind if there is none. UsageError for a folder with other content.
  Change(const fs::path& folder, const IndexKind& kind, const StopRequested& stop)
      : folder_(folder), stop_(stop) {
    const bool was_there = fs::exists(folder);
    make_directories(folder);
    lock_ = lock_directory(folder);
    if (!find_index(folder)) {
      refuse_other_files();
      IndexManifest empty;
      empty.kind = kind;
      write_manifest(empty);
      is_new_ = true;
      made_folder_ = !was_there;
    }
    begin();
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  // Removes files that were not committed.
  ~Change() {
    try {
      for (const fs::path& path : written_) {
        if (fs::exists(path)) remove_file(path);
      }
      if (!is_new_) return;
      remove_file(manifest_path(folder_));
      if (made_folder_) fs::remove(folder_);
    } catch (const std::exception&) {
      // The next change removes it.
    }
  }

  const OpenIndex& index() const noexcept { return *index_; }
  const IndexManifest& manifest() const noexcept { return index_->manifest(); }
  const StopRequested& stop() const noexcept { return stop_; }

  // `write(path)` makes the file and returns its hash.
  template <class Write>
  SealedFile write(FileRole role, const Write& write) {
    check_stop(stop_);
    const std::string name = file_name(next_file_++, role);
    const fs::path path = folder_ / name;
    written_.push_back(path);
    const Hash128 hash = write(path);
    return {name, fs::file_size(path), to_hex(hash)};
  }

  void commit(IndexManifest manifest) {
    check_stop(stop_);
    manifest.next_file = next_file_;
    written_.clear();  // from here on the manifest may name them, even if writing it fails
    is_new_ = false;
    write_manifest(manifest);
    try {
      remove_unnamed(folder_, manifest);
    } catch (const std::exception&) {
      // The change is committed even if these files remain: the next change removes them.
    }
  }
  // Makes index() show the committed state.
  void reopen() { index_ = open_index(folder_); }

 private:
  void begin() {
    reopen();
    remove_unnamed(folder_, manifest());
    next_file_ = manifest().next_file;
  }
  void write_manifest(const IndexManifest& manifest) const {
    write_file_durably(manifest_path(folder_), to_json(manifest));
  }
  void refuse_other_files() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename() == kUnfinishedManifest) continue;
      throw UsageError(folder_.string() + " is not an index, but contains " +
                       entry.path().filename().string() + "; name another folder");
    }
  }

  fs::path folder_;
  Fd lock_;
  std::shared_ptr<const OpenIndex> index_;
  std::uint64_t next_file_ = 0;
  const StopRequested& stop_;
  std::vector<fs::path> written_;  // since the last commit
  bool is_new_ = false;            // nothing has been committed to it yet
  bool made_folder_ = false;
};

// An addition is read column by column, and must be the same table each time.
ColumnSource checked(const ColumnSource& columns, std::size_t sources, const StopRequested& stop) {
  return [columns, sources, &stop](const ColumnNames& names) {
    check_stop(stop);
    Fingerprints table = columns(names);
    check_table(table, kAdded, &names);
    if (!table.ids.empty() && source_of(table.ids.back()) >= sources) {
      throw FormatError(std::string(kAdded) +
                        " has a row whose source does not exist; make it again");
    }
    return table;
  };
}

// Caches of earlier versions have no phash16.
std::string usual_hash(const ColumnSource& columns) {
  const Fingerprints table = columns({"codes:" + std::string(kUsualIndexHash)});
  return table.codes.empty() ? "phash" : std::string(kUsualIndexHash);
}

// Decisions look slightly beyond their threshold.
int usual_radius(const CodeColumn& codes) {
  return std::max(codes.most_distance() / 8, usual_threshold(codes.hash) + 4);
}

IndexKind kind_of(const Addition& addition, const IndexOptions& options) {
  const std::string hash = options.hash.value_or(usual_hash(addition.columns));
  const Fingerprints table = addition.columns({"codes:" + hash});
  const CodeColumn& codes = codes_of(table, hash);
  const IndexKind kind{hash, codes.version, codes.bits,
                       options.radius.value_or(usual_radius(codes))};
  if (kind.radius < 0 || kind.radius > codes.most_distance()) {
    throw UsageError("a radius of " + std::to_string(kind.radius) + " bits is out of range for '" +
                     hash + "'; choose one from 0 to " + std::to_string(codes.most_distance()));
  }
  return kind;
}

void check_options(const IndexKind& kind, const IndexOptions& options, const fs::path& folder) {
  if (options.hash.value_or(kind.hash) == kind.hash &&
      options.radius.value_or(kind.radius) == kind.radius) {
    return;
  }
  throw UsageError(folder.string() + " uses --hash " + kind.hash + " and --radius " +
                   std::to_string(kind.radius) +
                   "; leave out these two flags, or make another index");
}

// How the sources of an addition map to the index.
struct Placing {
  std::vector<IndexSource> sources;                    // with `content` filled in
  std::vector<std::optional<std::uint32_t>> ordinals;  // numbers in the index, for new ones
  std::vector<bool> keep;                              // by row: it belongs to a new source
  std::uint64_t rows = 0;                              // number of kept rows
};

// Fills in missing `rows` and `content` of sources.
void describe_rows(std::vector<IndexSource>& sources, const ColumnSource& columns) {
  const Fingerprints table = columns({"file_hashes", "pixel_hashes"});
  std::size_t row = 0;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    Xxh3Stream stream;
    std::uint64_t rows = 0;
    for (; row < table.size() && source_of(table.ids[row]) == i; ++row, ++rows) {
      const std::uint64_t position = position_of(table.ids[row]);
      stream.update(std::as_bytes(std::span(&position, 1)));
      stream.update(std::as_bytes(std::span(&table.file_hashes[row], 1)));
      stream.update(std::as_bytes(std::span(&table.pixel_hashes[row], 1)));
    }
    if (!sources[i].content.empty()) continue;
    sources[i].rows = rows;
    sources[i].content = to_hex(stream.digest());
  }
}

// For each source, whether all its rows were deleted.
std::vector<bool> emptied_sources(const OpenIndex& index) {
  std::vector<bool> emptied;
  for (const IndexSource& source : index.manifest().sources) emptied.push_back(source.rows > 0);
  for (const SampleId id : index.live_columns({}).ids) emptied[source_of(id)] = false;
  return emptied;
}

bool is_same(const IndexSource& a, const IndexSource& b) {
  return a.name == b.name && a.format == b.format && a.listing_hash == b.listing_hash;
}

Placing place(const Addition& addition, const OpenIndex& index) {
  Placing placing{.sources = addition.sources, .ordinals = {}, .keep = {}};
  describe_rows(placing.sources, addition.columns);
  const std::vector<bool> emptied = emptied_sources(index);
  auto next = static_cast<std::uint32_t>(emptied.size());
  for (std::size_t i = 0; i < placing.sources.size(); ++i) {
    const IndexSource& source = placing.sources[i];
    placing.ordinals.emplace_back(next);
    for (std::size_t old = 0; old < emptied.size(); ++old) {
      const IndexSource& known = index.manifest().sources[old];
      if (emptied[old] || !is_same(known, source)) continue;
      if (known.content != source.content) {
        throw UsageError("the source " + source.name +
                         " has changed since it was added to the index; delete the old one with "
                         "winnow index delete " +
                         index.folder().string() + " --source " + std::to_string(old) +
                         ", then add the new one");
      }
      placing.ordinals.back().reset();
    }
    if (placing.ordinals.back()) ++next;
  }
  if (next > kMostSources) {
    throw UsageError("an index holds at most " + std::to_string(kMostSources) + " sources");
  }
  for (const SampleId id : addition.columns({}).ids) {
    placing.keep.push_back(placing.ordinals[source_of(id)].has_value());
    placing.rows += placing.keep.back() ? 1 : 0;
  }
  if (placing.rows > kMostOfIndex - index.rows()) {
    throw UsageError("an index holds at most 2^32 - 2 images; start another");
  }
  return placing;
}

// The label in the index for each label of the addition. Missing classes are appended to `classes`,
// in the order of the sources.
std::vector<std::int32_t> translate_labels(const Addition& addition, const Placing& placing,
                                           std::vector<std::string>& classes) {
  std::unordered_map<std::string, std::int32_t> known;
  const auto label_of = [&](const std::string& name) {
    const auto [at, is_new] = known.emplace(name, static_cast<std::int32_t>(known.size()));
    return at->second;
  };
  for (const std::string& name : classes) label_of(name);
  const auto add = [&](const std::string& name) {
    if (label_of(name) == static_cast<std::int32_t>(classes.size())) classes.push_back(name);
  };
  for (std::size_t i = 0; i < placing.sources.size(); ++i) {
    if (placing.ordinals[i]) std::ranges::for_each(placing.sources[i].class_names, add);
  }
  std::ranges::for_each(addition.classes, add);
  std::vector<std::int32_t> labels;
  for (const std::string& name : addition.classes) labels.push_back(label_of(name));
  return labels;
}

// The addition with its ids and labels in the index. SegmentColumns of known sources keep theirs;
// `keep` leaves them out.
ColumnSource renamed(const ColumnSource& columns,
                     const std::vector<std::optional<std::uint32_t>>& ordinals,
                     const std::vector<std::int32_t>& labels) {
  return [columns, ordinals, labels](const ColumnNames& names) {
    Fingerprints table = columns(names);
    for (SampleId& id : table.ids) {
      if (const auto& to = ordinals[source_of(id)]) id = make_sample_id(*to, position_of(id));
    }
    for (std::int32_t& label : table.labels.values) {
      if (label >= 0 && static_cast<std::size_t>(label) < labels.size()) {
        label = labels[static_cast<std::size_t>(label)];
      }
    }
    return table;
  };
}

// Calls `take` with each row of `rows` that has the code of one of `old_rows`, and that old row.
// Codes within each list are distinct.
template <class Take>
void find_equal(const CodeColumn& codes, std::span<const std::uint32_t> rows, const CodeColumn& old,
                std::span<const std::uint32_t> old_rows, const Take& take) {
  const auto text_of = [](const CodeColumn& of, std::uint32_t row) {
    return as_text(std::as_bytes(of.code(row)));
  };
  std::unordered_map<std::string_view, std::uint32_t> known;
  // Most old codes do not occur among the new ones, so a bit set of the new codes filters them
  // first.
  const std::size_t bits = std::bit_ceil(32 * rows.size() + 1);
  std::vector<bool> seen(bits);
  const auto bit_of = [&](const CodeColumn& of, std::uint32_t row) {
    return ((of.code(row)[0] * 0x9E3779B97F4A7C15) >> 16) & (bits - 1);
  };
  for (const std::uint32_t row : rows) {
    known.emplace(text_of(codes, row), row);
    seen[bit_of(codes, row)] = true;
  }
  for (const std::uint32_t row : old_rows) {
    if (!seen[bit_of(old, row)]) continue;
    const auto at = known.find(text_of(old, row));
    if (at != known.end()) take(at->second, row);
  }
}

// The same for thumbnails.
ThumbnailSource stoppable(ThumbnailSource thumbnails, const StopRequested& stop) {
  if (!thumbnails) return {};
  return [thumbnails = std::move(thumbnails), &stop](std::size_t first, std::size_t count) {
    check_stop(stop);
    return thumbnails(first, count);
  };
}

// How links of an addition are found. `inner` finds those among its own rows.
struct LinkSearch {
  LinkSource inner;
  SearchOptions options;
};

// The links that the kept rows of a table add to an index.
CodeLinks links_of_addition(const OpenIndex& index, const IndexKind& kind,
                            const Fingerprints& table, const std::vector<bool>& keep,
                            const LinkSearch& search) {
  const CodeColumn& codes = comparable_codes(table, kind, kAdded);
  std::vector<std::uint32_t> rows = matchable_rows(table, kind.hash);
  std::erase_if(rows, [&](std::uint32_t row) { return !keep[row]; });
  const std::vector<std::uint32_t> first_of =
      first_rows_of(codes, rows, table.size(), search.inner);
  std::vector<std::uint32_t> firsts = own_firsts(first_of);

  std::vector<std::uint32_t> number(table.size());  // in the index
  auto next = static_cast<std::uint32_t>(index.rows());
  for (std::size_t row = 0; row < number.size(); ++row) {
    number[row] = next;
    next += keep[row] ? 1 : 0;
  }
  std::vector<std::uint32_t> first_number(table.size(), kNoCode);  // by first row
  for (const std::uint32_t row : firsts) first_number[row] = number[row];

  CodeLinks links;
  Fingerprints old;
  std::vector<std::uint32_t> old_firsts;
  if (index.rows() > 0) {
    old = index.columns({codes_name(kind)});
    old_firsts = own_firsts(index.read_firsts());
    // The links of an existing code are already there.
    find_equal(codes, firsts, old.codes.front(), old_firsts,
               [&](std::uint32_t row, std::uint32_t old_row) { first_number[row] = old_row; });
    std::erase_if(firsts, [&](std::uint32_t row) { return first_number[row] != number[row]; });
    find_edges_between(
        {codes, firsts}, {old.codes.front(), old_firsts}, kind.radius,
        [&](std::span<const Edge> edges) {
          for (const Edge& edge : edges) {
            links.edges.push_back({edge.b, number[edge.a], edge.distance});
          }
        },
        search.options);
  }
  search.inner(codes, firsts, kind.radius, [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      links.edges.push_back({number[edge.a], number[edge.b], edge.distance});
    }
  });
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!keep[row]) continue;
    links.firsts.push_back(first_of[row] == kNoCode ? kNoCode : first_number[first_of[row]]);
  }
  return links;
}

// The links that remain after a compaction. The first remaining row of each code represents it.
CodeLinks remaining_links(const OpenIndex& index) {
  const std::vector<std::uint32_t> old_firsts = index.read_firsts();
  std::vector<std::uint32_t> first(index.rows(), kNoCode);  // new number, by old first row
  CodeLinks links;
  for (std::size_t row = 0; row < index.rows(); ++row) {
    if (!index.live()[row]) continue;
    const auto number = static_cast<std::uint32_t>(links.firsts.size());
    const std::uint32_t old_first = old_firsts[row];
    if (old_first != kNoCode && first[old_first] == kNoCode) first[old_first] = number;
    links.firsts.push_back(old_first == kNoCode ? kNoCode : first[old_first]);
  }
  index.for_each_link(0, index.manifest().kind.radius, [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      const std::uint32_t a = first[edge.a];
      const std::uint32_t b = first[edge.b];
      if (a == kNoCode || b == kNoCode) continue;
      links.edges.push_back({std::min(a, b), std::max(a, b), edge.distance});
    }
  });
  return links;
}

// The content of a segment, without its links.
struct SegmentColumns {
  ColumnSource columns;
  ThumbnailSource thumbnails;
  NameSource names;
};

Segment write_segment(Change& change, const IndexKind& kind, const SegmentColumns& rows,
                      const std::vector<bool>& keep, CodeLinks links) {
  Segment segment;
  segment.rows = links.firsts.size();
  segment.links = change.write(FileRole::kLinks, [&](const fs::path& path) {
    return write_links(path, kind.radius, std::move(links));
  });
  segment.table = change.write(FileRole::kTable, [&](const fs::path& path) {
    return write_rows(path, rows.columns, {kind.hash}, keep, rows.thumbnails);
  });
  segment.names = change.write(FileRole::kNames, [&](const fs::path& path) {
    return write_names(path, select_rows(rows.columns({}), keep).ids, rows.names);
  });
  return segment;
}

void compact(Change& change) {
  const OpenIndex& index = change.index();
  IndexManifest manifest = change.manifest();
  const std::vector<bool> all(index.live_rows(), true);
  const ColumnSource live = [&](const ColumnNames& names) {
    check_stop(change.stop());
    return index.live_columns(names);
  };
  const SegmentColumns rows{live, stoppable(index.live_thumbnails(), change.stop()),
                            StoredIndex::open(index.folder()).names()};
  manifest.segments = {write_segment(change, manifest.kind, rows, all, remaining_links(index))};
  manifest.deleted = 0;
  manifest.tombstones.reset();
  change.commit(std::move(manifest));
}

Added add(Change& change, Addition addition, IndexKind kind, const LinkSearch& search) {
  const StopRequested& stop = search.options.stop;
  addition.columns = checked(addition.columns, addition.sources.size(), stop);
  const Placing placing = place(addition, change.index());
  Added added{.rows = placing.rows, .sources = {}, .known = {}};
  for (std::size_t i = 0; i < placing.sources.size(); ++i) {
    (placing.ordinals[i] ? added.sources : added.known).push_back(placing.sources[i].name);
  }
  if (added.sources.empty()) return added;
  if (change.manifest().segments.size() >= kMostSegments) {
    compact(change);
    change.reopen();
  }

  IndexManifest manifest = change.manifest();
  manifest.kind = kind;
  const std::vector<std::int32_t> labels = translate_labels(addition, placing, manifest.classes);
  CodeLinks links = links_of_addition(
      change.index(), kind, addition.columns({codes_name(kind), "quality"}), placing.keep, search);
  const ColumnSource columns = renamed(addition.columns, placing.ordinals, labels);
  // Names arrive with the ids of the addition.
  const NameSource names = [&](const NameSink& sink) {
    addition.names([&](SampleId id, std::string_view name) {
      if (position_of(id) % 65'536 == 0) check_stop(stop);
      const std::uint32_t source = source_of(id);
      if (source >= placing.ordinals.size() || !placing.ordinals[source]) return;
      sink(make_sample_id(*placing.ordinals[source], position_of(id)), name);
    });
  };
  manifest.segments.push_back(write_segment(change, kind,
                                            {columns, stoppable(addition.thumbnails, stop), names},
                                            placing.keep, std::move(links)));
  for (std::size_t i = 0; i < placing.sources.size(); ++i) {
    if (placing.ordinals[i]) manifest.sources.push_back(placing.sources[i]);
  }
  change.commit(std::move(manifest));
  return added;
}

// SegmentColumns of a deletion, by their names.
class NameSearch {
 public:
  NameSearch(const std::vector<std::string>& names, const OpenIndex& index) : index_(index) {
    for (const std::string& name : names) found_.emplace(name, std::nullopt);
  }
  void find(const std::vector<SampleId>& ids, std::optional<std::uint32_t> source,
            std::vector<bool>& gone) {
    index_.for_each_name([&](std::uint64_t row, std::string_view name) {
      if (!index_.live()[row] || (source && source_of(ids[row]) != *source)) return;
      const auto at = found_.find(std::string(name));
      if (at == found_.end()) return;
      if (at->second && *at->second != source_of(ids[row]))
        refuse(at->first, *at->second, ids[row]);
      at->second = source_of(ids[row]);
      gone[row] = true;
    });
    for (const auto& [name, in] : found_) {
      if (!in) throw UsageError(index_.folder().string() + " has no image " + name);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& name, std::uint32_t source, SampleId other) const {
    throw UsageError("the sources " + std::to_string(source) + " and " +
                     std::to_string(source_of(other)) + " of " + index_.folder().string() +
                     " both have an image " + name +
                     "; name one source with --source, or delete by --ids");
  }
  const OpenIndex& index_;
  std::unordered_map<std::string, std::optional<std::uint32_t>> found_;  // name -> source
};

// By row: whether it is deleted now.
std::vector<bool> rows_to_delete(const OpenIndex& index, const Deletion& deletion) {
  const std::vector<SampleId> ids = index.columns({}).ids;
  std::vector<bool> gone(ids.size());
  const auto& [names, wanted_ids, source] = deletion;
  if (source && *source >= index.manifest().sources.size()) {
    throw UsageError(index.folder().string() + " has no source " + std::to_string(*source) +
                     ": it has " + std::to_string(index.manifest().sources.size()) +
                     ", from 0; winnow index info lists them");
  }
  if (!names.empty()) NameSearch(names, index).find(ids, source, gone);
  for (const SampleId id : wanted_ids) {
    const auto at = std::ranges::lower_bound(ids, id);
    const auto row = static_cast<std::size_t>(at - ids.begin());
    if (at == ids.end() || *at != id || !index.live()[row] ||
        (source && source_of(id) != *source)) {
      throw UsageError(index.folder().string() + " has no image with id " + std::to_string(id));
    }
    gone[row] = true;
  }
  if (source && names.empty() && wanted_ids.empty()) {
    for (std::size_t row = 0; row < ids.size(); ++row) {
      gone[row] = index.live()[row] && source_of(ids[row]) == *source;
    }
  }
  return gone;
}

}  // namespace

Added add_to_index(const fs::path& folder, const Addition& addition, const IndexOptions& options,
                   const SearchOptions& search) {
  // The kind of an index without sources is still to be chosen.
  std::optional<IndexKind> of_new;
  const auto choose_kind = [&](const OpenIndex* index) {
    if (index && !index->manifest().sources.empty()) {
      check_options(index->manifest().kind, options, folder);
      return index->manifest().kind;
    }
    if (!of_new) of_new = kind_of(addition, options);
    return *of_new;
  };
  Change change(folder, choose_kind(find_index(folder).get()), search.stop);
  // Another process may have changed it before it was locked.
  const IndexKind kind = choose_kind(&change.index());
  const LinkSource inner = [&](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius, const EdgeSink& sink) {
    find_edges(codes, rows, radius, sink, search);
  };
  return add(change, addition, kind, {inner, search});
}

Added merge_indexes(const fs::path& folder, const fs::path& other, const SearchOptions& search) {
  const StoredIndex from = StoredIndex::open(other);
  Change change(folder, search.stop);
  if (std::error_code ignored; fs::equivalent(folder, other, ignored)) {
    throw UsageError(folder.string() + " and " + other.string() + " are the same index");
  }
  const IndexKind a = change.manifest().kind;
  const IndexKind& b = from.kind();
  if (a != b) {
    const auto words = [](const IndexKind& kind) {
      return kind.hash + " version " + std::to_string(kind.version) + ", radius " +
             std::to_string(kind.radius);
    };
    throw UsageError(folder.string() + " has codes of " + words(a) + ", but " + other.string() +
                     " has codes of " + words(b) +
                     "; only indexes with the same hash and radius can be merged; add the caches "
                     "of the other index instead");
  }
  return add(change,
             {from.sources(), from.classes(), from.columns(), from.names(), from.thumbnails()}, a,
             {from.links(search), search});
}

std::uint64_t delete_from_index(const fs::path& folder, const Deletion& deletion,
                                const StopRequested& stop) {
  Change change(folder, stop);
  const OpenIndex& index = change.index();
  const std::vector<bool> gone = rows_to_delete(index, deletion);
  const auto count = static_cast<std::uint64_t>(std::ranges::count(gone, true));
  if (count == 0) return 0;
  std::vector<std::uint32_t> dead;
  for (std::uint32_t row = 0; row < gone.size(); ++row) {
    if (gone[row] || !index.live()[row]) dead.push_back(row);
  }
  IndexManifest manifest = change.manifest();
  manifest.deleted = dead.size();
  manifest.tombstones = change.write(
      FileRole::kTombstones, [&](const fs::path& path) { return write_tombstones(path, dead); });
  change.commit(std::move(manifest));
  return count;
}

std::uint64_t compact_index(const fs::path& folder, const StopRequested& stop) {
  Change change(folder, stop);
  const std::uint64_t dropped = change.manifest().deleted;
  if (dropped > 0 || change.manifest().segments.size() > 1) compact(change);
  return dropped;
}

}  // namespace winnow::dedup
