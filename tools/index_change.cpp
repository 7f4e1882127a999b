#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "dedup/index/fitted.h"
#include "dedup/index/index.h"
#include "dedup/verify/known_landmarks.h"
#include "tools/compared.h"
#include "tools/dedup_search.h"
#include "tools/flags/flags.h"
#include "tools/index_inputs.h"
#include "tools/index_pictures.h"
#include "tools/index_verbs.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

dedup::Addition addition_of(const pipeline::Cache& cache, const Session& session) {
  dedup::Addition addition;
  for (const pipeline::SourceInfo& source : cache.manifest().sources) {
    dedup::IndexSource& to = addition.sources.emplace_back();
    to.name = source.name;
    to.format = source.format;
    to.inputs = source.inputs;
    to.listing_hash = source.listing_hash;
    to.class_names = source.class_names;
  }
  addition.classes = cache.manifest().classes;
  addition.columns = [&session, columns = cache.open_fingerprints()](const auto& names) {
    stop_if_asked(session);
    return columns(names);
  };
  addition.thumbnails = cache.open_thumbnails();
  addition.names = [&cache](const dedup::NameSink& sink) {
    cache.for_each_ledger_row([&](const pipeline::LedgerRow& row) { sink(row.id, row.name); });
  };
  return addition;
}

void tell_size(const fs::path& folder, const Session& session) {
  const auto index = dedup::StoredIndex::open(folder);
  say(session,
      fmt::format("{}: {} images of {} sources, compared by {}", folder.string(),
                  grouped(index.live_rows()), grouped(index.sources().size()), index.kind().hash));
}

void tell(const Session& session, const dedup::Added& added) {
  if (!added.known.empty()) {
    say(session,
        fmt::format("{} of the sources are in the index already", grouped(added.known.size())));
  }
  if (!added.sources.empty()) {
    say(session, fmt::format("{} images of {} sources added", grouped(added.rows),
                             grouped(added.sources.size())));
  }
}

// What comparing pictures needs, so that queries have it at once, where they compare them unasked.
// The change is made by now: what is not found here the next query finds.
void prepare(const fs::path& folder, const Session& session) {
  const auto index = dedup::StoredIndex::open(folder);
  const dedup::ColumnSource columns = index.columns();
  const std::vector<std::uint32_t> rows =
      dedup::matchable_rows(columns({"quality"}), dedup::kExact);
  const std::vector<fs::path> none;
  const Images images = images_of(index, {}, none, session);
  if (!images.thumbnails || rows.empty()) return;
  try {
    if (!why_not_looked_at(rows, columns, images).empty()) return;
    tell(session, index.landmarks(rows, search_options(session)));
    index.fitted(session.stop);
  } catch (const StoppedError&) {
    return;
  }
}

struct IndexAddOptions {
  fs::path index;
  IndexInputs inputs;
  std::string hash;
  std::optional<int> radius;
};

void add(const IndexAddOptions& o, const Session& session) {
  dedup::IndexOptions options;
  if (!o.hash.empty()) options.hash = o.hash;
  options.radius = o.radius;
  for (const fs::path& input : o.inputs.paths) {
    const auto index = dedup::StoredIndex::find(o.index);
    const bool is_new = !index || index->sources().empty();
    const std::string hash =
        is_new ? options.hash.value_or(std::string(dedup::kUsualIndexHash)) : index->kind().hash;
    with_cache(input, o.inputs.reading, hash, session, [&](const pipeline::Cache& cache) {
      tell(session, dedup::add_to_index(o.index, addition_of(cache, session), options,
                                        search_options(session)));
    });
  }
  tell_size(o.index, session);
  prepare(o.index, session);
}

struct IndexMergeOptions {
  fs::path index;
  fs::path other;
};

void merge(const IndexMergeOptions& o, const Session& session) {
  tell(session, dedup::merge_indexes(o.index, o.other, search_options(session)));
  tell_size(o.index, session);
  prepare(o.index, session);
}

void compact(const fs::path& folder, const Session& session) {
  const std::uint64_t dropped = dedup::compact_index(folder, session.stop);
  say(session, fmt::format("{} deleted images dropped", grouped(dropped)));
  tell_size(folder, session);
  prepare(folder, session);
}

struct IndexDeleteOptions {
  fs::path index;
  std::vector<std::string> names;
  fs::path names_file;
  fs::path ids_file;
  std::optional<std::uint32_t> source;
};

