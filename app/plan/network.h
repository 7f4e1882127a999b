#pragma once

#include <string>
#include <string_view>

#include "common/comm/schedule/clock.h"
#include "common/json.h"

namespace winnow::app {

// Parses a network such as "10gbit,20us": rate of a machine's port, and latency of a message.
// Rates: kbit, mbit, gbit; times: ns, us, ms. `add_seconds_per_byte`: cost of additions.
// Throws  UsageError: not a network
comm::NetworkModel parse_network(std::string_view text, double add_seconds_per_byte);

// The costs of a link in the JSON of a measured network and of `winnow bench allreduce --json`.
Json to_json(const comm::LinkCost& link);

// A measured network as `winnow bench allreduce --write` stores it: JSON, "winnow-network", version
// 1.
std::string network_text(const comm::NetworkModel& network, int ranks, int machines);
// Throws FormatError, which names `where`: damage, another version, impossible numbers.
comm::NetworkModel read_network_text(const std::string& text, const std::string& where);

}  // namespace winnow::app
