#include "app/info/info.h"

#include <fmt/core.h>

#include <array>

#include "app/dedup/search.h"
#include "app/info/issues.h"
#include "app/page/ingest_page.h"
#include "app/printable.h"
#include "app/sources/reading.h"
#include "app/words.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/decisions/settings.h"
#include "dedup/features/feature_table.h"
#include "pipeline/decode/encode.h"
#include "pipeline/export/sheet.h"
#include "pipeline/store/features.h"

namespace winnow::app {
namespace {

using BySplit = pipeline::SelectionCounts::BySplit;

std::uint64_t sum(const BySplit& counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  return total;
}

std::string name_of_split(std::size_t split) {
  return std::string(split_name(static_cast<Split>(split)));
}

// {"kept": ..., "removed": ..., "splits": {"train": {...}}}, with non-empty splits only.
Json to_json(const pipeline::SelectionCounts::Counts& counts) {
  Json splits = Json::object();
  for (std::size_t split = 0; split < counts.kept.size(); ++split) {
    if (counts.kept[split] + counts.removed[split] == 0) continue;
    splits[name_of_split(split)] = {{"kept", counts.kept[split]},
                                    {"removed", counts.removed[split]}};
  }
  return {{"kept", sum(counts.kept)}, {"removed", sum(counts.removed)}, {"splits", splits}};
}

Json settings_json(const dedup::Selection& selection) {
  if (selection.settings.empty()) return Json::object();
  const std::string where = "what selection '" + selection.name + "' was decided by";
  return JsonReader(selection.settings, {where, "make the selection again"}).json();
}

Json to_json(const dedup::Selection& selection, const pipeline::SelectionCounts& counts,
             const pipeline::Manifest& manifest) {
  Json json{{"name", selection.name}, {"settings", settings_json(selection)}};
  json.update(to_json(counts.all));
  json["classes"] = Json::array();
  for (std::size_t label = 0; label < counts.labels.size(); ++label) {
    Json row{{"name", to_utf8(manifest.classes[label])}};
    row.update(to_json(counts.labels[label]));
    json["classes"].push_back(std::move(row));
  }
  json["unlabelled"] = to_json(counts.unlabelled);
  return json;
}

void print_table(const Session& session, const char* name, const pipeline::Histogram& histogram,
                 std::string (*range)(int), const char* unit) {
  constexpr double kFew = 0.01;  // smaller shares go into "others"
  const auto total = static_cast<double>(histogram.total());
  std::string line;
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const std::uint64_t count = histogram.counts[i];
    const double share = static_cast<double>(count) / total;
    if (share < kFew) {
      others += count;
      continue;
    }
    line += fmt::format("{}{}{} {:.0f} %", line.empty() ? "" : ", ",
                        range(histogram.first + static_cast<int>(i)), unit, 100 * share);
  }
  if (others > 0) line += fmt::format("; {} others", grouped(others));
  print(session, fmt::format("{:10}{}\n", name, line));
}

// Images of each class in each split; on one line if there are many classes.
void print_classes(const Session& session, const pipeline::Manifest& m) {
  constexpr std::size_t kMost = 20;
  const pipeline::Statistics& s = *m.images.statistics;
  if (m.classes.empty()) return;
  print(session, fmt::format("          {}\n", in_words(balance_of(images_by_class(s)))));
  for (std::size_t label = 0; label < m.classes.size() && m.classes.size() <= kMost; ++label) {
    std::string counts;
    for (int split = 0; split < kSplitCount; ++split) {
      const auto i = static_cast<std::size_t>(split);
      if (m.images.split_counts[i] == 0) continue;
      const auto which = static_cast<Split>(split);
      counts += fmt::format("  {:>9} {}", grouped(s.splits[i].classes[label]),
                            which == Split::kNone ? "images" : split_name(which));
    }
    print(session, fmt::format("  {:18}{}\n", printable(m.classes[label]), counts));
  }
}

void print_pixels(const Session& session, const pipeline::Manifest& m) {
  const std::array<double, 3> mean = m.images.mean();
  const std::array<double, 3> deviation = m.images.deviation();
  const bool train = m.images.split_counts[static_cast<std::size_t>(Split::kTrain)] > 0;
  if (m.images.pixel_sums.pixels == 0) return;
  const auto list = [&](const std::array<double, 3>& values) {
    return m.images.channels == 1
               ? fmt::format("{:.4f}", values[0])
               : fmt::format("{:.4f} {:.4f} {:.4f}", values[0], values[1], values[2]);
  };
  print(session, fmt::format("mean      {} (of {} images, white is 1)\n", list(mean),
                             train ? "train" : "all"));
  print(session, fmt::format("deviation {}\n", list(deviation)));
}

void print_sizes(const Session& session, const pipeline::Statistics& s) {
  if (s.largest.pixels() == 0) return;
  print_table(session, "sides", s.short_side, short_side_range, " px");
  print_table(session, "aspect", s.aspect, aspect_range, "");
  print_table(session, "files", s.file_bytes, file_bytes_range, "");
  print(session, fmt::format("smallest  {} x {} px, largest {} x {} px\n", s.smallest.width_px,
                             s.smallest.height_px, s.largest.width_px, s.largest.height_px));
}

void print_manifest(const Session& session, const pipeline::Manifest& m) {
  for (const pipeline::SourceInfo& s : m.sources) {
    print(session, fmt::format("source    {} ({}, {} inputs)\n", printable(s.name), s.format,
                               grouped(s.inputs)));
  }
  for (int split = 0; split < kSplitCount; ++split) {
    const std::uint64_t count = m.images.split_counts[static_cast<std::size_t>(split)];
    if (count == 0) continue;
    print(session, fmt::format("split     {}: {} images\n", split_name(static_cast<Split>(split)),
                               grouped(count)));
  }
  for (const auto& [fate, count] : m.inputs.by_fate) {
    if (count > 0) print(session, fmt::format("ledger    {}: {}\n", fate, grouped(count)));
  }
  print(session,
        fmt::format("images    {}, {}\n", m.images.channels == 1 ? "gray" : "colour",
                    m.images.height_px > 0
                        ? fmt::format("all {} x {} px", m.images.width_px, m.images.height_px)
                        : std::string("of differing sizes")));
  print(session,
        fmt::format("classes   {}\n",
                    m.classes.empty() ? "none (unlabelled)" : std::to_string(m.classes.size())));
  if (m.images.statistics) {
    print_classes(session, m);
    print_sizes(session, *m.images.statistics);
  }
  print_pixels(session, m);
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : m.shards) bytes += shard.bytes;
  print(session, fmt::format("shards    {} ({} MiB, store {})\n", m.shards.size(),
                             grouped(bytes >> 20), m.store));
  const std::string variants = app::in_words(pipeline::variant_settings(m.settings.variants));
  if (!variants.empty()) print(session, fmt::format("stored    {}\n", variants));
}

