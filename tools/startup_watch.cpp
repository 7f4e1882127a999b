#include "tools/startup_watch.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "common/host_name.h"
#include "common/thread_name.h"
#include "common/to_stderr.h"

namespace winnow::tools {
namespace {

// Whether it is a bridge for containers and virtual machines of this machine.
bool stays_inside(const NetworkCard& card) {
  constexpr std::array<std::string_view, 8> kNames{"docker", "virbr", "br-",    "veth",
                                                   "cni",    "lxc",   "podman", "vmnet"};
  return std::ranges::any_of(kNames, [&](auto name) { return card.name.starts_with(name); });
}

// If no launcher says, each rank is the first.
bool is_first_of_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

// Ranks of one machine need no network.
bool is_alone() {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return all != nullptr && here != nullptr && std::string_view(all) == here;
}

}  // namespace

bool speaks_for_machine() { return is_first_of_machine() && !is_alone(); }

bool launched_by_open_mpi() { return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr; }

std::vector<NetworkCard> network_cards() {
  std::vector<NetworkCard> cards;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return cards;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    cards.push_back({one->ifa_name, text.data()});
  }
  return cards;
}

std::string startup_sentence(const std::string& host, std::span<const NetworkCard> cards,
                             double seconds, bool by_open_mpi) {
  std::string all;
  std::string inside;
  std::string outside;
  for (const NetworkCard& card : cards) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", card.name, card.address);
    std::string& names = stays_inside(card) ? inside : outside;
    names += (names.empty() ? "" : ",") + card.name;
  }
  std::string text = fmt::format(
      "{}: MPI has not connected this machine with the others for {:g} s; its network cards are "
      "{}. ",
      host, seconds, all.empty() ? "none" : all);
  if (!inside.empty()) {
    text += fmt::format(
        "MPI may have taken {}, which leads to no other machine and may have the same address on "
        "each. ",
        inside);
  }
  const std::string named = outside.empty() ? "CARD" : outside;
  return text + (by_open_mpi
                     ? "Name the cards by which all machines reach each other: mpirun --mca "
                       "btl_tcp_if_include " +
                           named
                     : "Name the cards by which all machines reach each other, as the manual of "
                       "this MPI says: " +
                           named);
}

StartupWatch::StartupWatch(double warning_s, double timeout_s, std::string timeout_flag)
    : timeout_flag_(std::move(timeout_flag)),
      thread_([this, warning_s, timeout_s] { watch(warning_s, timeout_s); }) {}

StartupWatch::~StartupWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StartupWatch::watch(double warning_s, double timeout_s) {
  name_thread("startup");
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  const auto is_over_by = [&](double seconds) {
    return changed_.wait_until(lock, begin + std::chrono::duration<double>(seconds),
                               [&] { return over_; });
  };
  const bool warns = warning_s > 0 && (timeout_s <= 0 || warning_s < timeout_s);
  if (warns && is_over_by(warning_s)) return;
  if (warns && speaks_for_machine()) {
    say_line(startup_sentence(host_name(), network_cards(), warning_s, launched_by_open_mpi()));
  }
  if (timeout_s <= 0 || is_over_by(timeout_s)) return;
  say_line(fmt::format("winnow: {}: MPI has not connected its ranks for {:g} s{}; this job ends",
                       host_name(), timeout_s,
                       timeout_flag_.empty() ? "" : fmt::format(" ({})", timeout_flag_)));
  ::_exit(1);
}

}  // namespace winnow::tools
