#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "pipeline/export/export.h"
#include "pipeline/store/settings.h"
#include "tools/command.h"
#include "tools/progress_bar.h"

namespace winnow::tools {
namespace {

struct ExportOptions {
  std::filesystem::path cache;
  std::filesystem::path to;
  std::string as = "image-folder";
  std::string split;
  std::string link;
  pipeline::ExportOptions options;
  std::uint64_t shard_mib = 256;
  bool json = false;
};

void run(const ExportOptions& o, Session& session) {
  using pipeline::ExportAs;
  const std::map<std::string, ExportAs> ways{{"image-folder", ExportAs::kImageFolder},
                                             {"webdataset", ExportAs::kWebDataset},
                                             {"list", ExportAs::kList}};
  pipeline::ExportOptions options = o.options;
  options.as = ways.at(o.as);
  options.shard_bytes = o.shard_mib << 20;
  options.stop = session.stop;
  if (!o.link.empty())
    options.link = o.link == "hard" ? pipeline::Link::kHard : pipeline::Link::kSymbolic;
  options.threads = thread_plan(session, o.options.threads).decode;
  if (!o.split.empty()) options.split = parse_split(o.split);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  pipeline::ExportResult result;
  {
    const ProgressSink bar = make_progress_bar("export", "samples", true);
    result = pipeline::export_cache(cache, o.to, options, bar);
  }
  const double rate = static_cast<double>(result.samples) / std::max(result.seconds, 1e-9);
  say(session,
      fmt::format("{} samples {} in {:.1f} s, {:.0f} a second: {} files, {} MiB, in {}",
                  grouped(result.samples), o.as == "list" ? "listed" : "exported", result.seconds,
                  rate, grouped(result.files), grouped(result.bytes >> 20), o.to.string()));
  if (pipeline::variant_settings(cache.manifest()).copies > 1 && options.as != ExportAs::kList) {
    say(session,
        "the cache holds variants of each training image, not the image: the first is exported");
  }
  if (!options.selection.empty()) {
    say(session,
        fmt::format("selection '{}' leaves out {}", options.selection, grouped(result.left_out)));
  }
  if (result.linked + result.copied > 0) {
    say(session,
        fmt::format("{} are links, {} copies", grouped(result.linked), grouped(result.copied)));
  }
  for (const std::string& name : result.first_copied) {
    say(session, fmt::format("  copied: the file of '{}' is gone or not what was ingested", name));
  }
  if (result.copied > result.first_copied.size()) say(session, "  and so on");
  if (!o.json) return;
  const nlohmann::ordered_json json{{"schema", "winnow.export/1"}, {"as", o.as},
                                    {"samples", result.samples},   {"left_out", result.left_out},
                                    {"files", result.files},       {"bytes", result.bytes},
                                    {"linked", result.linked},     {"copied", result.copied},
                                    {"samples_per_second", rate},  {"digest", cache.digest()}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

Command add_export(CLI::App& program) {
  auto o = std::make_shared<ExportOptions>();
  CLI::App* app = program.add_subcommand(
      "export", "Write a cache's images, or a list of them, for other programs to read");
  app->add_option("cache", o->cache, "Cache made by winnow ingest")->required();
  app->add_option("--to", o->to, "What to make: a folder, or with --as list a file")->required();
  app->add_option("--as", o->as,
                  "image-folder: SPLIT/CLASS/NAME; webdataset: tar shards; list: a CSV, no images")
      ->check(CLI::IsMember({"image-folder", "webdataset", "list"}))
      ->capture_default_str();
  app->add_option("--selection", o->options.selection,
                  "Only what this selection keeps (a list says of all whether it does, and why)");
  app->add_option("--split", o->split, "Only this split")
      ->check(CLI::IsMember({"train", "val", "test"}));
  auto* source = app->add_option("--source", o->options.sources,
                                 "With --link: the folder that was ingested (for a table or list, "
                                 "the one its paths begin at); once for each source");
  app->add_option("--link", o->link,
                  "Image folders of links to the source's files instead of copies: hard, symbolic")
      ->check(CLI::IsMember({"hard", "symbolic"}))
      ->needs(source);
  app->add_option("--threads", o->options.threads, "Cores to use; 0: all this process may")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--shard-size", o->shard_mib, "MiB of a tar shard at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer(
      "Encoded images keep their bytes, pixels become PNG; of images that ingest --augment made\n"
      "variants of, the first is exported. What is there already is never\n"
      "replaced, and nothing is there before all of it is: it is made beside it and renamed at "
      "the\n"
      "end. SIGTERM or SIGUSR1 (exit code 75) and a full disk leave nothing, a kill leaves\n"
      "TO.export, which the same command removes when it is run again.\n\n"
      "A link is made only to a file that has the very bytes that were ingested; what is gone or\n"
      "changed is copied from the cache, and named. A change of a file changes what a link "
      "shows.\n\n"
      "Examples:\n"
      "  winnow export cache --to clean --selection default       # clean/{train,test}/<class>/*\n"
      "  winnow export cache --to shards --as webdataset --split train\n"
      "  winnow export cache --to clean --selection default --link hard --source photos\n"
      "  winnow export cache --to all.csv --as list --selection default");
  return {app, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
