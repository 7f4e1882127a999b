#include "app/sources/in_place.h"

#include <fmt/core.h>

#include <system_error>

#include "app/sources/class_words.h"
#include "app/sources/ingest_end.h"
#include "app/words.h"
#include "common/error.h"
#include "datasets/formats.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

bool is_data_set(const std::filesystem::path& path) {
  const auto is_there = [](const std::filesystem::path& at) {
    std::error_code ignored;
    return std::filesystem::exists(at, ignored);
  };
  const pipeline::CachePaths paths{path};
  return is_there(path) && !is_there(paths.manifest()) && !is_there(paths.unfinished());
}

void fingerprint_in_place(const std::filesystem::path& data_set, const ReadingOptions& reading,
                          const std::vector<std::string>& hashes, const Session& session,
                          const std::filesystem::path& out) {
  const auto source = [&] {
    const auto yet =
        nothing_to_finish(session);  // large archives are inflated, large folders listed
    return datasets::open_source(data_set, open_options(reading));
  }();
  say(session, fmt::format("{} is {}", data_set.string(), source->description()));
  pipeline::IngestOptions options = ingest_options(reading, session);
  options.store = pipeline::Store::kNone;
  if (!hashes.empty()) options.hashes = hashes;
  const ProgressSink bar = progress_bar(session, "fingerprint", "images");
  const pipeline::IngestResult result = [&] {
    try {
      return pipeline::ingest(*source, data_set, out, options, bar);
    } catch (const StoppedError&) {  // its message would say how to resume in a temporary folder
      throw StoppedError("stopped before all of " + data_set.string() + " was read");
    }
  }();
  const std::uint64_t bad = result.manifest.inputs.total - result.manifest.inputs.by_fate.at("ok");
  if (bad > 0) say(session, count_of(bad, "input") + " could not be read");
  if (const std::string remark = orientation_remark(result, true); !remark.empty())
    say(session, remark);
  if (const std::string remark = matte_remark(result); !remark.empty()) say(session, remark);
  say_each(session, remarks_on_classes(result.manifest));
}

}  // namespace winnow::app
