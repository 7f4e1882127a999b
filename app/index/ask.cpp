#include "app/index/ask.h"

#include <fmt/core.h>

#include <functional>
#include <map>
#include <system_error>

#include "app/dedup/across_labels.h"
#include "app/dedup/compared.h"
#include "app/dedup/gallery.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/index/features.h"
#include "app/index/inputs.h"
#include "app/index/pictures.h"
#include "app/printable.h"
#include "app/words.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

fs::path selections_of(const fs::path& index) { return index / "selections"; }

void tell_radius(const IndexDedupRequest& o, const dedup::StoredIndex& index,
                 const dedup::Options& options, const Session& session) {
  if (!o.dedup.choice.threshold || options.hash != index.kind().hash ||
      options.threshold <= index.kind().radius) {
    return;
  }
  say(session,
      fmt::format("{} bits are more than the radius, {} bits, up to which {} stores links: all "
                  "codes are searched, as in a cache. An index with a larger --radius is faster",
                  options.threshold, index.kind().radius, o.index.string()));
}

void check(const IndexDedupRequest& o) {
  pipeline::check_selection_name(o.name);
  check_choice(o.dedup.choice);
  check_features(o.features, o.dedup.choice);
  check_places(o.lists, o.page.report, o.json);
}

// Names of selections, and whether they fit what is in the index now.
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

}  // namespace

void index_dedup(const IndexDedupRequest& o, const Session& session) {
  check(o);
  dedup::Options options = dedup_options(o.dedup);
  const auto index = dedup::StoredIndex::open(o.index);
  if (!o.features.any()) index.check_quality(o.dedup.choice.least_quality);
  const pipeline::PictureOf pictures =
      pictures_of_index(index, o.features.any() ? with_pictures(o.page.sources) : o.page.sources,
                        o.page.reading, session);
  ChoiceOptions choice = o.dedup.choice;
  if (choice.threshold && choice.hash == kAuto) choice.hash = index.kind().hash;
  // fails early if the index has no thumbnails
  if (choice.verify.value_or(false)) thumbnails_of(index);
  dedup::ColumnSource columns = stoppable(index.columns(), session);
  const dedup::LinksWithEvidence links = settle_links(
      session, {choice, o.features}, images_of(index, pictures, o.page.sources, session),
      {.links = index.links(search_options(session))}, columns, options);
  tell_radius(o, index, options, session);
  if (links.verified && !pictures) {
    const bool tells_best = options.policy.keep == dedup::KeepPolicy::kBest;
    say(session,
        fmt::format("verify: by the index's thumbnails only{}; to compare larger pictures, as "
                    "winnow dedup does, name the caches or data sets that were added with --source",
                    tells_best ? ", which also decide the best picture of a group" : ""));
  }
  apply_constraints(session, o.dedup.constraints, columns, index.names(), options);
  dedup::Result result = dedup::deduplicate(columns, options, links.source);
  result.selection.name = o.name;
  result.selection.cache_digest = index.digest();

  const fs::path selection = selections_of(o.index) / (o.name + ".selection");
  const Deduplicated what{result, options, columns, links, index.name_of()};
  const std::string first = across_labels(result, options, columns, links.source, o.words);
  const auto show = [&] {
    write_gallery(session, what, index.classes(),
                  {.title = name_of_folder(o.index),
                   .made = made_here(),
                   .picture_of = pictures,
                   .no_pictures = kNoPicturesInIndex,
                   .frame = {.verb = "winnow index dedup",
                             .applying_verb = "winnow index dedup",
                             .first = first}},
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

void index_info(const IndexInfoRequest& o, const Session& session) {
  const Json json = info_json(dedup::StoredIndex::open(o.index));
  if (o.json) {
    print(session, fmt::format("{}\n", json.dump()));
    return;
  }
  const auto number = [](const Json& value) { return grouped(value.whole()); };
  const auto text = [](const Json& value) { return printable(value.text()); };
  print(session,
        fmt::format("{}, {} MiB, {} version {}, links up to {} bits\n",
                    count_of(json["images"].whole(), "image"), grouped(json["bytes"].whole() >> 20),
                    text(json["hash"]), number(json["hash_version"]), number(json["radius"])));
  if (json["deleted"].whole() > 0) {
    print(session, fmt::format("{} deleted; winnow index compact frees their space\n",
                               count_of(json["deleted"].whole(), "more is", "more are")));
  }
  for (const Json& source : json["sources"]) {
    print(session,
          fmt::format("source {}: {}, {}, {}, {} deleted\n", number(source["source"]),
                      text(source["name"]), text(source["format"]),
                      count_of(source["images"].whole(), "image"), number(source["deleted"])));
  }
  for (const Json& selection : json["selections"]) {
    print(session,
          fmt::format("selection {}{}\n", text(selection["name"]),
                      selection["current"].boolean() ? "" : ", made before the index changed"));
  }
}

}  // namespace winnow::app
