#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/loader.h"

namespace winnow::train {

// Which samples the steps of one epoch were computed from: how many, and the sum, modulo 2^64, of
// the XXH3-64 of their ids (8 bytes, little-endian). Two epochs over the same samples have equal
// censuses, and a sample left out, repeated or put in another's place changes it.
struct EpochCensus {
  std::uint64_t epoch = 0;  // from 0
  std::uint64_t samples = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const EpochCensus&, const EpochCensus&) = default;
};

std::uint64_t census_hash(SampleId id) noexcept;

// Of an epoch that saw every sample once.
EpochCensus full_census(const pipeline::SampleSet& samples, std::uint64_t epoch);

// Enters samples `ids`, which stand at positions [begin, begin + ids.size()) of the stream of
// epochs of `epoch_samples` each. `rows` are ascending and without gaps from the first one on.
void take_census(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                 const std::vector<SampleId>& ids);

// Throws Error naming the first epoch among `rows` that is complete before position `end` of the
// stream and differs from a full one: samples were lost or repeated.
void check_census(const std::vector<EpochCensus>& rows, const EpochCensus& full, std::uint64_t end);

// RUN/census.json: a row for each epoch, with what a full one has to be.
std::string to_json(const std::vector<EpochCensus>& rows, const EpochCensus& full);

}  // namespace winnow::train
