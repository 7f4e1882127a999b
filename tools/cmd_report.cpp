#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/live_run.h"
#include "tools/read_runs.h"
#include "tools/run_page.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytesOfMistakes = 4'000'000;  // of all runs together

struct ReportOptions {
  std::vector<fs::path> runs;
  fs::path out;
  fs::path cache;  // empty: where the evaluation was
  bool live = false;
};

// Names and pictures of the mistakes, from the cache that they were made on.
void look_at_mistakes(RunView& run, const fs::path& root, const pipeline::ThumbnailOptions& most) {
  const pipeline::Cache cache = pipeline::Cache::open(root);
  if (cache.digest() != run.evaluation->about.cache_digest) {
    throw UsageError(root.string() + " is not the cache that " + run.name +
                     " was evaluated on; name that by --cache");
  }
  const pipeline::LedgerNames name_of = cache.read_names();
  std::vector<SampleId> ids;
  for (ShownMistake& shown : run.mistakes) {
    shown.name = name_of(shown.mistake.id);
    ids.push_back(shown.mistake.id);
  }
  const pipeline::PictureOf picture_of = pipeline::pictures_of(cache);
  if (!picture_of) {
    run.no_pictures = kNoPicturesInCache;
    return;
  }
  pipeline::Thumbnails pictures = pipeline::make_thumbnails(picture_of, ids, most);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    run.mistakes[i].jpeg = std::move(pictures.jpegs[i]);
  }
}

// A run may outlive its data: the page says so then, unless the data was named.
void add_pictures(RunView& run, const ReportOptions& o, const Session& session) {
  if (run.mistakes.empty()) return;
  const fs::path root = o.cache.empty() ? fs::path(run.evaluation->about.cache) : o.cache;
  const pipeline::ThumbnailOptions most{.most_bytes = kBytesOfMistakes / o.runs.size(),
                                        .stop = session.stop};
  if (!o.cache.empty()) return look_at_mistakes(run, root, most);
  try {
    look_at_mistakes(run, root, most);
  } catch (const StoppedError&) {
    throw;
  } catch (const Error& error) {
    run.no_pictures = std::string("There are no pictures: ") + error.what() + ".";
  }
}

void report(const ReportOptions& o, const Session& session) {
  if (o.live) {
    if (o.runs.size() > 1) throw UsageError("--live draws one run; winnow watch draws several");
    require_run(o.runs.front());
    if (!can_show_live()) {
      throw UsageError(
          "--live draws in a terminal, and stderr is none; winnow watch says the same in lines, "
          "--out makes a page");
    }
    return watch_runs({.runs = o.runs}, session.stop);
  }
  if (o.out.empty()) throw UsageError("give --out PAGE.html, or --live to look in the terminal");
  check_report_path(o.out);
  std::vector<RunView> runs;
  for (const fs::path& path : o.runs) runs.push_back(read_run(path));
  name_apart(runs, o.runs);
  for (RunView& run : runs) add_pictures(run, o, session);
  write_file_durably(o.out, html_of(runs, made_here()));
  say(session, fmt::format("report: {}", o.out.string()));
}

}  // namespace

Command add_report(Verb program) {
  auto o = std::make_shared<ReportOptions>();
  const Verb verb = program.add_verb(
      "report", "Show runs of winnow train on a page, one or several side by side");
  verb.add_option("runs", o->runs, "Run directories made by winnow train").required();
  const Flag out = verb.add_option("--out", o->out, "Write the page here, an HTML file");
  verb.add_option("--cache", o->cache,
                  "Cache with the pictures of mistakes (default: where it was when the run was "
                  "evaluated)");
  verb.add_flag("--live", o->live,
                "In place of a page: draw one run in this terminal, as winnow watch does")
      .excludes(out);
  verb.footer(
      R"(The page needs nothing but itself: curves, figures, the settings that differ, and of the last
evaluation what was taken for what, with the worst mistakes as pictures. A run may still go on.

Examples:
  winnow report run --out run.html
  winnow report small large larger --out compared.html
  winnow report run --live)");
  return {verb, false, [o](Session& session) { report(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
