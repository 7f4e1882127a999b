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
  std::uint64_t input_bytes = 0;  // bytes of all inputs, by the listing
  double seconds = 0;             // estimated duration of ingest()
  std::uint64_t cache_bytes = 0;  // estimated size of shards, fingerprints and ledger
  StageTimes times;               // times of the stages for the sampled inputs
  std::uint64_t sampled_inputs = 0;
  double sampled_seconds = 0;  // duration of ingesting the sample
};

// Estimates the cost of ingest() with these arguments by ingesting some inputs, in pieces spread
// evenly over all. Two runs of different size separate the fixed cost from the cost per input. They
// use a temporary cache beside `out`.
//
// Assumes  that the source remains as fast as for the sample, whether from memory or disk, and that
//          the cache's disk keeps its initial speed
// Errors   As ingest(), but what exists at `out` is ignored.
Estimate estimate_ingest(std::span<const IngestSource> sources, const std::filesystem::path& out,
                         const IngestOptions& options);

// A subset of the inputs of a source, as a source of its own.
class SampleSource final : public datasets::Source {
 public:
  // `positions` of inputs in `whole` must ascend. `whole` must outlive this object.
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

// The numbers 0 .. count - 1 in such an order that every run of consecutive elements is evenly
// spread. Pure.
std::vector<std::size_t> spread_order(std::size_t count);

// Extrapolates the time of a run from two runs of different size. Assumes a constant plus a part
// proportional to `work`. Pure.
struct TimedWork {
  double work = 0;
  double seconds = 0;
};
double extrapolate(const TimedWork& small, const TimedWork& large, double work);

}  // namespace winnow::pipeline
