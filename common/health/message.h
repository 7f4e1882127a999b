#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/bytes.h"
#include "common/health/status.h"

namespace winnow::health {

// Identifies messages of one job, to separate jobs that share a port. It is sent unencrypted, so
// anyone who can read the network can know it.
using JobSecret = std::array<std::byte, 16>;

inline constexpr std::size_t kMessageBytes = 104;

// A status as a datagram: "WNH1", the secret, the numbers in little-endian order, and XXH3-64 of
// all that.
Bytes encode(const Status& status, const JobSecret& secret);

// Parses a datagram of any origin. nullopt: another length, job or version, damage, a rank outside
// `ranks`, or an invalid value.
std::optional<Status> decode(BytesView message, const JobSecret& secret, int ranks);

}  // namespace winnow::health
