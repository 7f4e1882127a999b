#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"

namespace winnow::train {

// The samples from which one epoch was computed: their number, and the sum modulo 2^64 of the
// XXH3-64 of their ids (8 bytes, little-endian). Epochs over the same samples have equal censuses.
// Omitting, repeating or replacing a sample changes it.
struct EpochCensus {
  std::uint64_t epoch = 0;  // counted from 0
  std::uint64_t samples = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const EpochCensus&, const EpochCensus&) = default;
};

std::uint64_t census_hash(SampleId id) noexcept;

// The census that an epoch should have: each of its draws once. Counted draw by draw, in another
// order than by a run.
EpochCensus full_census(const pipeline::Sampler& sampler, std::uint64_t epoch);
// Extends `due`, for epochs 0, 1, 2 ..., to `epochs` entries.
void extend_due(std::vector<EpochCensus>& due, std::size_t epochs,
                const pipeline::Sampler& sampler);

// Adds samples `ids` to `rows`. They have the positions [begin, begin + ids.size()) in a stream of
// epochs with `epoch_samples` each. `rows` are ascending, without gaps.
void count_samples(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                   const std::vector<SampleId>& ids);

// Throws Error, naming the first epoch of `rows` that ends by position `end` of the stream and
// differs from `due`: samples were lost or repeated. `due` has epochs 0, 1, 2 ... up to the last of
// `rows`, all with the same number of samples.
void check_census(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                  std::uint64_t end);

// The text of RUN/census.json (docs/schemas/census.schema.json): a row for each epoch, compared
// with what was due.
std::string to_json(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                    pipeline::Sampling sampling);

}  // namespace winnow::train
