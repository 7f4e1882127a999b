#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "dedup/index/index.h"
#include "pipeline/store/cache.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_lists.h"
#include "tools/dedup_search.h"
#include "tools/in_place.h"
#include "tools/index_inputs.h"
#include "tools/index_verbs.h"
#include "tools/obeyed.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct IndexQueryOptions {
  fs::path index;
  IndexInputs inputs;
  int threshold = 4;
  bool fail_on_match = false;
};

void query(const IndexQueryOptions& o, const Session& session) {
  const auto index = dedup::StoredIndex::open(o.index);
  const auto name_in_index = index.name_of();
  std::uint64_t found = 0;
  std::uint64_t asked = 0;
  // Nothing is printed when an input is not there.
  for (const fs::path& input : o.inputs.paths) {
    if (!is_data_set(input)) pipeline::Cache::open(input);
  }
  bool has_header = false;
  for (const fs::path& input : o.inputs.paths) {
    with_cache(input, o.inputs.reading, index.kind().hash, session,
               [&](const pipeline::Cache& cache) {
                 stop_if_asked(session);
                 const dedup::ColumnSource columns = cache.open_fingerprints();
                 const std::vector<dedup::Match> matches =
                     index.find_matches(columns, o.threshold, search_options(session));
                 const dedup::Fingerprints table = columns({});
                 const pipeline::LedgerNames names = cache.read_names();
                 if (!std::exchange(has_header, true)) {
                   fmt::print("input,id,name,split,match_id,match_name,match_source,distance\n");
                 }
                 for (const dedup::Match& match : matches) {
                   const SampleId id = table.ids[match.row];
                   fmt::print("{},{},{},{},{},{},{},{}\n", csv_field(input.string()), id,
                              csv_field(names(id)), split_name(table.splits[match.row]), match.id,
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

fs::path selections_of(const fs::path& index) { return index / "selections"; }

struct IndexDedupOptions {
  fs::path index;
  DedupFlags dedup;
  Obeyed obeyed;
  std::string name = "default";
  ListFlags lists;
  bool json = false;
};

void deduplicate(const IndexDedupOptions& o, const CLI::App& app, const Session& session) {
  pipeline::check_selection_name(o.name);
  const auto index = dedup::StoredIndex::open(o.index);
  dedup::Options options = dedup_options(o.dedup);
  if (app.count("--hash") == 0) options.hash = index.kind().hash;
  if (options.hash == index.kind().hash && options.threshold > index.kind().radius) {
    say(session, fmt::format("{} bits are beyond the {} up to which {} has links: all is searched, "
                             "as in a cache; an index made with a larger --radius is quicker",
                             options.threshold, index.kind().radius, o.index.string()));
  }
  const dedup::ColumnSource columns = stoppable(index.columns(), session);
  obey(session, o.obeyed, columns, index.names(), options);
  const dedup::LinkSource links = index.links(search_options(session));
  dedup::Result result = dedup::deduplicate(columns, options, links);
  result.selection.name = o.name;
  result.selection.cache_digest = index.digest();

  const fs::path selection = selections_of(o.index) / (o.name + ".selection");
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
Json selections_json(const fs::path& folder, const std::string& digest) {
  std::map<std::string, bool> current;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(selections_of(folder), ignored)) {
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

Json info_json(const dedup::StoredIndex& index) {
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
          {"selections", selections_json(index.folder(), digest)}};
}

struct IndexInfoOptions {
  fs::path index;
  bool json = false;
};

void info(const IndexInfoOptions& o) {
  const Json json = info_json(dedup::StoredIndex::open(o.index));
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

SubVerb add_index_info(CLI::App& index) {
  auto o = std::make_shared<IndexInfoOptions>();
  CLI::App* app = add_index_verb(index, "info", "Say what is in an index", o->index);
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer("Example:\n  winnow index info all.index");
  return {app, [o](Session&) { info(*o); }};
}

SubVerb add_index_query(CLI::App& index) {
  auto o = std::make_shared<IndexQueryOptions>();
  CLI::App* app = add_index_verb(
      index, "query", "Print as CSV which images have a duplicate in the index, and the nearest",
      o->index);
  app->add_option("--threshold", o->threshold, "Bits that may differ between duplicates")
      ->capture_default_str();
  app->add_flag("--fail-on-match", o->fail_on_match, "Exit with code 3 when there are any");
  add_index_inputs(*app, o->inputs);
  app->footer("Example:\n  winnow index query all.index delivery.tar --threshold 6 > known.csv");
  return {app, [o](Session& session) { query(*o, session); }};
}

SubVerb add_index_dedup(CLI::App& index) {
  auto o = std::make_shared<IndexDedupOptions>();
  CLI::App* app = add_index_verb(
      index, "dedup", "Find duplicates in the index; write a selection into it", o->index);
  app->add_option("--name", o->name, "Name of the selection")->capture_default_str();
  add_dedup_flags(*app, "--", o->dedup);
  add_obeyed_flags(*app, o->obeyed);
  add_list_flags(*app, o->lists);
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer(
      R"(The same as winnow dedup of one cache of all the images in the index, without a search at any
threshold up to the index's radius. --hash is that of the index, or exact.

Example:
  winnow index dedup all.index --threshold 6 --keep largest)");
  return {app, [o, app](Session& session) { deduplicate(*o, *app, session); }};
}

}  // namespace winnow::tools
