#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "dedup/index/index.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_lists.h"
#include "tools/in_place.h"
#include "tools/ingest_flags.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct IndexOptions {
  fs::path index;
  std::vector<fs::path> inputs;  // caches or data sets
  IngestFlags reading;           // of data sets
  std::string hash;
  std::optional<int> radius;
  int threshold = 4;
  bool fail_on_match = false;
  std::vector<std::string> names;
  fs::path names_file;
  fs::path ids_file;
  std::optional<std::uint32_t> source;
  fs::path other;
  DedupFlags dedup;
  std::string name = "default";
  ListFlags lists;
  bool json = false;
};

void stop_if_asked(const Session& session) {
  if (!session.stop()) return;
  throw StoppedError(
      "stopped before the end; an index has the inputs that were added before: run the same "
      "command again to go on");
}

// Calls `use` with a cache, or with one of the fingerprints of a data set, which is gone
// afterwards.
void with_cache(const IndexOptions& o, const Session& session, const fs::path& input,
                const std::string& hash, const std::function<void(const pipeline::Cache&)>& use) {
  if (!is_data_set(input)) {
    use(pipeline::Cache::open(input));
    return;
  }
  const TemporaryFolder folder(fs::temp_directory_path());
  try {
    fingerprint_in_place(input, o.reading, {hash}, session, folder.path());
  } catch (const StoppedError&) {
    stop_if_asked(session);  // not to go on in a folder that is no more
    throw;
  }
  use(pipeline::Cache::open(folder.path()));
}

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
  addition.names = [&cache](const dedup::NameSink& sink) {
    cache.for_each_ledger_row([&](const pipeline::LedgerRow& row) { sink(row.id, row.name); });
  };
  return addition;
}

void tell_size(const IndexOptions& o, const Session& session) {
  const auto index = dedup::StoredIndex::open(o.index);
  say(session, fmt::format("{}: {} images of {} sources", o.index.string(),
                           grouped(index.live_rows()), grouped(index.sources().size())));
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

void add(const IndexOptions& o, const Session& session) {
  dedup::IndexOptions options;
  if (!o.hash.empty()) options.hash = o.hash;
  options.radius = o.radius;
  for (const fs::path& input : o.inputs) {
    const auto index = dedup::StoredIndex::find(o.index);
    const bool is_new = !index || index->sources().empty();
    const std::string hash = is_new ? options.hash.value_or("phash") : index->kind().hash;
    with_cache(o, session, input, hash, [&](const pipeline::Cache& cache) {
      tell(session, dedup::add_to_index(o.index, addition_of(cache, session), options));
    });
  }
  tell_size(o, session);
}

void merge(const IndexOptions& o, const Session& session) {
  tell(session, dedup::merge_indexes(o.index, o.other));
  tell_size(o, session);
}

void compact(const IndexOptions& o, const Session& session) {
  const std::uint64_t dropped = dedup::compact_index(o.index);
  say(session, fmt::format("{} deleted images dropped", grouped(dropped)));
  tell_size(o, session);
}

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
  csv.feed(read_text(path));
  csv.finish();
  return ids;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::vector<std::string> lines;
  const std::string text = read_text(path);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

void remove(const IndexOptions& o, const Session& session) {
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
  const std::uint64_t gone = nothing ? 0 : dedup::delete_from_index(o.index, deletion);
  say(session, fmt::format("{} images deleted", grouped(gone)));
  tell_size(o, session);
}

void query(const IndexOptions& o, const Session& session) {
  const auto index = dedup::StoredIndex::open(o.index);
  const auto name_in_index = index.name_of();
  std::uint64_t found = 0;
  std::uint64_t asked = 0;
  // Nothing is printed when an input is not there.
  for (const fs::path& input : o.inputs) {
    if (!is_data_set(input)) pipeline::Cache::open(input);
  }
  bool has_header = false;
  for (const fs::path& input : o.inputs) {
    with_cache(o, session, input, index.kind().hash, [&](const pipeline::Cache& cache) {
      stop_if_asked(session);
      const dedup::ColumnSource columns = cache.open_fingerprints();
      const std::vector<dedup::Match> matches = index.find_matches(columns, o.threshold);
      const dedup::Fingerprints table = columns({});
      const pipeline::LedgerNames names = cache.read_names();
      if (!std::exchange(has_header, true)) {
        fmt::print("input,id,name,split,match_id,match_name,match_source,distance\n");
      }
      for (const dedup::Match& match : matches) {
        const SampleId id = table.ids[match.row];
        fmt::print("{},{},{},{},{},{},{},{}\n", csv_field(input.string()), id, csv_field(names(id)),
                   split_name(table.splits[match.row]), match.id,
                   csv_field(name_in_index(match.id)),
                   csv_field(index.sources()[source_of(match.id)].name), match.distance);
      }
      found += matches.size();
      asked += table.size();
    });
  }
  say(session,
      fmt::format("{} of {} images have a duplicate in the index", grouped(found), grouped(asked)));
  if (o.fail_on_match && found > 0) {
    throw RefusedError("some of the images are in the index already and --fail-on-match is set");
  }
}

fs::path selections_of(const IndexOptions& o) { return o.index / "selections"; }

void deduplicate(const IndexOptions& o, const CLI::App& app, const Session& session) {
  pipeline::check_selection_name(o.name);
  const auto index = dedup::StoredIndex::open(o.index);
  dedup::Options options = dedup_options(o.dedup);
  if (app.count("--hash") == 0) options.hash = index.kind().hash;
  if (options.hash == index.kind().hash && options.threshold > index.kind().radius) {
    say(session, fmt::format("{} bits are beyond the {} up to which {} has links: all is searched, "
                             "as in a cache; an index made with a larger --radius is quicker",
                             options.threshold, index.kind().radius, o.index.string()));
  }
  const dedup::ColumnSource columns = index.columns();
  const dedup::LinkSource links = index.links();
  dedup::Result result = dedup::deduplicate(columns, options, links);
  result.selection.name = o.name;
  result.selection.cache_digest = index.digest();

  const fs::path selection = selections_of(o) / (o.name + ".selection");
  conclude(session, {result, options, columns, links, index.name_of()}, o.lists,
           {.list = fs::path(selection).replace_extension(".csv"),
            .keep =
                [&] {
                  make_directories(selection.parent_path());
                  dedup::write_selection(selection, result.selection);
                },
            .kept = fmt::format("the selection is {}", selection.string()),
            .fails_on_leak = o.dedup.fails_on_leak(),
            .json = o.json});
}

// Names of selections, and whether they are of what is in the index now.
Json selections_json(const IndexOptions& o, const std::string& digest) {
  std::map<std::string, bool> current;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(selections_of(o), ignored)) {
    if (entry.path().extension() != ".selection") continue;
    const dedup::Selection selection = dedup::read_selection(InputFile(entry.path()));
    current[entry.path().stem().string()] = selection.cache_digest == digest;
  }
  Json list = Json::array();
  for (const auto& [name, is_current] : current) {
    list.push_back({{"name", to_utf8(name)}, {"current", is_current}});
  }
  return list;
}

