#include "pipeline/store/copy_description.h"

#include <limits>
#include <numeric>
#include <system_error>

#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr int kVersion = 1;
constexpr std::uint64_t kMostCopied = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostPartitions = std::numeric_limits<int>::max();

std::vector<IdRun> read_runs(const JsonReader& in) {
  std::vector<IdRun> runs;
  for (const JsonReader& run : in.items()) {
    const std::vector<std::uint64_t> ends = run.numbers(2);
    const bool ascends = runs.empty() || runs.back().last < ends[0];
    if (!ascends || ends[0] > ends[1]) in.fail("has ids that do not ascend");
    runs.push_back({ends[0], ends[1]});
  }
  return runs;
}

}  // namespace

std::uint64_t CopyDescription::bytes() const {
  return std::accumulate(shard_bytes.begin(), shard_bytes.end(), std::uint64_t{0});
}

std::string text_of(const CopyDescription& d) {
  Json json{{"version", kVersion},
            {"cache", d.cache},
            {"cache_digest", d.cache_digest},
            {"shards", d.shards},
            {"of", d.of},
            {"partitions", {d.partitions.begin, d.partitions.end, d.partitions.of}},
            {"shard_bytes", d.shard_bytes}};
  if (d.runs) {
    auto runs = Json::array();
    for (const IdRun& run : *d.runs) runs.push_back({run.first, run.last});
    json["ids"] = std::move(runs);
    json["of_ids"] = d.of_ids;
  }
  return json.dump(2) + "\n";
}

std::optional<CopyDescription> read_copy_description(const fs::path& folder) {
  const fs::path file = folder / kCopyDescription;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  std::uint64_t version = 0;
  try {
    const JsonReader in(read_text(file), {file.string()});
    version = in.at("version").number();
    if (version == kVersion) {
      CopyDescription d;
      d.cache = in.at("cache").text();
      d.cache_digest = in.at("cache_digest").text();
      for (const JsonReader& shard : in.at("shards").items()) {
        d.shards.push_back(shard.number<std::uint32_t>(kMostCopied));
      }
      d.of = in.at("of").number();
      const std::vector<std::uint64_t> partitions = in.at("partitions").numbers(3);
      if (partitions[0] > partitions[1] || partitions[1] > partitions[2] || partitions[2] < 1 ||
          partitions[2] > kMostPartitions) {
        return std::nullopt;
      }
      d.partitions = {static_cast<int>(partitions[0]), static_cast<int>(partitions[1]),
                      static_cast<int>(partitions[2])};
      d.shard_bytes = in.at("shard_bytes").numbers();
      if (const auto runs = in.find("ids")) {
        d.runs = read_runs(*runs);
        d.of_ids = in.at("of_ids").number();
      }
      if (d.shard_bytes.size() != d.shards.size()) return std::nullopt;
      return d;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  throw FormatError(folder.string() +
                    " was made by another version of winnow; remove it with that version");
}

CopyContents contents_of_copy(const fs::path& folder, const std::string& cache_digest) {
  const std::optional<CopyDescription> found = read_copy_description(folder);
  if (!found) return {};
  if (found->cache_digest != cache_digest) {
    throw FormatError(folder.string() + " is a copy of " + from_utf8(found->cache) +
                      ", which has been replaced since; start again");
  }
  CopyContents contents{.partitions = found->partitions, .runs = found->runs};
  if (contents.whole()) return contents;
  for (std::size_t i = 0; i < found->shards.size(); ++i) {
    contents.bytes[found->shards[i]] = found->shard_bytes[i];
  }
  return contents;
}

}  // namespace winnow::pipeline
