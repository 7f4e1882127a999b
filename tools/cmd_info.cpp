#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"

namespace winnow::tools {
namespace {

struct Options {
  std::filesystem::path cache;
  bool json = false;
};

void run(const Options& o) {
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const pipeline::Manifest& m = cache.manifest();
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
  app->add_flag("--json", o->json, "Print one JSON object on stdout, with the manifest");
  app->footer("Example:\n  winnow info cache");
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
