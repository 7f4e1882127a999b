#include "app/sources/ingest_end.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "app/sources/class_words.h"
#include "app/sources/reading.h"
#include "app/words.h"
#include "common/json.h"
#include "dedup/hash/hash_name.h"
#include "pipeline/store/settings.h"

namespace winnow::app {
namespace {

Json json_of(const pipeline::StageTimes& times) {
  Json json;
  for (std::size_t i = 0; i < pipeline::kStageCount; ++i) {
    const auto stage = static_cast<pipeline::Stage>(i);
    json[std::string(stage_name(stage))] = {{"busy_seconds", times[stage].busy_seconds},
                                            {"threads", times[stage].threads}};
  }
  json["wall_seconds"] = times.wall_seconds;
  return json;
}

std::string retry_sentence(const pipeline::IngestResult& result) {
  if (result.retried == 0) return "nothing to retry: all inputs were read";
  return fmt::format("retried {}: {} could be read now",
                     count_of(result.retried, "unreadable input"), grouped(result.recovered));
}

double images_per_second(const pipeline::IngestResult& result) {
  return static_cast<double>(result.inputs_done) / std::max(result.seconds, 1e-9);
}

std::uint64_t duplicates(const pipeline::Manifest& manifest) {
  const auto row = manifest.inputs.by_fate.find("duplicate");
  return row == manifest.inputs.by_fate.end() ? 0 : row->second;
}

void say_before(const IngestEnd& end, const Session& session) {
  const pipeline::IngestResult& result = end.result;
  if (result.sources_there > 0) {
    say(session, fmt::format("{} already in the cache",
                             count_of(result.sources_there, "source is", "sources are")));
  }
  if (end.retried) {
    say(session, retry_sentence(result));
  } else if (result.inputs_done < result.manifest.inputs.total) {
    say(session, fmt::format("resumed after {} that an earlier run had finished",
                             count_of(result.manifest.inputs.total - result.inputs_done, "input")));
  }
}

// Says what happened to inputs that are not ok.
void say_fates(const IngestEnd& end, const Session& session) {
  const pipeline::Manifest& m = end.result.manifest;
  const std::string list = (end.out / "ledger.jsonl").string();
  if (end.dropped) {
    say(session, fmt::format("  {} left out as duplicates: see {}", grouped(duplicates(m)), list));
  }
  for (const auto& [fate, count] : m.inputs.by_fate) {
    if (end.dropped && fate == "duplicate") continue;
    if (fate != "ok" && count > 0) {
      say(session, fmt::format("  {} {}: see {}", grouped(count), fate, list));
    }
    if (fate != "unsupported") continue;
    for (const auto& [reason, inputs] : end.result.remarks.unsupported) {
      say(session, fmt::format("    {}: {}", grouped(inputs), reason));
    }
  }
  if (!end.dropped && duplicates(m) == 0 && m.inputs.by_fate.at("ok") < m.inputs.total) {
    say(session,
        fmt::format("  once they are repaired, or their storage is back, --out {} --retry-failed "
                    "reads only these",
                    end.out.string()));
  }
  if (end.result.remarks.warned > 0) {
    say(session, fmt::format("  {} read with a decoder's warning: see {}",
                             grouped(end.result.remarks.warned), list));
  }
  if (const std::string remark = orientation_remark(end.result, false); !remark.empty()) {
    say(session, "  " + remark);
  }
  if (const std::string remark = matte_remark(end.result); !remark.empty()) {
    say(session, "  " + remark);
  }
  for (const std::string& remark : remarks_on_classes(m)) say(session, "  " + remark);
}

Json unsupported_json(const pipeline::Remarks& remarks) {
  Json rows = Json::array();
  for (const auto& [reason, count] : remarks.unsupported) {
    rows.push_back({{"reason", reason}, {"count", count}});
  }
  return rows;
}

Json skipped_json(std::span<const pipeline::IngestSource> sources) {
  std::map<std::string, std::uint64_t> by_reason;
  for (const pipeline::IngestSource& in : sources) {
    for (const datasets::Skipped& row : in.source->skipped()) by_reason[row.reason] += row.count;
  }
  Json rows = Json::array();
  for (const auto& [reason, count] : by_reason) {
    rows.push_back({{"reason", reason}, {"count", count}});
  }
  return rows;
}

// The first hash with codes of all orientations, such as "phash_dihedral:1"; empty if there is
// none.
std::string hash_of_all_orientations(const std::vector<std::string>& hashes) {
  for (const std::string& hash : hashes) {
    const std::string name = hash.substr(0, hash.rfind(':'));
    const auto parts = dedup::parse_hash_name(name);
    if (parts && parts->orientations == 8) return name;
  }
  return "";
}

}  // namespace

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Json name_of_slowest(const pipeline::StageTimes& times) {
  if (times.wall_seconds <= 0) return nullptr;
  return std::string(stage_name(slowest(times)));
}

std::string orientation_remark(const pipeline::IngestResult& result, bool in_place) {
  const std::uint64_t count = result.remarks.oriented;
  const pipeline::CacheSettings& settings = result.manifest.settings;
  if (count == 0 || settings.decode.orientation == pipeline::Orientation::kApply) return "";
  const std::string any_way = hash_of_all_orientations(settings.fingerprints.hashes);
  if (in_place && !any_way.empty()) return "";  // the duplicates that it finds are reported next
  const bool one = count == 1;
  const std::string were =
      fmt::format("{} ignored: ", count_of(count, "image has an EXIF rotation, which was",
                                           "images have an EXIF rotation, which was"));
  if (!any_way.empty()) {
    return were + fmt::format("winnow dedup --hash {} finds {} duplicates in any orientation",
                              any_way, one ? "its" : "their");
  }
  return were + fmt::format(
                    "upright duplicates of {} are found with --orientation apply, those in any "
                    "orientation with --hash phash_dihedral{}",
                    one ? "it" : "them",
                    in_place ? ""
                             : "; winnow dedup has these flags too, and lists what it finds in a "
                               "data set without another ingest");
}

std::string matte_remark(const pipeline::IngestResult& result) {
  const std::uint64_t count = result.remarks.transparent;
  if (count == 0) return "";
  return fmt::format(
      "{} transparent pixels: duplicates are searched on a gray background, and training ignores "
      "alpha; --matte white (or black, #rrggbb) sets a background",
      count_of(count, "image has", "images have"));
}

void say_end(const IngestEnd& end, const Session& session) {
  const pipeline::IngestResult& result = end.result;
  const pipeline::Manifest& m = result.manifest;
  say_before(end, session);
  say(session, fmt::format("{} of {} read, {} in {:.1f} s, {:.0f} a second",
                           grouped(m.inputs.by_fate.at("ok")), count_of(m.inputs.total, "input"),
                           grouped(result.inputs_done), result.seconds, images_per_second(result)));
  say_fates(end, session);
  if (result.times.wall_seconds > 0) say(session, bottleneck(result.times));
  if (const std::string variants = in_words(pipeline::variant_settings(m.settings.variants));
      !variants.empty()) {
    say(session, fmt::format("stored: {}", variants));
    if (m.images.split_counts[static_cast<std::size_t>(Split::kTrain)] == 0) {
      say(session, "  no image is in the split train, so no variants were made");
    }
  }
  say(session, fmt::format("cache: {}", end.out.string()));
}

Json json_of(const IngestEnd& end) {
  const pipeline::IngestResult& result = end.result;
  const pipeline::Manifest& m = result.manifest;
  Json json{{"schema", "winnow.ingest/1"},
            {"inputs", m.inputs.total},
            {"ok", m.inputs.by_fate.at("ok")},
            {"classes", m.inputs.by_fate},
            {"warned", result.remarks.warned},
            {"oriented", result.remarks.oriented},
            {"transparent", result.remarks.transparent},
            {"unsupported", unsupported_json(result.remarks)},
            {"skipped", skipped_json(end.sources)},
            {"images_per_second", images_per_second(result)},
            {"peak_rss_bytes", peak_rss_bytes()},
            {"stages", json_of(result.times)},
            {"slowest", name_of_slowest(result.times)},
            {"digest", result.digest}};
  if (end.dropped) json["dropped"] = duplicates(m);
  if (end.retried) {
    json["retried"] = result.retried;
    json["recovered"] = result.recovered;
  }
  return json;
}

}  // namespace winnow::app
