#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/file.h"
#include "common/health/transport.h"

namespace winnow::health {

// The ports and addresses at which a rank can be reached. Numbers are in host byte order.
struct Endpoint {
  std::uint16_t port = 0;  // 0: nowhere
  // A port on which no process receives, so that the machine refuses packets: a sign of life.
  std::uint16_t probe_port = 0;
  // IPv4 addresses of the rank's machine; at most kMostAddresses.
  std::vector<std::uint32_t> addresses{};
};
inline constexpr std::size_t kMostAddresses = 4;

// The two UDP ports of a rank, open while this object lives.
class UdpPorts {
 public:
  UdpPorts();  // throws SystemError
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  int socket() const noexcept { return socket_.get(); }

 private:
  Fd socket_;
  Fd probed_;  // connected to itself
  Endpoint endpoint_;
};

// A transport over IPv4 datagrams of at most 2 KiB. Detects that a process is gone, and that a
// machine is alive, by the ICMP messages with which a machine refuses packets to closed ports.
//
// In  `peers`: one for each rank. Ranks of this machine are tried at the loopback address first.
std::unique_ptr<Transport> make_udp_transport(UdpPorts ports, std::vector<Endpoint> peers);

}  // namespace winnow::health