Json info_json(const IndexOptions& o, const dedup::StoredIndex& index) {
  std::vector<std::uint64_t> images(index.sources().size());
  for (const SampleId id : index.columns()({}).ids) ++images[source_of(id)];
  Json sources = Json::array();
  for (std::size_t i = 0; i < index.sources().size(); ++i) {
    const dedup::IndexSource& source = index.sources()[i];
    sources.push_back({{"source", i},
                       {"name", to_utf8(source.name)},
                       {"format", source.format},
                       {"images", images[i]},
                       {"deleted", source.rows - images[i]}});
  }
  Json classes = Json::array();
  for (const std::string& name : index.classes()) classes.push_back(to_utf8(name));
  const std::string digest = index.digest();
  return {{"schema", "winnow.index/1"},
          {"hash", index.kind().hash},
          {"hash_version", index.kind().version},
          {"bits", index.kind().bits},
          {"radius", index.kind().radius},
          {"images", index.live_rows()},
          {"deleted", index.deleted_rows()},
          {"segments", index.segments()},
          {"bytes", index.bytes()},
          {"digest", digest},
          {"classes", classes},
          {"sources", sources},
          {"selections", selections_json(o, digest)}};
}

void info(const IndexOptions& o) {
  const Json json = info_json(o, dedup::StoredIndex::open(o.index));
  if (o.json) {
    fmt::print("{}\n", json.dump());
    return;
  }
  const auto number = [](const Json& value) { return grouped(value.get<std::uint64_t>()); };
  const auto text = [](const Json& value) { return printable(value.get<std::string>()); };
  fmt::print("{} images, {} MiB, {} version {}, links up to {} bits\n", number(json["images"]),
             grouped(json["bytes"].get<std::uint64_t>() >> 20), text(json["hash"]),
             number(json["hash_version"]), number(json["radius"]));
  if (json["deleted"] > 0) {
    fmt::print("{} more are deleted, and gone for good with winnow index compact\n",
               number(json["deleted"]));
  }
  for (const Json& source : json["sources"]) {
    fmt::print("source {}: {}, {}, {} images, {} deleted\n", number(source["source"]),
               text(source["name"]), text(source["format"]), number(source["images"]),
               number(source["deleted"]));
  }
  for (const Json& selection : json["selections"]) {
    fmt::print("selection {}{}\n", text(selection["name"]),
               selection["current"] ? "" : ", of what the index was before a change");
  }
}

}  // namespace

