#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/shard_copy.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/load_shards.h"
#include "tools/numbers.h"
#include "tools/sub_verb.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using pipeline::CopyRow;

struct CacheOptions {
  std::string cache;  // a path; of `drop` also a digest
  fs::path memory = pipeline::kMemoryFolder;
  bool deletes = false;
  bool json = false;
  MemoryFlags machines;
};

void load(const CacheOptions& o, Session& session) {
  MemoryFlags flags = o.machines;
  flags.folder = o.memory;
  const pipeline::PlacedShards placed = load_shards(o.cache, flags, session);
  say(session, fmt::format("{}; they stay in {} until winnow cache drop {}", in_words(*placed.copy),
                           o.memory.string(), o.cache));
}

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
  if (row.ids) return fmt::format(" (of {} of {} inputs)", *row.ids, row.of_ids);
  if (row.shards == row.of) return {};
  return fmt::format(" ({} of {} shards)", row.shards, row.of);
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

void list(const CacheOptions& o) {
  const std::vector<CopyRow> rows = pipeline::list_copies(o.memory);
  const std::uint64_t room = pipeline::room_at(o.memory).bytes();
  if (o.json) {
    Json copies = Json::array();
    for (const CopyRow& row : rows) copies.push_back(to_json(row));
    const Json json{{"schema", "winnow.cache_list/1"},
                    {"memory_dir", to_utf8(o.memory.string())},
                    {"room_bytes", room},
                    {"copies", copies}};
    fmt::print("{}\n", json.dump());
    return;
  }
  for (const CopyRow& row : rows) fmt::print("{}\n", printable(in_words(row)));
  fmt::print("{} has room for {} more\n", printable(o.memory.string()), in_bytes(room));
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

// Made by ingest --memory, be its shards still there or not.
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

// The one thing that deletes data asks for a word of its own, unless memory is all there is of it.
void drop(const CacheOptions& o, const Session& session) {
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
    throw UsageError(o.cache + " is not a winnow cache, and nothing of one that was is in " +
                     o.memory.string() + "; nothing was removed");
  } else {
    throw UsageError("nothing of " + o.cache + " is in " + o.memory.string() +
                     "; to delete the cache itself, add --delete");
  }
}

}  // namespace

Command add_cache(Verb program) {
  auto o = std::make_shared<CacheOptions>();
  const Verb cache =
      program.add_verb("cache", "Load caches into memory, list what is there, drop them");
  const auto add_memory = [&](Verb verb) {
    verb.add_option("--memory-dir", o->memory,
                    "Folder of the copies: on a tmpfs, or on a disk of the machine")
        .show_default();
  };
  const Verb loads = cache.add_verb(
      "load",
      "Copy a cache's shards into memory, where they stay until they are dropped; machines that do "
      "not have the cache get it from those that do");
  loads.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  add_memory(loads);
  add_machine_flags(loads, o->machines);
  loads
      .add_option("--partitions", o->machines.partitions,
                  "Each machine holds its part of so many partitions of the samples, as train "
                  "--shuffle-fraction reads them, instead of shards; 0: shards")
      .check(whole_in(0, kMostCount))
      .show_default();
  const Verb lists = cache.add_verb("list", "Show what of your caches is in memory");
  add_memory(lists);
  lists.add_flag("--json", o->json, "Print one JSON object on stdout");
  const Verb drops = cache.add_verb(
      "drop", "Remove a cache from memory; one that ingest --memory made is then gone");
  drops.add_option("cache", o->cache, "The cache, or its digest where it is gone or never was")
      .required();
  drops.add_flag("--delete", o->deletes, "Delete the cache itself, too, from disk as well");
  add_memory(drops);
  cache.footer(
      R"(Every process of yours on the machine shares one copy of a cache. Blocks are compared with the
hashes in the manifest as they are loaded. train --memory, eval --memory and bench loader --memory
load by themselves what is not there, and leave it, unpinned: such a copy is removed when another
one needs the room. What a process uses is never removed.

Examples:
  winnow cache load cache
  winnow cache load /nfs/cache --memory-dir /scratch
  mpirun --map-by ppr:1:node winnow cache load /shared/cache   # each machine its part
  mpirun -np 4 winnow cache load /data/cache    # which may be there on one of them only
  winnow cache list
  winnow cache drop cache                # the copy; the cache stays on disk
  winnow cache drop cache --delete       # all of it)");
  // What is listed and dropped is of one machine.
  return command_of(cache, {{loads, [o](Session& session) { load(*o, session); }, true},
                            {lists, [o](Session&) { list(*o); }},
                            {drops, [o](Session& session) { drop(*o, session); }}});
}

}  // namespace winnow::tools
