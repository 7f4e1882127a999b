#include "pipeline/ingest/drop.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "dedup/decisions/settings.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/workspace.h"
#include "pipeline/parallel/worker_limit.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

fs::path first_folder(const fs::path& out) {
  fs::path whole = fs::absolute(out).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole += ".first";
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Also removes what an interrupted removal left.
void remove_first(const fs::path& first) {
  std::error_code ignored;
  if (is_there(first) && fs::is_empty(first, ignored)) {
    fs::remove(first, ignored);
  } else {
    remove_cache(first);
  }
}

LeftOut left_out_by(const dedup::Selection& all, const Cache& first) {
  LeftOut out;
  dedup::Selection& some = out.decisions;
  some.settings = all.settings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.weights[i] > 0) continue;
    some.ids.push_back(all.ids[i]);
    some.weights.push_back(0);
    some.components.push_back(all.components[i]);
    some.kept.push_back(all.kept[i]);
    some.distances.push_back(all.distances[i]);
    some.rules.push_back(all.rules[i]);
  }
  first.for_each_remark([&](const LedgerRow& row) {
    const bool warned = row.fate == Fate::kOk && std::ranges::binary_search(some.ids, row.id);
    if (warned) out.warnings.emplace(row.id, row.reason);
  });
  return out;
}

// Runs the decision on rank 0, and returns it on all ranks.
dedup::Selection decide_once(const Cache& first, const Decide& decide, comm::Communicator& comm) {
  dedup::Selection selection;
  dedup::with_shared_work(comm,
                          [&](const dedup::SharedWork& work) {
                            selection = decide({first.open_fingerprints(), work, &first});
                          },
                          {.all_links = true});  // `decide` may form groups in any way
  if (comm.size() == 1) return selection;
  Bytes bytes = comm.rank() == 0 ? serialize(selection) : Bytes();
  std::uint64_t size = bytes.size();
  comm.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  bytes.resize(size);
  comm.broadcast(bytes, 0);
  if (comm.rank() != 0) selection = dedup::parse_selection(bytes, "what rank 0 decided");
  return selection;
}

// How far earlier runs got.
enum class Done { kNothing, kFirstPass, kAll };

// Whether `out` was made with these options, whatever hash and threshold its images chose.
bool is_made_by(const Manifest& out, std::span<const IngestSource> sources,
                const IngestOptions& options) {
  LeftOut decided;
  decided.decisions.settings = options.target.left_out->decisions.settings;
  const std::vector<std::string>& dropped = out.settings.dropped;
  if (dropped.size() == 1 &&
      dedup::same_but_for_choice(decided.decisions.settings, dropped.front())) {
    decided.decisions.settings = dropped.front();
  }
  IngestOptions of_out = options;
  of_out.target.left_out = &decided;
  return is_of(out, sources, of_out);
}

Done finished_steps(std::span<const IngestSource> sources, const fs::path& out,
                    const fs::path& first, const IngestOptions& first_options,
                    const IngestOptions& options) {
  const CachePaths paths{out};
  const CachePaths first_paths{first};
  const bool finished = is_there(paths.manifest()) && !is_there(paths.unfinished());
  if (finished && is_there(first) && is_made_by(Cache::open(out).manifest(), sources, options)) {
    return Done::kAll;
  }
  Workspace::check_is_free(out);
  if (!is_there(first_paths.manifest())) return Done::kNothing;
  if (is_of(Cache::open(first).manifest(), sources, first_options)) return Done::kFirstPass;
  remove_first(first);
  return Done::kNothing;
}

Done agree(Done done, comm::Communicator& comm) {
  return static_cast<Done>(
      std::stoi(comm::broadcast_text(comm, std::to_string(static_cast<int>(done)))));
}

void add(const IngestResult& first, IngestResult& result) {
  result.seconds += first.seconds;
  result.peak_in_flight_bytes = std::max(result.peak_in_flight_bytes, first.peak_in_flight_bytes);
  result.times += first.times;
}

}  // namespace

IngestResult ingest_dropping(std::span<const IngestSource> sources, const fs::path& out,
                             const IngestOptions& options, const Decide& decide,
                             const std::function<ProgressSink(DropPass)>& progress,
                             comm::Communicator& comm) {
  const fs::path first = first_folder(out);
  LeftOut left_out;
  IngestOptions first_options = options;
  first_options.store = Store::kNone;
  first_options.target.memory = false;
  first_options.resize = {};
  first_options.variants = {};
  IngestOptions second_options = options;
  second_options.target.left_out = &left_out;
  comm::on_all(comm, [&] {
    check_options(second_options);
    Gates gates(1u << 20);
    const dedup::Fingerprints no_rows = ChunkMaker({}, options, gates).empty_fingerprints();
    const auto columns = [&](const dedup::ColumnNames& names) {
      return dedup::select_columns(no_rows, names);
    };
    left_out.decisions.settings = decide({columns}).settings;
  });
  Done done = Done::kNothing;
  comm::on_root(comm,
                [&] { done = finished_steps(sources, out, first, first_options, second_options); });
  done = agree(done, comm);
  IngestResult result;
  if (done == Done::kAll) {
    comm::on_all(comm, [&] { result = result_of(Cache::open(out)); });
    comm::on_root(comm, [&] { remove_first(first); });
    return result;
  }
  IngestResult fingerprinted;
  if (done == Done::kNothing) {
    fingerprinted = ingest(sources, first, first_options, progress(DropPass::kFingerprint), comm);
  }
  Stopwatch watch;
  {
    const WorkerLimit limit(options.work.threads);
    std::optional<Cache> cache;
    comm::on_all(comm, [&] { cache.emplace(Cache::open(first)); });
    const dedup::Selection decided = decide_once(*cache, decide, comm);
    comm::on_all(comm, [&] { left_out = left_out_by(decided, *cache); });
  }
  const double deciding_seconds = watch.lap();
  result = ingest(sources, out, second_options, progress(DropPass::kStore), comm);
  comm::on_root(comm, [&] { remove_first(first); });
  add(fingerprinted, result);
  result.seconds += deciding_seconds;
  return result;
}

}  // namespace winnow::pipeline
