#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/report/page.h"

namespace winnow::tools {
namespace {

struct Options {
  std::filesystem::path cache;
  std::filesystem::path report;
  bool json = false;
};

void print_table(const char* name, const pipeline::Histogram& histogram, std::string (*range)(int),
                 const char* unit) {
  constexpr double kFew = 0.01;  // less than that share goes into "others"
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
  fmt::print("{:10}{}\n", name, line);
}

// How many images each class has in each split that has any; in one line where they are many.
void print_classes(const pipeline::Manifest& m) {
  constexpr std::size_t kMost = 20;
  const pipeline::Statistics& s = *m.statistics;
  if (m.classes.empty()) return;
  fmt::print("          {}\n", in_words(balance_of(images_by_class(s))));
  for (std::size_t label = 0; label < m.classes.size() && m.classes.size() <= kMost; ++label) {
    std::string counts;
    for (int split = 0; split < kSplitCount; ++split) {
      const auto i = static_cast<std::size_t>(split);
      if (m.split_counts[i] == 0) continue;
      const auto which = static_cast<Split>(split);
      counts += fmt::format("  {:>9} {}", grouped(s.splits[i].classes[label]),
                            which == Split::kNone ? "images" : split_name(which));
    }
    fmt::print("  {:18}{}\n", printable(m.classes[label]), counts);
  }
}

void print_pixels(const pipeline::Manifest& m) {
  const std::array<double, 3> mean = m.mean();
  const std::array<double, 3> deviation = m.deviation();
  const bool train = m.split_counts[static_cast<std::size_t>(Split::kTrain)] > 0;
  if (m.pixel_sums.pixels == 0) return;
  const auto list = [&](const std::array<double, 3>& values) {
    return m.channels == 1 ? fmt::format("{:.4f}", values[0])
                           : fmt::format("{:.4f} {:.4f} {:.4f}", values[0], values[1], values[2]);
  };
  fmt::print("mean      {} (of {} images, white is 1)\n", list(mean), train ? "train" : "all");
  fmt::print("deviation {}\n", list(deviation));
}

void print_sizes(const pipeline::Statistics& s) {
  if (s.largest.pixels() == 0) return;
  print_table("sides", s.short_side, short_side_range, " px");
  print_table("aspect", s.aspect, aspect_range, "");
  print_table("files", s.file_bytes, file_bytes_range, "");
  fmt::print("smallest  {} x {} px, largest {} x {} px\n", s.smallest.width_px,
             s.smallest.height_px, s.largest.width_px, s.largest.height_px);
}

void run(const Options& o) {
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const pipeline::Manifest& m = cache.manifest();
  if (!o.report.empty()) {
    IngestPage page = read_page(cache);
    page.cache = o.cache.string();
    page.made = made_here();
    write_file_durably(o.report, html_of(page));
  }
  if (o.json) {
    const nlohmann::ordered_json json{
        {"schema", "winnow.info/1"},
        {"manifest", nlohmann::ordered_json::parse(pipeline::to_json(m))},
        {"selections", cache.selections()}};
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("cache     {}\ndigest    {}\n", o.cache.string(), cache.digest());
  for (const pipeline::SourceInfo& s : m.sources) {
    fmt::print("source    {} ({}, {} inputs)\n", printable(s.name), s.format, grouped(s.inputs));
  }
  for (int split = 0; split < kSplitCount; ++split) {
    const std::uint64_t count = m.split_counts[static_cast<std::size_t>(split)];
    if (count == 0) continue;
    fmt::print("split     {}: {} images\n", split_name(static_cast<Split>(split)), grouped(count));
  }
  for (const auto& [fate, count] : m.ledger) {
    if (count > 0) fmt::print("ledger    {}: {}\n", fate, grouped(count));
  }
  fmt::print("images    {}, {}\n", m.channels == 1 ? "gray" : "colour",
             m.height_px > 0 ? fmt::format("all {} x {} px", m.width_px, m.height_px)
                             : std::string("of differing sizes"));
  fmt::print("classes   {}\n",
             m.classes.empty() ? "none (unlabelled)" : std::to_string(m.classes.size()));
  if (m.statistics) {
    print_classes(m);
    print_sizes(*m.statistics);
  }
  print_pixels(m);
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : m.shards) bytes += shard.bytes;
  fmt::print("shards    {} ({} MiB, store {})\n", m.shards.size(), grouped(bytes >> 20), m.store);
  for (const std::string& name : cache.selections()) fmt::print("selection {}\n", name);
}

void verify(const Options& o, Session& session) {
  const pipeline::Cache cache = pipeline::Cache::open(o.cache, pipeline::Verify::kBlocks);
  cache.check_fingerprints();
  cache.for_each_ledger_row([](const pipeline::LedgerRow&) {});
  const std::vector<std::string> selections = cache.selections();
  for (const std::string& name : selections) {  // those made for an older state of the cache too
    const std::filesystem::path file = cache.paths().selection(name);
    dedup::read_selection(InputFile(file));
  }
  say(session,
      fmt::format("{} is whole: every block, the fingerprints, the ledger and {} match",
                  o.cache.string(),
                  selections.size() == 1 ? "its selection"
                                         : fmt::format("{} selections", selections.size())));
  if (!o.json) return;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : cache.manifest().shards) {
    records += shard.records;
    bytes += shard.bytes;
  }
  const nlohmann::ordered_json json{{"schema", "winnow.verify/1"},
                                    {"digest", cache.digest()},
                                    {"shards", cache.manifest().shards.size()},
                                    {"records", records},
                                    {"bytes", bytes},
                                    {"selections", selections}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

Command add_info(CLI::App& program) {
  auto o = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("info", "Show what a cache holds");
  app->add_option("cache", o->cache, "Cache made by winnow ingest")->required();
  app->add_option("--report", o->report, "Also write it as a page (HTML), with what was not read");
  app->add_flag("--json", o->json, "Print one JSON object on stdout, with the manifest");
  app->footer("Examples:\n  winnow info cache\n  winnow info cache --report cache.html");
  return {app, false, [o](Session&) { run(*o); }};
}

Command add_verify(CLI::App& program) {
  auto o = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("verify", "Read every byte of a cache and check it");
  app->add_option("cache", o->cache, "Cache made by winnow ingest")->required();
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer("Example:\n  winnow verify cache");
  return {app, false, [o](Session& session) { verify(*o, session); }};
}

}  // namespace winnow::tools