// Ids from a list of them, or from CSV whose first column they are.
std::vector<SampleId> read_ids(const fs::path& path) {
  std::vector<SampleId> ids;
  CsvReader csv(',', path.string(), [&](std::span<const std::string> fields, std::uint64_t line) {
    const std::string& text = fields.front();
    if (line == 1 && text == "id") return;
    SampleId id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw UsageError(fmt::format("{}, line {}: '{}' is not an id", path.string(), line, text));
    }
    ids.push_back(id);
  });
  csv.feed(read_list_text(path));
  csv.finish();
  return ids;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::vector<std::string> lines = read_list_lines(path);
  std::erase(lines, "");
  return lines;
}

void remove(const IndexDeleteOptions& o, const Session& session) {
  dedup::Deletion deletion{.names = o.names, .ids = {}, .source = o.source};
  const bool lists = !o.names_file.empty() || !o.ids_file.empty();
  if (!o.names_file.empty()) {
    const std::vector<std::string> more = read_lines(o.names_file);
    deletion.names.insert(deletion.names.end(), more.begin(), more.end());
  }
  if (!o.ids_file.empty()) deletion.ids = read_ids(o.ids_file);
  if (!lists && deletion.names.empty() && !deletion.source) {
    throw UsageError("say what to delete: names, --names FILE, --ids FILE or --source N");
  }
  // An empty list is no word about all of a source.
  const bool nothing = lists && deletion.names.empty() && deletion.ids.empty();
  const std::uint64_t gone =
      nothing ? 0 : dedup::delete_from_index(o.index, deletion, session.stop);
  say(session, fmt::format("{} images deleted", grouped(gone)));
  tell_size(o.index, session);
  prepare(o.index, session);
}

}  // namespace

SubVerb add_index_add(Verb index) {
  auto o = std::make_shared<IndexAddOptions>();
  const Verb verb = add_index_verb(
      index, "add", "Add caches or data sets; makes the index where there is none", o->index);
  verb.add_option("--hash", o->hash, "Hash that a new index compares by (default: phash16)");
  verb.add_option("--radius", o->radius,
                  "Bits up to which a new index has links (default: 4 more than the hash's usual "
                  "threshold, at least an eighth of its bits)")
      .check(whole_in(0, kMostBits));
  add_index_inputs(verb, o->inputs);
  verb.footer(
      R"(A source that is in the index already is passed over: of a cache that got more, only that
is added.

Example:
  winnow index add all.index cache-2025 photos-of-may/ --hash phash --radius 10)");
  return {verb, [o](Session& session) { add(*o, session); }};
}

SubVerb add_index_delete(Verb index) {
  auto o = std::make_shared<IndexDeleteOptions>();
  const Verb verb = add_index_verb(index, "delete", "Delete images", o->index);
  verb.add_option("name", o->names, "What winnow calls them, as in the CSV of dedup");
  verb.add_option("--names", o->names_file, "File of names, one a line");
  verb.add_option("--ids", o->ids_file, "File of ids, one a line, or CSV that begins with them");
  verb.add_option("--source", o->source,
                  "Only of the source of this number (see info); alone: all of it")
      .check(whole_in(0, kMostCount));
  verb.footer(
      R"(Examples:
  winnow index delete all.index train/cat/17.jpg --source 2
  winnow index delete all.index --ids all.index/selections/default.csv  # what dedup removed)");
  return {verb, [o](Session& session) { remove(*o, session); }};
}

SubVerb add_index_merge(Verb index) {
  auto o = std::make_shared<IndexMergeOptions>();
  const Verb verb = add_index_verb(
      index, "merge", "Add what is in another index of the same hash and radius", o->index);
  verb.add_option("other", o->other, "That index; it is only read").required();
  verb.footer(
      R"(Its sources come after those that are there.

Example:
  winnow index merge all.index site-b.index)");
  return {verb, [o](Session& session) { merge(*o, session); }};
}

SubVerb add_index_compact(Verb index) {
  auto folder = std::make_shared<fs::path>();
  const Verb verb = add_index_verb(
      index, "compact", "Drop deleted images for good, and make one table of many", *folder);
  verb.footer("Ids stay.\n\nExample:\n  winnow index compact all.index");
  return {verb, [folder](Session& session) { compact(*folder, session); }};
}

}  // namespace winnow::tools
