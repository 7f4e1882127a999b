#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"

namespace winnow::train {

// A count of the samples that one epoch was computed from, and the sum, modulo 2^64, of the XXH3-64
// of their ids (8 bytes, little-endian). Two epochs over the same samples have equal censuses. A
// sample left out, repeated or replaced by another changes it.
struct EpochCensus {
  std::uint64_t epoch = 0;  // from 0
  std::uint64_t samples = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const EpochCensus&, const EpochCensus&) = default;
};

std::uint64_t census_hash(SampleId id) noexcept;

// The census an epoch should have: each of its draws once. Counted draw by draw, in another order
// than a run's.
EpochCensus full_census(const pipeline::Sampler& sampler, std::uint64_t epoch);
// Lengthens `due`, of epochs 0, 1, 2 ..., to `epochs`.
void extend_due(std::vector<EpochCensus>& due, std::size_t epochs,
                const pipeline::Sampler& sampler);

// Adds samples `ids` to `rows`: positions [begin, begin + ids.size()) of a stream of epochs of
// `epoch_samples` each. `rows` are ascending, without gaps from the first one on.
void count_samples(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                   const std::vector<SampleId>& ids);

// Throws Error naming the first epoch of `rows` that ends before position `end` of the stream and
// differs from `due`: samples were lost or repeated. `due` has epochs 0, 1, 2 ... up to the last of
// `rows`, all of as many samples.
void check_census(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                  std::uint64_t end);

// The text of RUN/census.json (docs/schemas/census.schema.json): a row for each epoch, with what
// was due.
std::string to_json(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                    pipeline::Sampling sampling);

}  // namespace winnow::train
