#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/bytes.h"
#include "common/health/status.h"

namespace winnow::health {

// A random number in every message of a job, by which jobs that share a port are told apart. It is
// sent unencrypted, so anyone who can read the network can know it.
using JobSecret = std::array<std::byte, 16>;

inline constexpr std::size_t kMessageBytes = 104;

// Encodes a status as a datagram: "WNH1", the secret, the numbers in little-endian order, and
// XXH3-64 of all that.
Bytes encode(const Status& status, const JobSecret& secret);

// Decodes a datagram of any origin. nullopt: wrong length, another job or version, damage, a rank
// outside `ranks`, or an invalid value.
std::optional<Status> decode(BytesView message, const JobSecret& secret, int ranks);

}  // namespace winnow::health
