#include "pipeline/store/verify.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/error.h"
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFew = 3;

// Removes the advice, which is given only once.
std::string without_advice(std::string what) {
  for (const std::string_view advice : {"; ingest again", "; make it again"}) {
    if (what.ends_with(advice)) what.resize(what.size() - advice.size());
  }
  return what;
}

class Verifier {
 public:
  Verifier(const fs::path& root, const ProgressSink& sink) : paths_{root}, sink_(sink) {
    ReadManifest read = read_manifest(paths_);
    manifest_ = std::move(read.manifest);
    out_.digest = std::move(read.digest);
    out_.shards = manifest_.shards.size();
    for (const ShardInfo& shard : manifest_.shards) {
      out_.records += shard.records;
      out_.bytes += shard.bytes;
    }
  }

  Verified everything() {
    progress_.total = out_.bytes;
    std::optional<std::vector<SampleId>> ids = ids_of_table();
    if (auto listed = ids_of_ledger(); !ids) ids = std::move(listed);
    if (manifest_.shards.empty()) ids.emplace();
    out_.samples = manifest_.shards.empty() ? 0 : manifest_.inputs.by_fate.at("ok");
    attempt([&] {
      if (!manifest_.shards.empty()) check_shards_folder(paths_);
    });
    for (const ShardInfo& shard : manifest_.shards) check_shard(shard, ids);
    check_selections();
    return std::move(out_);
  }

  Verified kept_by(const std::string& name) {
    if (manifest_.shards.empty()) {
      throw UsageError(
          paths_.root.string() +
          " holds fingerprints only, so there are no records to verify for a selection");
    }
    const dedup::Selection selection = read_selection_for(paths_, out_.digest, name);
    std::vector<SampleId> ids;
    for (std::size_t row = 0; row < selection.size(); ++row) {
      if (selection.weights[row] > 0) ids.push_back(selection.ids[row]);
    }
    out_.samples = progress_.total = ids.size();
    out_.selections = {name};
    attempt([&] { check_shards_folder(paths_); });
    ledger_is_sound_ = attempt([&] { open_ledger(paths_, manifest_); });
    std::size_t in_shards = 0;
    for (const ShardInfo& shard : manifest_.shards) {
      const std::span mine = within(ids, shard);
      in_shards += mine.size();
      std::optional<lmdb::Reader> reader;
      if (!mine.empty())
        attempt([&] { reader.emplace(open_shard(path_of(paths_, shard), shard, Verify::kSizes)); });
      const std::string first = check_records(shard, mine, reader, [&] { report(1); });
      if (!first.empty()) out_.damage.push_back(first);
    }
    if (in_shards != ids.size()) {
      throw FormatError("selection '" + name +
                        "' keeps samples that no shard has; make it again "
                        "with winnow dedup");
    }
    return std::move(out_);
  }

 private:
  // Returns whether it succeeded; exceptions about damage are recorded.
  template <class Work>
  bool attempt(const Work& work) {
    try {
      work();
      return true;
    } catch (const FormatError& error) {
      out_.damage.push_back(without_advice(error.what()));
    } catch (const SystemError& error) {  // a file that cannot be opened or read
      out_.damage.emplace_back(error.what());
    }
    return false;
  }

  std::optional<std::vector<SampleId>> ids_of_table() {
    std::vector<SampleId> ids;
    const bool good = attempt([&] {
      const auto file = std::make_shared<const InputFile>(open_table(paths_, manifest_));
      const auto columns = [&](const dedup::ColumnNames& names) {
        return read_columns(*file, manifest_, &names);
      };
      check_columns(columns, manifest_);
      std::vector<SampleId> found = columns({}).ids;
      check_thumbnails(dedup::open_thumbnails(file), found.size());
      ids = std::move(found);
    });
    return good ? std::optional(std::move(ids)) : std::nullopt;
  }

  std::optional<std::vector<SampleId>> ids_of_ledger() {
    std::vector<SampleId> ids;
    ledger_is_sound_ = attempt([&] {
      for_each_ledger_row(paths_, manifest_, [&](const LedgerRow& row) {
        if (row.fate == Fate::kOk) ids.push_back(row.id);
      });
    });
    return ledger_is_sound_ ? std::optional(std::move(ids)) : std::nullopt;
  }

  static std::span<const SampleId> within(const std::vector<SampleId>& ids,
                                          const ShardInfo& shard) {
    const auto begin = std::ranges::lower_bound(ids, shard.first_id);
    return {begin, std::ranges::upper_bound(ids, shard.last_id)};
  }

