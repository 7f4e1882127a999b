#include "common/health/join.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>

#include "common/error.h"
#include "common/health/udp_transport.h"
#include "common/host_name.h"

namespace winnow::health {
namespace {

constexpr std::size_t kHostWords = 8;  // 8 characters each
constexpr std::size_t kAddressWords = kMostAddresses / 2;
constexpr std::size_t kRow = 1 + kAddressWords + kHostWords;
constexpr std::uint32_t kLoopback = 0x7F000001;

JobSecret draw_secret() {
  JobSecret secret;
  std::random_device random;
  for (std::byte& byte : secret) byte = static_cast<std::byte>(random());
  return secret;
}

// The data that a rank shares about itself.
std::array<std::uint64_t, kRow> row_of(const Endpoint& endpoint) {
  std::array<std::uint64_t, kRow> row{};
  row[0] = endpoint.port | std::uint64_t{endpoint.probe_port} << 16;
  for (std::size_t i = 0; i < endpoint.addresses.size(); ++i) {
    row[1 + i / 2] |= std::uint64_t{endpoint.addresses[i]} << (32 * (i % 2));
  }
  const std::string host = host_name();
  if (host.empty()) {
    row[1 + kAddressWords] = '?';
  } else {
    std::memcpy(&row[1 + kAddressWords], host.data(), std::min(host.size(), kHostWords * 8));
  }
  return row;
}

Endpoint endpoint_in(std::span<const std::uint64_t> row) {
  Endpoint endpoint{.port = static_cast<std::uint16_t>(row[0]),
                    .probe_port = static_cast<std::uint16_t>(row[0] >> 16)};
  for (std::size_t i = 0; i < kMostAddresses; ++i) {
    const auto address = static_cast<std::uint32_t>(row[1 + i / 2] >> (32 * (i % 2)));
    if (address != 0) endpoint.addresses.push_back(address);
  }
  return endpoint;
}

// Up to the first dot, the usual short name.
std::string host_in(std::span<const std::uint64_t> row) {
  std::array<char, kHostWords * 8 + 1> host{};
  std::memcpy(host.data(), &row[1 + kAddressWords], kHostWords * 8);
  const std::string whole = host.data();
  return whole.substr(0, whole.find('.'));
}

}  // namespace

Circle join(comm::Communicator& comm) {
  Circle circle;
  std::optional<UdpPorts> ports;
  if (comm.size() > 1) {
    try {
      ports.emplace();
    } catch (const SystemError& error) {
      circle.why_not = error.what();
    }
  }
  const auto me = static_cast<std::size_t>(comm.rank());
  const std::vector<std::uint64_t> rows =
      comm::all_gather(comm, row_of(ports ? ports->endpoint() : Endpoint{}));
  if (me == 0) circle.secret = draw_secret();
  comm.broadcast(circle.secret, 0);
  std::vector<Endpoint> peers;
  for (std::size_t r = 0; r < static_cast<std::size_t>(comm.size()); ++r) {
    const auto row = std::span(rows).subspan(r * kRow, kRow);
    const int machine = comm.placement().node_of.at(r);
    circle.members.push_back({host_in(row), machine});
    Endpoint& peer = peers.emplace_back(r == me ? Endpoint{} : endpoint_in(row));
    if (r != me && machine == comm.placement().node_of.at(me)) {
      peer.addresses.insert(peer.addresses.begin(), kLoopback);
    }
  }
  if (ports) circle.transport = make_udp_transport(*std::move(ports), std::move(peers));
  return circle;
}

}  // namespace winnow::health
