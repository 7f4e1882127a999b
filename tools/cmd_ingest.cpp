#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "datasets/formats.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/ingest_flags.h"
#include "tools/progress_bar.h"
#include "tools/report/page.h"

namespace winnow::tools {
namespace {

struct Options {
  std::filesystem::path source;
  std::filesystem::path out;
  IngestFlags flags;
  bool memory = false;
  std::string fail_on = "none";
  std::string max_bad;
  std::filesystem::path report;
  std::vector<std::string> words;  // of the command
  bool json = false;
};

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Before an hour's work: that its page will have a folder to be in.
void check_report(const Options& o) {
  if (o.report.empty() || o.report.parent_path() == o.out) return;
  const std::filesystem::path folder = std::filesystem::absolute(o.report).parent_path();
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  throw UsageError("the report cannot be written to " + o.report.string() +
                   ": there is no folder " + folder.string() + "; make it first");
}

void write_report(const Options& o, const datasets::Source& source,
                  const pipeline::IngestResult& result) {
  IngestPage page = read_page(pipeline::Cache::open(o.out));
  page.cache = o.out.string();
  page.made = made_here();
  page.run = {.descriptions = {source.description()},
              .command = o.words,
              .folder = std::filesystem::current_path().string(),
              .times = {},
              .seconds = result.seconds,
              .inputs_done = result.inputs_done,
              .peak_rss_bytes = peak_rss_bytes()};
  write_file_durably(o.report, html_of(page));
}

void run(const Options& o, Session& session) {
  const std::map<std::string, pipeline::Gate::FailOn> fail_on{
      {"none", pipeline::Gate::FailOn::kNone},
      {"truncated", pipeline::Gate::FailOn::kTruncated},
      {"error", pipeline::Gate::FailOn::kError},
      {"warning", pipeline::Gate::FailOn::kWarning}};
  check_report(o);
  pipeline::Gate gate{.fail_on = fail_on.at(o.fail_on), .max_bad = {}};
  if (!o.max_bad.empty()) gate.max_bad = pipeline::parse_max_bad(o.max_bad);
  pipeline::IngestOptions options = ingest_options(o.flags, session);
  options.memory = o.memory;

  const auto source = datasets::open_source(o.source, open_options(o.flags));
  say(session, fmt::format("{} is {}", o.source.string(), source->description()));
  pipeline::IngestResult result;
  {
    const ProgressSink bar = make_progress_bar("ingest", "images", true);
    result = pipeline::ingest(*source, o.source, o.out, options, bar);
  }
  const pipeline::Manifest& m = result.manifest;
  const std::uint64_t ok = m.ledger.at("ok");
  const double rate = static_cast<double>(result.inputs_done) / std::max(result.seconds, 1e-9);
  if (result.inputs_done < m.inputs) {
    say(session, fmt::format("went on after {} inputs that an earlier run had finished",
                             grouped(m.inputs - result.inputs_done)));
  }
  say(session, fmt::format("{} of {} inputs read, {} in {:.1f} s, {:.0f} a second", grouped(ok),
                           grouped(m.inputs), grouped(result.inputs_done), result.seconds, rate));
  const std::string list = (o.out / "ledger.jsonl").string();
  for (const auto& [fate, count] : m.ledger) {
    if (fate != "ok" && count > 0) {
      say(session, fmt::format("  {} {}: see {}", grouped(count), fate, list));
    }
    if (fate != "unsupported") continue;
    for (const auto& [reason, inputs] : result.remarks.unsupported) {
      say(session, fmt::format("    {}: {}", grouped(inputs), reason));
    }
  }
  if (result.remarks.warned > 0) {
    say(session, fmt::format("  {} ok but with a decoder's warning: see {}",
                             grouped(result.remarks.warned), list));
  }
  say(session, fmt::format("cache: {}", o.out.string()));
  if (!o.report.empty()) {
    write_report(o, *source, result);
    say(session, fmt::format("report: {}", o.report.string()));
  }
  if (o.json) {
    nlohmann::ordered_json unsupported = nlohmann::ordered_json::array();
    for (const auto& [reason, count] : result.remarks.unsupported) {
      unsupported.push_back({{"reason", reason}, {"count", count}});
    }
    nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
    for (const datasets::Skipped& row : source->skipped()) {
      skipped.push_back({{"reason", row.reason}, {"count", row.count}});
    }
    nlohmann::ordered_json json{{"schema", "winnow.ingest/1"},
                                {"inputs", m.inputs},
                                {"ok", ok},
                                {"classes", m.ledger},
                                {"warned", result.remarks.warned},
                                {"unsupported", unsupported},
                                {"skipped", skipped},
                                {"images_per_second", rate},
                                {"peak_rss_bytes", peak_rss_bytes()},
                                {"digest", result.digest}};
    fmt::print("{}\n", json.dump());
  }
  if (const std::string why = pipeline::refusal(gate, m.ledger, result.remarks.warned);
      !why.empty()) {
    throw RefusedError(why + "; they are listed in " + list +
                       ", and the cache is complete without those that could not be read");
  }
}

}  // namespace

Command add_ingest(CLI::App& program) {
  auto o = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "ingest", "Read, decode, fingerprint and store a data set into a cache");
  app->add_option("source", o->source, "Data set: a folder, or a file of one")->required();
  app->add_option("--out", o->out, "Cache directory to make")->required();
  app->add_flag("--memory", o->memory, "Keep the shards in memory (tmpfs) until `cache drop`");
  add_ingest_flags(*app, o->flags);
  app->add_option("--fail-on", o->fail_on,
                  "Exit with code 3, once the cache is made, if an input was so or worse: "
                  "truncated, error (no picture), warning (a picture the decoder complained of)")
      ->check(CLI::IsMember({"none", "truncated", "error", "warning"}))
      ->capture_default_str();
  app->add_option("--max-bad", o->max_bad,
                  "Exit with code 3, once the cache is made, if more inputs than this could not be "
                  "read: a number, or a share such as 0.5%");
  app->add_option(
      "--report", o->report,
      "Also write a page (HTML) of what was read, what was not, and what took the time");
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer(
      "Formats:" + format_lines() + passed_over_lines() +
      "\n\nSIGTERM or SIGUSR1 stops it (exit code 75). However it ended, the same command goes on\n"
      "after the shards that were finished.\n\n"
      "Examples:\n"
      "  winnow ingest photos/ --out cache                 # photos/{train,test}/<class>/*.jpg\n"
      "  winnow ingest photos/ --out cache --labels none   # only to find duplicates\n"
      "  winnow ingest photos/ --out cache --exclude 'draft*' --exclude '*_small.jpg'\n"
      "  winnow ingest photos/ --out cache --max-bad 1%    # a few broken files are fine\n"
      "  winnow ingest phone/ --out cache --orientation apply --matte white\n"
      "  winnow ingest photos/ --out cache --report photos.html\n"
      "  winnow ingest 'train-{000000..000146}.tar' --out cache\n"
      "  winnow ingest /usr/share/datasets/fashion-mnist --out cache --memory");
  return {app, false,
          [o, app](Session& session) {
            o->words = words_of(*app);
            run(*o, session);
          },
          /*stops=*/true};
}

}  // namespace winnow::tools
