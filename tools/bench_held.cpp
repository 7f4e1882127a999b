#include "tools/bench_held.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <optional>
#include <variant>

#include "common/error.h"
#include "common/file.h"
#include "tools/bench_rows.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

Verb add_held_bench(Verb bench, const std::string& name, const std::string& what, HeldOptions& o) {
  const Verb verb = bench.add_verb(name, what);
  verb.add_option("source", o.source, "Data set, as of ingest").required();
  verb.add_option("--seconds", o.seconds, "A run goes through the source until it takes so long")
      .check(real_above(0, kMostSeconds))
      .show_default();
  verb.add_option("--rounds", o.rounds, "Runs of each kind, by turns; medians count")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--hold", o.hold_mib,
                  "MiB of inputs to hold in memory; of a larger source a part, evenly spread")
      .check(whole_in(1, kMostMib))
      .show_default();
  verb.add_flag("--json", o.json, "Print one JSON object on stdout");
  add_ingest_flags(verb, o.flags);
  return verb;
}

Held hold(const datasets::Source& source, std::uint64_t most_bytes, const StopRequested& stop) {
  const datasets::Listing& entries = source.entries();
  double total = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    total += static_cast<double>(entries.input_bytes(i));
  }
  const double share = std::min(1.0, static_cast<double>(most_bytes) / std::max(total, 1.0));
  Held held;
  double due = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    due += share;
    if (due < 1) continue;
    due -= 1;
    check(stop);
    auto payload = source.read(i);
    if (!payload) continue;
    auto* bytes = std::get_if<Bytes>(&*payload);
    if (bytes == nullptr) {
      throw UsageError(
          std::string(source.format()) +
          " holds bare pixels, of which none is decoded; name a set of encoded images");
    }
    held.positions.push_back(i);
    held.bytes.push_back(std::move(*bytes));
  }
  if (held.bytes.empty()) throw RefusedError("none of the inputs could be read");
  return held;
}

std::uint64_t decode_all(const Held& held, std::uint64_t times, int threads,
                         const pipeline::DecodeSettings& settings, const StopRequested& stop,
                         const std::filesystem::path& copies) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> pixels{0};
  const std::uint64_t end = times * held.bytes.size();
  const auto work = [&](int thread) {
    std::optional<DurableFile> file;
    if (!copies.empty()) file.emplace(copies / std::to_string(thread));
    for (std::uint64_t i = next++; i < end; i = next++) {
      check(stop);
      const Bytes& bytes = held.bytes[i % held.bytes.size()];
      const auto image = pipeline::decode(bytes, settings);
      if (!image) continue;
      if (file) file->append(bytes);
      pixels += static_cast<std::uint64_t>(image->height_px) *
                static_cast<std::uint64_t>(image->width_px);
    }
    if (file) file->finish();
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work, i));
  work(0);
  for (std::future<void>& other : others) other.get();
  return pixels;
}

std::uint64_t times_for(double seconds, const Held& held, int threads,
                        const pipeline::DecodeSettings& settings, const StopRequested& stop) {
  const double once = seconds_of([&] { decode_all(held, 1, threads, settings, stop); });
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(seconds / std::max(once, 1e-6))));
}

}  // namespace winnow::tools
