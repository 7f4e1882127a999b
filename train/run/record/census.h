#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"

namespace winnow::train {

// The samples from which one epoch was computed: their number, and a hash of their ids.
// hash  The sum modulo 2^64 of XXH3-64 of each id (8 bytes, little-endian). It does not depend on
//       order; omitting, repeating or replacing a sample changes it.
struct EpochCensus {
  std::uint64_t epoch = 0;  // counted from 0
  std::uint64_t samples = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const EpochCensus&, const EpochCensus&) = default;
};

std::uint64_t census_hash(SampleId id) noexcept;

// Computes the census that an epoch should have: each sample that the sampler draws for it, once
// per draw. Iterates in another order than training does, as an independent check.
EpochCensus full_census(const pipeline::Sampler& sampler, std::uint64_t epoch);
// Extends `due`, the expected censuses of epochs 0, 1, 2 ..., to `epochs` entries.
void extend_due(std::vector<EpochCensus>& due, std::size_t epochs,
                const pipeline::Sampler& sampler);

// Adds samples to the census of the epochs that they belong to.
// rows   One for each epoch, ascending, without gaps.
// begin  Position of the first of `ids` in the stream of samples, where one epoch of
//        `epoch_samples` follows another.
void count_samples(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                   const std::vector<SampleId>& ids);

// Compares the censuses of finished epochs with the expected ones.
// rows    What was computed.
// due     What was expected, for epochs 0, 1, 2 ... up to the last of `rows`. All have the same
//         number of samples.
// end     Position in the stream of samples. Epochs that end later are not finished and are not
//         checked.
// Throws  Error, naming the first epoch that differs: samples were lost or repeated.
void check_census(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                  std::uint64_t end);

// Returns the text of RUN/census.json (docs/schemas/census.schema.json): a row for each epoch, with
// its census and the expected one.
std::string to_json(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                    pipeline::Sampling sampling);

}  // namespace winnow::train
