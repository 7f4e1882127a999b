#include "tools/startup_reach.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

namespace winnow::tools {
namespace {

constexpr std::size_t kMostText = 1000;
constexpr std::size_t kMostHosts = 4;  // named in a sentence

Fd open_socket() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// Nullopt if it is no address.
std::optional<sockaddr_in> address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) return std::nullopt;
  return address;
}

Reach reach_of(int error) {
  if (error == 0) return Reach::kAnswers;
  return error == ECONNREFUSED ? Reach::kRefuses : Reach::kSilent;
}

// A connection attempt in progress.
struct Trial {
  Reach* reach;
  Fd socket;
};

// Starts an attempt unless it ends at once. Without a socket the result is unknown.
void try_card(const NetworkCard& card, std::uint16_t port, Reach& reach,
              std::vector<Trial>& trials) {
  const auto address = address_of(card.address, port);
  Fd socket = open_socket();
  if (!address || !socket) return;
  const int rc =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  if (rc != 0 && errno == EINPROGRESS) {
    reach = Reach::kSilent;
    trials.push_back({&reach, std::move(socket)});
  } else {
    reach = reach_of(rc == 0 ? 0 : errno);
  }
}

// Waits until all attempts have ended, or time is up.
void finish(std::vector<Trial> trials, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!trials.empty()) {
    std::vector<pollfd> wanted;
    for (const Trial& trial : trials) wanted.push_back({trial.socket.get(), POLLOUT, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(left.count())) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    std::vector<Trial> open;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (wanted[i].revents == 0) {
        open.push_back(std::move(trials[i]));
        continue;
      }
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(trials[i].socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      *trials[i].reach = reach_of(error);
    }
    trials = std::move(open);
  }
}

std::string reason(Reach reach, const std::string& host) {
  switch (reach) {
    case Reach::kRefuses:
      return ", which refuses";
    case Reach::kOwn:
      return ", whose address " + host + " has too";
    case Reach::kUnknown:
    case Reach::kSilent:
    case Reach::kAnswers:
      break;
  }
  return ", which does not answer";
}

std::string hosts_text(std::span<const Tried* const> group) {
  std::string text;
  const std::size_t named = std::min(group.size(), kMostHosts);
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : ", ") + group[i]->machine.host;
  }
  if (named < group.size()) text += fmt::format(" and {} more", group.size() - named);
  return text;
}

// Similar machines have the same names of cards and different addresses, which are left out for
// several machines.
std::string sentence_of(const std::string& host, std::span<const Tried* const> group) {
  const Tried& first = *group.front();
  const auto card_text = [&](const NetworkCard& card) {
    return group.size() == 1 ? card.name + " " + card.address : card.name;
  };
  std::string by;
  std::string without;
  for (std::size_t i = 0; i < first.reach.size(); ++i) {
    const NetworkCard& card = first.machine.cards[i];
    if (first.reach[i] == Reach::kAnswers) {
      by += (by.empty() ? "" : ", ") + card_text(card);
    } else {
      without += (without.empty() ? "" : "; ") + card_text(card) + reason(first.reach[i], host);
    }
  }
  const std::string hosts = hosts_text(group);
  if (without.empty()) without = "it has no card";
  return by.empty() ? fmt::format("{} does not reach {}: {}", host, hosts, without)
                    : fmt::format("{} reaches {} by {}, but not by {}", host, hosts, by, without);
}

}  // namespace

std::string to_text(const Introduction& introduction) {
  std::string text = fmt::format("{} {}", introduction.host, introduction.port);
  for (const NetworkCard& card : introduction.cards) {
    const std::string more = fmt::format(" {}={}", card.name, card.address);
    if (text.size() + more.size() < kMostText) text += more;
  }
  return text;
}

std::optional<Introduction> parse_introduction(const std::string& text) {
  std::istringstream words(text);
  Introduction introduction;
  std::string port;
  if (!(words >> introduction.host >> port)) return std::nullopt;
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), introduction.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  for (std::string word; words >> word;) {
    const std::size_t between = word.find('=');
    if (between == std::string::npos) return std::nullopt;
    introduction.cards.push_back({word.substr(0, between), word.substr(between + 1)});
  }
  return introduction;
}

Doorbell::Doorbell() : socket_(open_socket()) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool listens = socket_ && ::bind(socket_.get(), plain, size) == 0 &&
                       ::listen(socket_.get(), SOMAXCONN) == 0 &&
                       ::getsockname(socket_.get(), plain, &size) == 0;
  if (listens) port_ = ntohs(address.sin_port);
}

std::vector<Tried> try_machines(std::vector<Introduction> others, std::span<const NetworkCard> own,
                                double seconds) {
  std::vector<Tried> tried;
  for (Introduction& other : others) {
    std::vector<Reach> reach(other.cards.size(), Reach::kUnknown);
    tried.push_back({std::move(other), std::move(reach)});
  }
  std::vector<Trial> trials;
  for (Tried& one : tried) {
    for (std::size_t i = 0; i < one.reach.size(); ++i) {
      const NetworkCard& card = one.machine.cards[i];
      if (std::ranges::find(own, card.address, &NetworkCard::address) != own.end()) {
        one.reach[i] = Reach::kOwn;
      } else {
        try_card(card, one.machine.port, one.reach[i], trials);
      }
    }
  }
  finish(std::move(trials), seconds);
  return tried;
}

std::vector<std::string> reach_sentences(const std::string& host, std::span<const Tried> others) {
  std::map<std::vector<std::pair<std::string, Reach>>, std::vector<const Tried*>> alike;
  std::vector<const std::vector<const Tried*>*> in_order;
  for (const Tried& other : others) {
    const auto answers = [](Reach reach) { return reach == Reach::kAnswers; };
    if (!other.reach.empty() && std::ranges::all_of(other.reach, answers)) continue;
    if (std::ranges::find(other.reach, Reach::kUnknown) != other.reach.end()) continue;
    std::vector<std::pair<std::string, Reach>> cards;
    for (std::size_t i = 0; i < other.reach.size(); ++i) {
      cards.emplace_back(other.machine.cards[i].name, other.reach[i]);
    }
    auto& group = alike[cards];
    if (group.empty()) in_order.push_back(&group);
    group.push_back(&other);
  }
  std::vector<std::string> sentences;
  for (const auto* group : in_order) sentences.push_back(sentence_of(host, *group));
  return sentences;
}

}  // namespace winnow::tools