// Bytes of all thumbnails; 0 if there are none.
std::uint64_t thumbnail_bytes(const pipeline::Cache& cache) {
  return cache.manifest().settings.fingerprints.thumbnails ? cache.thumbnail_bytes() : 0;
}

void print_thumbnails(const Session& session, const pipeline::Cache& cache) {
  const std::uint64_t bytes = thumbnail_bytes(cache);
  const std::uint64_t images = cache.manifest().inputs.by_fate.at("ok");
  print(session, fmt::format("thumbnail {}\n",
                             bytes == 0 ? "none"
                                        : fmt::format("{} bytes an image, {} together",
                                                      grouped(bytes / images), in_bytes(bytes))));
}

// The features of a cache, as winnow embed described them when it made them.
Json features_json(const pipeline::Cache& cache) {
  Json list = Json::array();
  for (const std::string& name : pipeline::list_features(cache.paths())) {
    const InputFile file(pipeline::features_path(cache.paths(), name));
    const dedup::FeaturesAbout about = dedup::read_about_features(file);
    const JsonReader source(about.source, {file.path().string() + ": where its vectors are from",
                                           "make it again with winnow embed"});
    source.members();
    list.push_back({{"name", to_utf8(name)},
                    {"current", about.cache_digest == cache.digest()},
                    {"images", about.rows},
                    {"dimensions", about.dimensions},
                    {"dtype", dedup::feature_type_name(about.type)},
                    {"bytes", file.size()},
                    {"source", source.json()}});
  }
  return list;
}

