#include "app/dedup/search.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "app/words.h"
#include "common/error.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::app {
namespace {

// Progress of several steps in a row, each with several searches: one bar for each.
class Bars {
 public:
  explicit Bars(const Session& session) : session_(session) {}
  void operator()(const Progress& progress) {
    const std::string step(progress.step.empty() ? "search" : progress.step);
    if (!bar_ || progress.done < done_ || step != step_) {
      const std::string unit(progress.unit.empty() ? "images" : progress.unit);
      bar_ = progress_bar(session_, step, unit);
    }
    step_ = step;
    done_ = progress.done;
    if (bar_) bar_(progress);
  }

 private:
  const Session& session_;
  ProgressSink bar_;
  std::string step_;
  std::uint64_t done_ = 0;
};

}  // namespace

dedup::SearchOptions search_options(const Session& session) {
  dedup::SearchOptions options;
  options.progress = Bars(session);
  options.stop = session.stop;
  return options;
}

void with_shared_work(const Session& session, bool all_links,
                      const std::function<void(const dedup::SharedWork& work)>& decide) {
  const pipeline::WorkerLimit limit(session.comm.size() > 1 ? thread_plan(session, 0).decode : 0);
  dedup::with_shared_work(session.comm, decide,
                          {.all_links = all_links, .search = search_options(session)});
}

void with_search(const Session& session, bool all_links,
                 const std::function<void(const dedup::LinkSource& links)>& decide) {
  with_shared_work(session, all_links, [&](const dedup::SharedWork& work) { decide(work.links); });
}

dedup::ColumnSource stoppable(dedup::ColumnSource columns, const Session& session) {
  return [columns = std::move(columns), stop = session.stop](const dedup::ColumnNames& names) {
    if (stop && stop()) throw StoppedError("stopped before anything was decided");
    return columns(names);
  };
}

std::vector<std::string> stored_hashes(const pipeline::Cache& cache) {
  std::vector<std::string> names;
  for (const std::string& hash : cache.manifest().tables.hashes) {
    names.push_back(hash.substr(0, hash.find(':')));
  }
  if (!names.empty()) return names;
  throw FormatError(cache.paths().manifest().string() + " lists no hashes; ingest again");
}

void say_alpha_ignored(const Session& session, const pipeline::Cache& cache) {
  if (std::filesystem::exists(cache.paths().alpha())) return;
  const dedup::Fingerprints table = cache.open_fingerprints()({"file_hashes", "pixel_hashes"});
  std::map<Hash128, Hash128> files;  // the first file of each picture
  std::uint64_t count = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const Hash128 file = table.file_hashes[row];
    if (files.try_emplace(table.pixel_hashes[row], file).first->second != file) ++count;
  }
  if (count == 0) return;
  say(session,
      fmt::format(
          "{} was made without comparing alpha: {} as equal to others although transparency was "
          "not compared. If your images have transparency, ingest them again",
          cache.paths().root.string(), count_of(count, "image counts", "images count")));
}

bool can_keep_selections(const pipeline::CachePaths& cache) {
  const std::filesystem::path folder = cache.selection("any").parent_path();
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(folder, ignored);
  const std::filesystem::path& at = is_there ? folder : cache.root;
  return std::filesystem::is_directory(at, ignored) && ::access(at.c_str(), W_OK) == 0;
}

void keep_previous(const Session& session, const pipeline::Cache& cache,
                   const dedup::Selection& next) {
  const auto name = cache.keep_previous(next);
  if (!name) return;
  say(session, fmt::format("the previous selection '{}' is kept as '{}'", next.name, *name));
}

std::optional<dedup::GroupsWithEvidence> groups_beside(const Session& session,
                                                       const pipeline::Cache& cache,
                                                       const dedup::Selection& selection) {
  try {
    return cache.read_groups(selection);
  } catch (const FormatError& error) {
    say(session, fmt::format("the groups of selection '{}' are not known: {}", selection.name,
                             error.what()));
    return std::nullopt;
  }
}

}  // namespace winnow::app
