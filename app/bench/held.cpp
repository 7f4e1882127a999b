#include "app/bench/held.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <optional>
#include <variant>

#include "app/bench/rows.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/decode/decode.h"

namespace winnow::app {

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
    end_if_stopped(stop);
    auto payload = source.read(i);
    if (!payload) continue;
    auto* bytes = std::get_if<Bytes>(&*payload);
    if (bytes == nullptr) {
      throw UsageError(
          std::string(source.format()) +
          " holds bare pixels, so there is nothing to decode; name a data set of encoded images");
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
      end_if_stopped(stop);
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

}  // namespace winnow::app
