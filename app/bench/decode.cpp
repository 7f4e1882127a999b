#include "app/bench/decode.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/bench/rows.h"
#include "common/statistics.h"
#include "datasets/formats.h"

namespace winnow::app {

void bench_decode(const HeldRequest& o, const Session& session) {
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions options = ingest_options(o.flags, session);
  const Held held = hold(*source, o.hold_mib << 20, session.stop);
  const auto count = static_cast<double>(held.bytes.size());
  const std::uint64_t times =
      times_for(o.seconds, held, options.work.threads, options.decode, session.stop);
  const std::uint64_t times_alone =
      std::max<std::uint64_t>(1, times / static_cast<std::uint64_t>(options.work.threads));
  std::vector<double> together;
  std::vector<double> alone;
  double megapixels = 0;
  for (int round = 0; round < o.rounds; ++round) {
    together.push_back(seconds_of([&] {
                         megapixels =
                             1e-6 / static_cast<double>(times) *
                             static_cast<double>(decode_all(held, times, options.work.threads,
                                                            options.decode, session.stop));
                       }) /
                       static_cast<double>(times));
    alone.push_back(
        seconds_of([&] { decode_all(held, times_alone, 1, options.decode, session.stop); }) /
        static_cast<double>(times_alone));
    say(session, fmt::format("round {}: {} images, {:.1f} a second on {} threads, {:.1f} on one",
                             round + 1, held.bytes.size(), count / together.back(),
                             options.work.threads, count / alone.back()));
  }
  const double linear = options.work.threads / median(alone);
  tell_rows(o.json, session,
            {{"decode", count / median(together), count * linear, "images/s"},
             {"decode pixels", megapixels / median(together), megapixels * linear, "Mpixel/s"}});
}

}  // namespace winnow::app
