#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/progress.h"
#include "datasets/source.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::pipeline {

struct Estimate {
  std::uint64_t inputs = 0;
  std::uint64_t input_bytes = 0;  // as listed
  double seconds = 0;             // that ingest() will take
  std::uint64_t cache_bytes = 0;  // of its shards, fingerprints and ledger
  StageTimes times;               // of the sample
  std::uint64_t sampled_inputs = 0;
  double sampled_seconds = 0;  // that the sample took
};

// Predicts what ingest() of `sources` into `out` with `options` would take, from what it takes for
// some of the inputs, in pieces spread evenly over all: two runs, so that what any run takes
// whatever its size is known apart. They go into a cache of their own beside `out`, which is
// removed again. The source is taken to answer as it did for the sample, whether from memory or
// from a disk, and the cache's disk to go on as fast as it began. Throws what ingest() does, but
// takes no notice of what is at `out`.
Estimate estimate_ingest(std::span<const IngestSource> sources, const std::filesystem::path& out,
                         const IngestOptions& options);

// Some inputs of a source, as a source of their own.
class SampleSource final : public datasets::Source {
 public:
  // Positions ascend. `whole` must outlive it.
  SampleSource(const datasets::Source& whole, std::vector<std::uint64_t> positions);

  std::string_view format() const noexcept override { return whole_.format(); }
  const datasets::Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override {
    return whole_.class_names();
  }
  std::string description() const override { return whole_.description(); }
  Expected<datasets::Payload, datasets::ReadError> read(std::size_t position) const override {
    return whole_.read(positions_[position]);
  }

 private:
  const datasets::Source& whole_;
  std::vector<std::uint64_t> positions_;
  datasets::Listing entries_;
};

// 0 .. count - 1 in an order whose every run of consecutive ones lies evenly spread. Pure.
std::vector<std::size_t> spread_order(std::size_t count);

// What two runs of different size say of a third: seconds in proportion to `work`, and a part that
// any run takes. Pure.
struct TimedWork {
  double work = 0;
  double seconds = 0;
};
double extrapolate(const TimedWork& small, const TimedWork& large, double work);

}  // namespace winnow::pipeline
