#include "app/bench/ingest.h"

#include <fmt/core.h>

#include "app/bench/rows.h"
#include "app/temporary_folder.h"
#include "app/words.h"
#include "common/error.h"
#include "common/statistics.h"
#include "datasets/formats.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// A source that repeats some inputs of another one `times` times, each under a name of its own.
class Repeated final : public datasets::Source {
 public:
  Repeated(const datasets::Source& source, const std::vector<std::size_t>& positions,
           std::uint64_t times)
      : source_(source), positions_(positions) {
    for (std::uint64_t turn = 0; turn < times; ++turn) {
      for (const std::size_t position : positions) {
        datasets::Entry entry = source.entries()[position];
        entry.name = std::to_string(turn) + "/" + entry.name;
        entries_.push_back(entry);
      }
    }
  }

  std::string_view format() const noexcept override { return source_.format(); }
  const datasets::Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override {
    return source_.class_names();
  }
  std::string description() const override { return source_.description(); }
  Expected<datasets::Payload, datasets::ReadError> read(std::size_t position) const override {
    return source_.read(positions_[position % positions_.size()]);
  }

 private:
  const datasets::Source& source_;
  const std::vector<std::size_t>& positions_;
  datasets::Listing entries_;
};

}  // namespace

void bench_ingest(const IngestBenchRequest& bench, const Session& session) {
  const HeldRequest& o = bench.held;
  const fs::path out = bench.out.empty() ? fs::temp_directory_path() : bench.out;
  if (!fs::is_directory(out))
    throw UsageError(out.string() + " is not a folder; name an existing folder with --out");
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions options = ingest_options(o.flags, session);
  const Held held = hold(*source, o.hold_mib << 20, session.stop);
  const std::uint64_t times =
      times_for(o.seconds, held, options.work.threads, options.decode, session.stop);
  const Repeated repeated(*source, held.positions, times);
  const auto count = static_cast<double>(repeated.entries().size());
  const auto rate_of = [count](const auto& work) { return count / seconds_of(work); };
  const auto decode_to = [&](const fs::path& copies) {
    decode_all(held, times, options.work.threads, options.decode, session.stop, copies);
  };
  std::vector<double> ingested;
  std::vector<double> decoded;
  std::vector<double> copied;
  for (int round = 0; round < o.rounds; ++round) {
    decoded.push_back(rate_of([&] { decode_to({}); }));
    {
      const TemporaryFolder copies(out);
      fs::create_directory(copies.path());
      copied.push_back(rate_of([&] { decode_to(copies.path()); }));
    }
    const TemporaryFolder cache(out);
    ingested.push_back(
        rate_of([&] { pipeline::ingest(repeated, o.source, cache.path(), options, {}); }));
    say(session, fmt::format("round {}: {} images, {:.1f} a second decoded, {:.1f} decoded and "
                             "copied, {:.1f} ingested",
                             round + 1, grouped(repeated.entries().size()), decoded.back(),
                             copied.back(), ingested.back()));
  }
  tell_rows(o.json, session,
            {{"ingest", median(ingested), median(decoded), "images/s"},
             {"ingest, of decoding and writing", median(ingested), median(copied), "images/s"}});
}

}  // namespace winnow::app
