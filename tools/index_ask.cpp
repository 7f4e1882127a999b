#include <fmt/core.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "dedup/index/index.h"
#include "dedup/verify/landmark_table.h"
#include "pipeline/store/cache.h"
#include "tools/across_labels.h"
#include "tools/compared.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_lists.h"
#include "tools/dedup_search.h"
#include "tools/feature_flags.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/index_features.h"
#include "tools/index_inputs.h"
#include "tools/index_pictures.h"
#include "tools/index_verbs.h"
#include "tools/obeyed.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path selections_of(const fs::path& index) { return index / "selections"; }

// Its page, and where pictures of it are.
struct IndexPage {
  fs::path report;
  std::vector<fs::path> sources;
  IngestFlags reading;  // of those that are data sets
};

struct IndexDedupOptions {
  fs::path index;
  DedupFlags dedup;
  FeatureFlags features;
  std::string name = "default";
  ListFlags lists;
  IndexPage page;
  bool json = false;
  std::vector<std::string> words;  // of the command
};

void tell_radius(const IndexDedupOptions& o, const dedup::StoredIndex& index,
                 const dedup::Options& options, const Session& session) {
  if (!o.dedup.choice.threshold || options.hash != index.kind().hash ||
      options.threshold <= index.kind().radius) {
    return;
  }
  say(session, fmt::format("{} bits are beyond the {} up to which {} has links: all is searched, "
                           "as in a cache; an index made with a larger --radius is quicker",
                           options.threshold, index.kind().radius, o.index.string()));
}

void check(const IndexDedupOptions& o) {
  pipeline::check_selection_name(o.name);
  check_choice(o.dedup.choice);
  check_features(o.features, o.dedup.choice);
  check_places(o.lists, o.page.report, o.json);
}

void deduplicate(const IndexDedupOptions& o, const Session& session) {
  check(o);
  dedup::Options options = dedup_options(o.dedup);
  const auto index = dedup::StoredIndex::open(o.index);
  if (!o.features.any()) index.check_quality(o.dedup.choice.least_quality);
  const pipeline::PictureOf pictures =
      pictures_of_index(index, o.features.any() ? with_pictures(o.page.sources) : o.page.sources,
                        o.page.reading, session);
  ChoiceFlags choice = o.dedup.choice;
  if (choice.threshold && choice.hash == kAuto) choice.hash = index.kind().hash;
  if (choice.verify.value_or(false)) thumbnails_of(index);  // there are some
  dedup::ColumnSource columns = stoppable(index.columns(), session);
  const dedup::ToldLinks links =
      settle_links(session, choice, o.features, images_of(index, pictures, o.page.sources, session),
                   {.links = index.links(search_options(session))}, columns, options);
  tell_radius(o, index, options, session);
  if (links.verified && !pictures) {
    const bool tells_best = options.policy.keep == dedup::KeepPolicy::kBest;
    say(session, fmt::format("verify: by the thumbnails of the index alone{}; with --source, a "
                             "cache or data set that was added to it, larger pictures are looked "
                             "at, as winnow dedup does",
                             tells_best ? ", which tell the best picture of a group, too" : ""));
  }
  obey(session, o.dedup.obeyed, columns, index.names(), options);
  dedup::Result result = dedup::deduplicate(columns, options, links.source);
  result.selection.name = o.name;
  result.selection.cache_digest = index.digest();

  const fs::path selection = selections_of(o.index) / (o.name + ".selection");
  const Deduplicated what{result, options, columns, links, index.name_of()};
  const std::string first = across_labels(result, options, columns, links.source, o.words);
  const auto show = [&] {
    write_gallery(
        session, what, index.classes(),
        {.title = name_of_folder(o.index),
         .made = made_here(),
         .picture_of = pictures,
         .no_pictures = kNoPicturesInIndex,
         .frame = {.verb = "winnow index dedup", .obeying = "winnow index dedup", .first = first}},
        o.page.report);
  };
  conclude(session, what, o.lists,
           {.first = first,
            .list = fs::path(selection).replace_extension(".csv"),
            .keep =
                [&] {
                  make_directories(selection.parent_path());
                  dedup::write_selection(selection, result.selection);
                },
            .kept = fmt::format("the selection is {}", selection.string()),
            .show = o.page.report.empty() ? std::function<void()>() : show,
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

SubVerb add_index_info(Verb index) {
  auto o = std::make_shared<IndexInfoOptions>();
  const Verb verb = add_index_verb(index, "info", "Say what is in an index", o->index);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer("Example:\n  winnow index info all.index");
  return {verb, [o](Session&) { info(*o); }};
}

SubVerb add_index_dedup(Verb index) {
  auto o = std::make_shared<IndexDedupOptions>();
  const Verb verb = add_index_verb(
      index, "dedup", "Find duplicates in the index; write a selection into it", o->index);
  verb.add_option("--name", o->name, "Name of the selection").show_default();
  add_dedup_flags(verb, "--", o->dedup);
  verb.flag("--hash").description(
      "Hash to compare: auto: that of the index; exact: equal "
      "files and pixels only");
  verb.flag("--threshold")
      .description(
          "Bits that may differ between duplicates; by default as many as have fewer than "
          "0.5 expected false pairs among these images");
  add_feature_flags(verb, o->features);
  add_list_flags(verb, o->lists);
  add_report_flag(verb, o->page.report);
  add_pictures_flag(verb, o->page.sources);
  let_give_more(verb);
  add_reading_flags(verb, o->page.reading);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(The same as winnow dedup of one cache of all the images in the index, without a search at any
threshold up to the index's radius. --hash is that of the index, or exact. An index keeps thumbnails,
but neither larger pictures nor features: name with --source what was added to it.

Examples:
  winnow index dedup all.index --keep largest
  winnow index dedup all.index --source photos/   # as winnow dedup photos/ does
  winnow index dedup all.index --no-verify  # by codes alone
  winnow index dedup all.index --features default --cosine 0.97 --source cache-a --source cache-b
  winnow index dedup all.index --report all.html --source cache --source photos/)");
  return {verb, [o, verb](Session& session) {
            o->words = words_of(verb);
            deduplicate(*o, session);
          }};
}

}  // namespace winnow::tools