// Where features come from: "lenet of run", "resnet50 of weights.safetensors", "vectors.npy".
std::string maker_in_words(const Json& source) {
  const auto text = [&](const char* key) {
    const Json* found = source.find(key);
    return found != nullptr && found->is_string() ? printable(found->text()) : "";
  };
  if (source.contains("npy")) return text("npy");
  if (source.contains("weights")) return text("net") + " of " + text("weights");
  const bool ema = source.contains("ema") && source["ema"] == true;
  return fmt::format("{} of {}, {}{}", text("net"), text("run"), text("checkpoint"),
                     ema ? ", its averages" : "");
}

void print_features(const Session& session, const pipeline::Cache& cache) {
  for (const Json& of : features_json(cache)) {
    print(session,
          fmt::format("features  {}: {} images, {} dimensions, {}, {}, by {}{}\n",
                      printable(of["name"].text()), grouped(of["images"].whole()),
                      grouped(of["dimensions"].whole()), of["dtype"].text(),
                      in_bytes(of["bytes"].whole()), maker_in_words(of["source"]),
                      of["current"] == true ? "" : "; made for another cache: make them again"));
  }
}

// A table with a line per class and a column per non-empty split: kept images, with removed ones in
// parentheses.
void print_selection(const Session& session, const dedup::Selection& selection,
                     const pipeline::SelectionCounts& counts, const pipeline::Manifest& manifest) {
  const std::string words = dedup::settings_in_words(selection.settings);
  print(session, fmt::format("selection {}: {} kept, {} removed{}\n", selection.name,
                             grouped(sum(counts.all.kept)), grouped(sum(counts.all.removed)),
                             words.empty() ? "" : ", decided by " + printable(words)));
  std::vector<std::size_t> splits;
  for (std::size_t split = 0; split < counts.all.kept.size(); ++split) {
    if (counts.all.kept[split] + counts.all.removed[split] > 0) splits.push_back(split);
  }
  const auto line = [&](const std::string& name, const auto& text) {
    std::string out = fmt::format("  {:28}", name);
    for (const std::size_t split : splits) out += fmt::format("{:>22}", text(split));
    print(session, fmt::format("{}\n", out));
  };
  const auto row = [&](const std::string& name, const pipeline::SelectionCounts::Counts& of) {
    line(name, [&](std::size_t split) {
      return grouped(of.kept[split]) +
             (of.removed[split] > 0 ? " (-" + grouped(of.removed[split]) + ")" : "");
    });
  };
  line("", name_of_split);
  row("all", counts.all);
  for (std::size_t label = 0; label < counts.labels.size(); ++label) {
    row(printable(manifest.classes[label]), counts.labels[label]);
  }
  if (sum(counts.unlabelled.kept) + sum(counts.unlabelled.removed) > 0) {
    row("(unlabelled)", counts.unlabelled);
  }
}

