#include "app/index/change.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

#include "app/dedup/compared.h"
#include "app/dedup/search.h"
#include "app/index/pictures.h"
#include "app/words.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "dedup/index/fitted.h"

namespace winnow::app {
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
  say(session, fmt::format("{}: {} of {}, compared by {}", folder.string(),
                           count_of(index.live_rows(), "image"),
                           count_of(index.sources().size(), "source"), index.kind().hash));
}

void tell(const Session& session, const dedup::Added& added) {
  if (!added.known.empty()) {
    say(session, fmt::format("{} already in the index",
                             count_of(added.known.size(), "source is", "sources are")));
  }
  if (!added.sources.empty()) {
    say(session, fmt::format("{} of {} added", count_of(added.rows, "image"),
                             count_of(added.sources.size(), "source")));
  }
}

// Prepares landmarks for queries that will compare pictures unasked. The change is complete
// already: what is not found here, the next query computes.
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

// Reads ids from a list, or from the first column of a CSV.
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

}  // namespace

void index_add(const IndexAddRequest& o, const Session& session) {
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

void index_merge(const IndexMergeRequest& o, const Session& session) {
  tell(session, dedup::merge_indexes(o.index, o.other, search_options(session)));
  tell_size(o.index, session);
  prepare(o.index, session);
}

void index_compact(const fs::path& folder, const Session& session) {
  const std::uint64_t dropped = dedup::compact_index(folder, session.stop);
  say(session, fmt::format("{} removed for good", count_of(dropped, "deleted image")));
  tell_size(folder, session);
  prepare(folder, session);
}

void index_delete(const IndexDeleteRequest& o, const Session& session) {
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
  // With an empty list, --source alone must not delete a whole source.
  const bool nothing = lists && deletion.names.empty() && deletion.ids.empty();
  const std::uint64_t gone =
      nothing ? 0 : dedup::delete_from_index(o.index, deletion, session.stop);
  say(session, fmt::format("{} deleted", count_of(gone, "image")));
  tell_size(o.index, session);
  prepare(o.index, session);
}

}  // namespace winnow::app
