#include "app/launch/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/words.h"

namespace winnow::app {
namespace {

Binding binding_of(const std::vector<const RankPlace*>& places, std::size_t together) {
  const RankPlace& first = *places.front();
  if (places.size() == 1) {
    return first.lent > static_cast<int>(together) ? Binding::kApart : Binding::kNone;
  }
  std::size_t sum = 0;
  bool equal = true;
  for (const RankPlace* place : places) {
    sum += place->cores.size();
    equal = equal && place->cores == first.cores;
  }
  if (equal) return Binding::kNone;
  return sum == together ? Binding::kApart : Binding::kShared;
}

// "rank 0", "ranks 0-3", "ranks 0, 2, 4-5"
std::string ranks_in_words(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

std::string cards_in_words(const std::vector<std::string>& cards) {
  std::string text;
  for (std::size_t i = 0; i < cards.size();) {
    const auto count = static_cast<std::size_t>(std::ranges::count(cards, cards[i]));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cards[i]);
    i += count;
  }
  return text.empty() ? "no card" : text;
}

std::string binding_in_words(const Machine& machine) {
  switch (machine.binding) {
    case Binding::kNone:
      return "";
    case Binding::kApart:
      return fmt::format(", {}bound to {}", machine.ranks.size() == 1 ? "" : "each ",
                         machine.cores_each);
    case Binding::kShared:
      return ", bound to some in common";
  }
  return "";
}

// The flags to type for so many cores per rank.
std::string flags_for(comm::Launcher launcher, int cores) {
  if (launcher == comm::Launcher::kSlurm || launcher == comm::Launcher::kSlurmPmix) {
    return fmt::format("srun --cpus-per-task={}", cores);
  }
  if (launcher == comm::Launcher::kPmi) return "--bind-to none";
  return fmt::format("mpirun --bind-to none, or --map-by slot:PE={}", cores);
}

int idle_of(const Machine& machine) { return machine.place.lent - machine.cores; }

}  // namespace

const char* to_string(Binding binding) noexcept {
  switch (binding) {
    case Binding::kNone:
      break;
    case Binding::kApart:
      return "apart";
    case Binding::kShared:
      return "shared";
  }
  return "none";
}

std::vector<Machine> machines_of(std::span<const RankPlace> places, std::span<const int> node_of) {
  const auto count = static_cast<std::size_t>(std::ranges::max(node_of)) + 1;
  std::vector<Machine> machines(count);
  for (std::size_t node = 0; node < count; ++node) {
    std::vector<const RankPlace*> here;
    std::set<int> together;
    Machine& machine = machines[node];
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      if (node_of[rank] != static_cast<int>(node)) continue;
      const RankPlace& place = places[rank];
      const int each = static_cast<int>(place.cores.size());
      machine.cores_each = here.empty() ? each : std::min(machine.cores_each, each);
      machine.ranks.push_back(static_cast<int>(rank));
      here.push_back(&place);
      together.insert(place.cores.begin(), place.cores.end());
    }
    machine.place = *here.front();
    machine.cores = static_cast<int>(together.size());
    machine.binding = binding_of(here, together.size());
  }
  return machines;
}

std::string in_words(const Machine& machine) {
  const RankPlace& place = machine.place;
  return fmt::format("{}: {} on {} of {} {}{}; {} of {} memory free; {}; {}", place.host,
                     ranks_in_words(machine.ranks), machine.cores, place.online,
                     place.online == 1 ? "core" : "cores", binding_in_words(machine),
                     in_bytes(place.memory_left), in_bytes(place.memory_total),
                     cards_in_words(place.cards), place.build);
}

std::string idle_warning(std::span<const Machine> machines, comm::Launcher launcher, int threads) {
  const Machine* worst = nullptr;
  std::size_t others = 0;
  for (const Machine& machine : machines) {
    const bool asked = threads > 0 && threads <= machine.cores_each;
    if (asked || 2 * machine.cores >= machine.place.lent) continue;
    if (worst != nullptr) ++others;
    if (worst == nullptr || idle_of(machine) > idle_of(*worst)) worst = &machine;
  }
  if (worst == nullptr || launcher == comm::Launcher::kNone) return "";
  const int ranks = static_cast<int>(worst->ranks.size());
  return fmt::format(
      "{} of {} cores of {}{} stay idle, since {} bound to {}; to use all, type {}",
      idle_of(*worst), worst->place.lent, worst->place.host,
      others == 0 ? ""
                  : fmt::format(", and most of {} more machine{},", others, others == 1 ? "" : "s"),
      ranks == 1 ? "its rank is" : fmt::format("its {} ranks are", ranks),
      worst->cores == 1 ? "one" : std::to_string(worst->cores),
      flags_for(launcher, worst->place.lent / ranks));
}

}  // namespace winnow::app