// The size that was asked for, else that of the images, else ImageNet's if they differ in size.
std::optional<pipeline::SheetRecipe> sheet_recipe(const SheetOptions& o,
                                                  const pipeline::Manifest& m) {
  if (o.augment.empty()) return std::nullopt;
  constexpr int kUsualPx = 224;
  pipeline::SheetRecipe how{.recipe = pipeline::parse_recipe(o.augment),
                            .height_px = m.images.height_px > 0 ? m.images.height_px : kUsualPx,
                            .width_px = m.images.height_px > 0 ? m.images.width_px : kUsualPx,
                            .seed = o.seed.value_or(1)};
  for (std::size_t c = 0; c < 3; ++c) {
    how.levels.mean[c] = 255 * m.images.mean()[c];
    how.levels.deviation[c] = 255 * m.images.deviation()[c];
  }
  if (!o.image_size.empty()) {
    const std::optional<Sides> sides = parse_sides(o.image_size);
    if (!sides) {
      throw UsageError("--image-size " + o.image_size +
                       " is not a size; give a side in pixels, such as 224, or HxW");
    }
    how.height_px = sides->height_px;
    how.width_px = sides->width_px;
  }
  return how;
}

// Writes the sheet. Returns the PNG.
Bytes write_sheet(const InfoRequest& o, const pipeline::Cache& cache, const Session& session) {
  pipeline::SheetOptions options{
      .choice = {.selection = o.selection, .removed = o.sheet.of.removed},
      .count = o.sheet.count,
      .columns = o.sheet.columns,
      .seed = o.sheet.seed,
      .threads = plan_threads(session.threads).decode,
      .augment = sheet_recipe(o.sheet, cache.manifest())};
  if (!o.sheet.of.split.empty()) options.choice.split = parse_split(o.sheet.of.split);
  if (!o.sheet.of.label.empty()) options.choice.label = o.sheet.of.label;
  if (!o.sheet.of.groups.empty()) options.choice.selection = o.sheet.of.groups;
  const pipeline::Sheet sheet = o.sheet.of.groups.empty()
                                    ? pipeline::make_sheet(cache, options)
                                    : pipeline::make_group_sheet(cache, options);
  Bytes png = pipeline::encode_png(sheet.image.view());
  write_file_durably(o.sheet.path, png);
  for (const std::string& problem : sheet.broken) say(session, "no picture of " + problem);
  say(session, options.augment ? fmt::format("{} pictures of {} samples are in {}", sheet.pictures,
                                             sheet.samples, o.sheet.path.string())
                               : fmt::format("{} of the pictures are in {}", sheet.samples,
                                             o.sheet.path.string()));
  return png;
}

}  // namespace

void run_info(const InfoRequest& o, const Session& session) {
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  say_alpha_ignored(session, cache);
  const pipeline::Manifest& m = cache.manifest();
  std::optional<dedup::Selection> selection;
  pipeline::SelectionCounts counts;
  if (!o.selection.empty()) {
    selection = cache.read_selection(o.selection);
    dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
    pipeline::apply_splits(*selection, table);
    counts = pipeline::count(m, table, *selection);
  }
  Bytes sheet;
  if (!o.sheet.path.empty()) sheet = write_sheet(o, cache, session);
  if (!o.report.empty()) {
    IngestPage page = read_page(cache);
    page.cache = o.cache.string();
    page.made = made_here();
    page.sheet = std::move(sheet);
    write_file_durably(o.report, html_of(page));
  }
  if (o.json) {
    Json json{{"schema", "winnow.info/1"},
              {"manifest", JsonReader(pipeline::to_json(m), {"the manifest"}).json()},
              {"thumbnail_bytes", thumbnail_bytes(cache)},
              {"features", features_json(cache)},
              {"selections", cache.selections()}};
    if (o.issues) json["issues"] = issues_json(cache, *o.issues);
    if (selection) json["selection"] = to_json(*selection, counts, m);
    print(session, fmt::format("{}\n", json.dump()));
    return;
  }
  if (o.issues) {
    o.issues->empty() ? print_issues(session, cache) : list_issues(session, cache, *o.issues);
    return;
  }
  print(session, fmt::format("cache     {}\ndigest    {}\n", o.cache.string(), cache.digest()));
  print_manifest(session, m);
  print_thumbnails(session, cache);
  print_features(session, cache);
  if (selection) {
    print_selection(session, *selection, counts, m);
  } else {
    for (const std::string& name : cache.selections())
      print(session, fmt::format("selection {}\n", name));
  }
}

}  // namespace winnow::app
