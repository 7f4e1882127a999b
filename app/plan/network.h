#pragma once

#include <string>
#include <string_view>

#include "common/comm/schedule/clock.h"

namespace winnow::app {

// A network as people say it: "10gbit,20us", the rate of a machine's port and the time until a
// message is there. Rates: kbit, mbit, gbit; times: ns, us, ms. Additions cost
// `add_seconds_per_byte`.
// Throws  UsageError: it is none
comm::NetworkModel parse_network(std::string_view text, double add_seconds_per_byte);

// A measured network as `winnow bench allreduce --write` keeps it: JSON, "winnow-network" of
// version 1.
std::string network_text(const comm::NetworkModel& network, int ranks, int machines);
// Throws  FormatError, naming `where`: damage, another version, numbers that cannot be
comm::NetworkModel read_network_text(const std::string& text, const std::string& where);

}  // namespace winnow::app
