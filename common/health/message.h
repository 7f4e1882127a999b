#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/bytes.h"
#include "common/health/status.h"

namespace winnow::health {

// What messages of one job are known by. It keeps jobs apart that meet on one port; it travels in
// the clear, so whoever can read the network can know it.
using JobSecret = std::array<std::byte, 16>;

inline constexpr std::size_t kMessageBytes = 104;

// A status as a datagram: "WNH1", the secret, the numbers in little-endian order, and XXH3-64 of
// all that.
Bytes encode(const Status& status, const JobSecret& secret);

// The status in a datagram from anywhere. None: another length, job or version, damage, a rank that
// is not one of `ranks`, or a value that no status has.
std::optional<Status> decode(BytesView message, const JobSecret& secret, int ranks);

}  // namespace winnow::health