  void check_shard(const ShardInfo& shard, const std::optional<std::vector<SampleId>>& ids) {
    const fs::path file = path_of(paths_, shard);
    const std::uint64_t done = progress_.done + shard.bytes;
    std::optional<lmdb::Reader> reader;
    BadBlocks bad;
    const bool looked = attempt([&] {
      reader.emplace(open_shard(path_of(paths_, shard), shard, Verify::kSizes));
      bad = find_bad_blocks(file, shard, [&](std::uint64_t bytes) { report(bytes); });
    });
    if (bad.count > 0) {
      out_.damage.push_back(file.string() + " is damaged: " + std::to_string(bad.count) + " of " +
                            std::to_string(shard.block_hashes.size()) +
                            " blocks are not what was written, the first of them bytes " +
                            std::to_string(bad.first) + " to " + std::to_string(bad.last));
    }
    report(done - progress_.done);
    if (looked && bad.count == 0) {
      check_labels_in(*reader, file.string());
    } else if (ids) {
      check_records(shard, within(*ids, shard), reader, [] {});
    } else {
      out_.affected += shard.records;  // their ids are unknown
    }
  }

  // Checks a shard whose blocks are unchanged.
  void check_labels_in(const lmdb::Reader& reader, const std::string& file) {
    std::size_t wrong = 0;
    for (const auto& [key, pack] : reader.all()) {
      attempt([&, pack = pack] {  // clang 14 captures no binding by itself
        for_each_labels(pack, file, [&](SampleId id, std::span<const std::int32_t> labels) {
          try {
            check_labels(labels, manifest_, file + ", record " + std::to_string(id));
          } catch (const FormatError& error) {
            if (wrong++ == 0) out_.damage.push_back(without_advice(error.what()));
            note(id);
          }
        });
      });
    }
    reader.drop_pages();
  }

  // Records unreadable samples (all, without a reader). Returns the problem of the first.
  std::string check_records(const ShardInfo& shard, std::span<const SampleId> ids,
                            const std::optional<lmdb::Reader>& reader, const auto& each) {
    const std::string file = path_of(paths_, shard).string();
    std::string first;
    std::size_t read = 0;
    for (const SampleId id : ids) {
      const std::string problem = reader ? problem_of(*reader, id, file) : "";
      if (!reader || !problem.empty()) note(id);
      if (first.empty()) first = problem;
      if (reader && ++read % 4096 == 0) reader->drop_pages();
      each();
    }
    return first;
  }

  std::string problem_of(const lmdb::Reader& reader, SampleId id, const std::string& file) const {
    try {
      const BytesView pack = reader.at_or_before(id).second;
      const std::string where = file + ", record " + std::to_string(id);
      const FoundRecord found = pack.empty() ? FoundRecord{} : find_record(pack, id, where);
      if (found.found) check_labels(found.record.labels, manifest_, where);
      if (found.found) return "";
      return file + " is damaged: it has no record " + std::to_string(id);
    } catch (const FormatError& error) {
      return without_advice(error.what());
    }
  }

  void note(SampleId id) {
    ++out_.affected;
    if (out_.first_few.size() == kFew) return;
    if (ledger_is_sound_ && !names_) {
      names_.emplace(open_ledger(paths_, manifest_));
    }
    out_.first_few.push_back(names_ ? (*names_)(id) : "id " + std::to_string(id));
  }

  // Also checks those made for an older state of the cache.
  void check_selections() {
    out_.selections = list_selections(paths_);
    for (const std::string& name : out_.selections) {
      attempt([&] {
        const dedup::Selection selection = dedup::read_selection(InputFile(paths_.selection(name)));
        std::error_code ignored;
        if (!std::filesystem::exists(paths_.groups(name), ignored)) return;
        dedup::read_groups(InputFile(paths_.groups(name)), selection);
      });
    }
  }

  void report(std::uint64_t more) {
    progress_.done += more;
    if (sink_) sink_(progress_);
  }

  const CachePaths paths_;
  Manifest manifest_;
  Verified out_;
  bool ledger_is_sound_ = false;
  std::optional<LedgerNames> names_;
  const ProgressSink& sink_;
  Progress progress_;
};

}  // namespace

Verified verify_cache(const fs::path& root, const std::string& selection,
                      const ProgressSink& progress) {
  Verifier verifier(root, progress);
  return selection.empty() ? verifier.everything() : verifier.kept_by(selection);
}

std::string sentence_of(const Verified& verified, const fs::path& root) {
  if (verified.whole()) return "";
  std::string text = root.string() + " is damaged: ";
  const std::size_t shown = std::min(kFew, verified.damage.size());
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "; " : "") + verified.damage[i];
  if (verified.damage.size() > shown) {
    text += "; and " + std::to_string(verified.damage.size() - shown) + " more such";
  }
  text += "; " + std::to_string(verified.affected) + " of " + std::to_string(verified.samples) +
          " samples cannot be read";
  for (std::size_t i = 0; i < verified.first_few.size(); ++i) {
    text += (i > 0 ? ", '" : ": '") + verified.first_few[i] + "'";
  }
  if (verified.affected > verified.first_few.size() && !verified.first_few.empty()) text += ", ...";
  return text + "; bring the files back from a copy, or ingest again";
}

}  // namespace winnow::pipeline
