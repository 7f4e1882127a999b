#include "app/report/report.h"

#include <fmt/core.h>

#include <string>

#include "app/dedup/gallery.h"
#include "app/report/read_runs.h"
#include "app/report/run_page.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytesOfMistakes = 4'000'000;  // for all runs together

// Adds names and pictures of the mistakes, from the cache they were made on.
void look_at_mistakes(RunView& run, const fs::path& root, const pipeline::ThumbnailOptions& most) {
  const pipeline::Cache cache = pipeline::Cache::open(root);
  if (cache.digest() != run.evaluation->about.cache_digest) {
    throw UsageError(root.string() + " is not the cache that " + run.name +
                     " was evaluated on; name that cache with --cache");
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

// A run may outlive its data. The page then says so, unless the user named the data.
void add_pictures(RunView& run, const ReportRequest& o, const Session& session) {
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

}  // namespace

void run_report(const ReportRequest& o, const Session& session) {
  if (o.out.empty())
    throw UsageError("give --out PAGE.html for a page, or --live to draw in the terminal");
  check_report_path(o.out);
  std::vector<RunView> runs;
  for (const fs::path& path : o.runs) runs.push_back(read_run(path));
  name_apart(runs, o.runs);
  for (RunView& run : runs) add_pictures(run, o, session);
  write_file_durably(o.out, html_of(runs, made_here()));
  say(session, fmt::format("report: {}", o.out.string()));
}

}  // namespace winnow::app
