#include "app/cache/cache.h"

#include <fmt/core.h>

#include <functional>
#include <numeric>

#include "app/printable.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using pipeline::CopyRow;

std::string state_of(const CopyRow& row) {
  switch (row.state) {
    case CopyRow::State::kWhole:
      return "whole";
    case CopyRow::State::kLoading:
      return "loading";
    case CopyRow::State::kHalfMade:
      return "half_made";
    case CopyRow::State::kOfIngest:
      return "of_ingest";
  }
  throw std::logic_error("a copy in no state");
}

Json to_json(const CopyRow& row) {
  const bool whole = row.state == CopyRow::State::kWhole;
  const pipeline::Partitions& some = row.partitions;
  const auto if_whole = [&](Json value) { return whole ? std::move(value) : Json(nullptr); };
  return {{"folder", to_utf8(row.folder.string())},
          {"state", state_of(row)},
          {"bytes", row.bytes},
          {"pinned", row.pinned},
          {"in_use", row.in_use},
          {"processes", row.users},
          {"cache", if_whole(to_utf8(row.cache.string()))},
          {"cache_digest", if_whole(row.cache_digest)},
          {"shards", if_whole(row.shards)},
          {"of_shards", if_whole(row.of)},
          {"partitions", whole && !some.all()
                             ? Json{{"begin", some.begin}, {"end", some.end}, {"of", some.of}}
                             : Json(nullptr)},
          {"ids", row.ids ? Json{{"held", *row.ids}, {"of", row.of_ids}} : Json(nullptr)}};
}

std::string part_in_words(const CopyRow& row) {
  const pipeline::Partitions& some = row.partitions;
  if (some.begin == some.end) return fmt::format(" (none of {} partitions)", some.of);
  if (!some.all()) {
    return fmt::format(" (partitions {} to {} of {})", some.begin, some.end - 1, some.of);
  }
  if (row.ids) return fmt::format(" (of {} of {})", *row.ids, count_of(row.of_ids, "input"));
  if (row.shards == row.of) return {};
  return fmt::format(" ({} of {})", row.shards, count_of(row.of, "shard"));
}

std::string in_words(const CopyRow& row) {
  const std::string size = in_bytes(row.bytes);
  const std::string use = !row.in_use ? "" : "; " + pipeline::in_words(row.users);
  switch (row.state) {
    case CopyRow::State::kWhole:
      return fmt::format("{}: {}{}, {}{}", row.cache.string(), size, part_in_words(row),
                         row.pinned ? "pinned" : "removed when the room is needed", use);
    case CopyRow::State::kLoading:
      return fmt::format("{}: {} so far, being loaded{}", row.folder.string(), size, use);
    case CopyRow::State::kHalfMade:
      return fmt::format("{}: {}, left by a process that died; removed by the next load",
                         row.folder.string(), size);
    case CopyRow::State::kOfIngest:
      return fmt::format("{}: {}, the only shards of a cache made by ingest --memory{}",
                         row.folder.string(), size, use);
  }
  throw std::logic_error("a copy in no state");
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

bool is_digest(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string digest_of(const std::string& cache) {
  if (!is_there(cache) && is_digest(cache)) return cache;
  if (!is_there(pipeline::CachePaths{cache}.manifest())) return "";
  return std::string(stated_digest(read_text(pipeline::CachePaths{cache}.manifest())));
}

// Whether ingest --memory made it. Its shards may be gone.
bool is_in_memory_only(const std::string& cache) {
  std::error_code none;
  const fs::path target = fs::read_symlink(pipeline::CachePaths{cache}.shards(), none);
  return target.parent_path() == pipeline::kMemoryFolder &&
         target.filename().string().starts_with(pipeline::memory_prefix());
}

bool is_cache(const std::string& cache) {
  const pipeline::CachePaths paths{cache};
  return is_there(paths.manifest()) || is_there(paths.unfinished());
}

}  // namespace

void load_cache(const CacheRequest& o, Session& session) {
  MemoryOptions flags = o.machines;
  flags.folder = o.memory;
  const pipeline::PlacedShards placed = load_shards(o.cache, flags, session);
  say(session, fmt::format("{}; they stay in {} until winnow cache drop {}", in_words(placed),
                           o.memory.string(), o.cache));
}

void list_copies(const CacheRequest& o, const Session& session) {
  const std::vector<CopyRow> rows = pipeline::list_copies(o.memory);
  const std::uint64_t room = pipeline::room_at(o.memory).bytes();
  if (o.json) {
    Json copies = Json::array();
    for (const CopyRow& row : rows) copies.push_back(to_json(row));
    const Json json{{"schema", "winnow.cache_list/1"},
                    {"memory_dir", to_utf8(o.memory.string())},
                    {"room_bytes", room},
                    {"copies", copies}};
    print(session, fmt::format("{}\n", json.dump()));
    return;
  }
  for (const CopyRow& row : rows) print(session, fmt::format("{}\n", printable(in_words(row))));
  print(session,
        fmt::format("{} has room for {} more\n", printable(o.memory.string()), in_bytes(room)));
}

void drop_copies(const CacheRequest& o, const Session& session) {
  const std::vector<CopyRow> dropped = pipeline::drop_copies(o.cache, digest_of(o.cache), o.memory);
  const std::uint64_t bytes =
      std::transform_reduce(dropped.begin(), dropped.end(), std::uint64_t{0}, std::plus<>(),
                            [](const CopyRow& row) { return row.bytes; });
  if (o.deletes || (is_cache(o.cache) && is_in_memory_only(o.cache))) {
    pipeline::remove_cache(o.cache);
    say(session, o.cache + " is gone");
  } else if (!dropped.empty()) {
    const std::string rest = is_cache(o.cache) ? "; " + o.cache + " is as it was" : "";
    say(session,
        fmt::format("{} of {} are free again{}", in_bytes(bytes), o.memory.string(), rest));
  } else if (!is_cache(o.cache)) {
    throw UsageError(o.cache +
                     " is not a winnow cache, and no copy of a former cache of this path is in " +
                     o.memory.string() + "; nothing was removed");
  } else {
    throw UsageError("no copy of " + o.cache + " is in " + o.memory.string() +
                     "; to delete the cache itself, add --delete");
  }
}

}  // namespace winnow::app