Command add_index(CLI::App& program) {
  auto o = std::make_shared<IndexOptions>();
  CLI::App* app = program.add_subcommand(
      "index",
      "Keep fingerprints that grow: add, delete, merge, ask, deduplicate, without "
      "searching all again");
  app->require_subcommand(1);
  const auto verb = [&](const char* name, const char* what) {
    CLI::App* sub = app->add_subcommand(name, what);
    sub->add_option("index", o->index, "Folder of the index")->required();
    return sub;
  };
  const auto inputs = [&](CLI::App* sub) {
    sub->add_option("inputs", o->inputs,
                    "Caches made by winnow ingest, or data sets, as of ingest, whose images are "
                    "looked at where they are")
        ->required();
  };

  CLI::App* adds = verb("add", "Add caches or data sets; makes the index where there is none");
  inputs(adds);
  adds->add_option("--hash", o->hash, "Hash that a new index compares by (default: phash)");
  adds->add_option("--radius", o->radius,
                   "Bits up to which a new index has links (default: an eighth of the hash's)");
  add_reading_flags(*adds, o->reading);
  adds->footer(
      "A source that is in the index already is passed over: of a cache that got more, only that\n"
      "is added.\n\n"
      "Example:\n  winnow index add all.index cache-2025 photos-of-may/ --hash phash --radius 10");

  CLI::App* deletes = verb("delete", "Delete images");
  deletes->add_option("names", o->names, "What winnow calls them, as in the CSV of dedup");
  deletes->add_option("--names", o->names_file, "File of names, one a line");
  deletes->add_option("--ids", o->ids_file,
                      "File of ids, one a line, or CSV that begins with them");
  deletes->add_option("--source", o->source,
                      "Only of the source of this number (see info); alone: all of it");
  deletes->footer(
      "Examples:\n"
      "  winnow index delete all.index train/cat/17.jpg --source 2\n"
      "  winnow index delete all.index --ids all.index/selections/default.csv  # what dedup "
      "removed");

  CLI::App* merges = verb("merge", "Add what is in another index of the same hash and radius");
  merges->add_option("other", o->other, "That index; it is only read")->required();
  merges->footer(
      "Its sources come after those that are there.\n\n"
      "Example:\n  winnow index merge all.index site-b.index");

  CLI::App* compacts = verb("compact", "Drop deleted images for good, and make one table of many");
  compacts->footer("Ids stay.\n\nExample:\n  winnow index compact all.index");

  CLI::App* infos = verb("info", "Say what is in an index");
  infos->add_flag("--json", o->json, "Print one JSON object on stdout");
  infos->footer("Example:\n  winnow index info all.index");

  CLI::App* queries =
      verb("query", "Print as CSV which images have a duplicate in the index, and the nearest");
  inputs(queries);
  queries->add_option("--threshold", o->threshold, "Bits that may differ between duplicates")
      ->capture_default_str();
  queries->add_flag("--fail-on-match", o->fail_on_match, "Exit with code 3 when there are any");
  add_reading_flags(*queries, o->reading);
  queries->footer(
      "Example:\n  winnow index query all.index delivery.tar --threshold 6 > known.csv");

  CLI::App* dedups = verb("dedup", "Find duplicates in the index; write a selection into it");
  dedups->add_option("--name", o->name, "Name of the selection")->capture_default_str();
  add_dedup_flags(*dedups, "--", o->dedup);
  add_list_flags(*dedups, o->lists);
  dedups->add_flag("--json", o->json, "Print one JSON object on stdout");
  dedups->footer(
      "The same as winnow dedup of one cache of all the images in the index, without a search at "
      "any\nthreshold up to the index's radius. --hash is that of the index, or exact.\n\n"
      "Example:\n  winnow index dedup all.index --threshold 6 --keep largest");

  app->footer(
      "Nothing but INDEX is written to (and TMPDIR, while a data set is looked at), and images are "
      "not needed once they are added. A change "
      "that\n"
      "is stopped, however it was, leaves the index as it was before.\n\n"
      "Examples:\n"
      "  winnow index add all.index cache              # the first time: makes it\n"
      "  winnow index query all.index new-photos/      # which of these do we have?\n"
      "  winnow index add all.index new-photos/\n"
      "  winnow index dedup all.index --threshold 6\n"
      "  winnow index info all.index --json");
  return {app, false,
          [=](Session& session) {
            if (adds->parsed()) add(*o, session);
            if (deletes->parsed()) remove(*o, session);
            if (merges->parsed()) merge(*o, session);
            if (compacts->parsed()) compact(*o, session);
            if (infos->parsed()) info(*o);
            if (queries->parsed()) query(*o, session);
            if (dedups->parsed()) deduplicate(*o, *dedups, session);
          },
          /*stops=*/true, [=] { return adds->parsed() || queries->parsed(); }};
}

}  // namespace winnow::tools
