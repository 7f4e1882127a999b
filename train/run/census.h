#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"

namespace winnow::train {

// Which samples the steps of one epoch were computed from: how many, and the sum, modulo 2^64, of
// the XXH3-64 of their ids (8 bytes, little-endian). Two epochs over the same samples have equal
// censuses, and a sample left out, repeated or put in another's place changes it, be it one that
// takes turns with it.
struct EpochCensus {
  std::uint64_t epoch = 0;  // from 0
  std::uint64_t samples = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const EpochCensus&, const EpochCensus&) = default;
};

std::uint64_t census_hash(SampleId id) noexcept;

// What is due of an epoch: each of its draws once. Found draw by draw, not in the order in which a
// run goes through them.
EpochCensus full_census(const pipeline::Sampler& sampler, std::uint64_t epoch);
// Lengthens `due`, of epochs 0, 1, 2 ..., to `epochs`.
void extend_due(std::vector<EpochCensus>& due, std::size_t epochs,
                const pipeline::Sampler& sampler);

// Enters samples `ids`, which stand at positions [begin, begin + ids.size()) of the stream of
// epochs of `epoch_samples` each. `rows` are ascending and without gaps from the first one on.
void take_census(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                 const std::vector<SampleId>& ids);

// Throws Error naming the first epoch among `rows` that is complete before position `end` of the
// stream and differs from what was due: samples were lost or repeated. `due` is of epochs 0, 1, 2
// ... and has every epoch of `rows`; all are of as many samples.
void check_census(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                  std::uint64_t end);

// RUN/census.json (docs/schemas/census.schema.json): a row for each epoch, with what was due,
// and how often a sample is.
std::string to_json(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                    pipeline::Sampling sampling);

}  // namespace winnow::train
