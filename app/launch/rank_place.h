#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::app {

// Where a rank runs: cores, memory and GPUs of its machine, as the rank sees them.
struct RankPlace {
  std::string host{};
  std::vector<int> cores{};  // cores that the rank may run on, ascending
  int online = 0;            // number of cores of the machine
  // Number of cores that the launcher could give to ranks on this machine; 0: unknown.
  int lent = 0;
  std::uint64_t memory_left = 0;     // free memory in bytes, by the machine and the control group
  std::uint64_t memory_total = 0;    // memory of the machine in bytes
  std::vector<std::string> cards{};  // models of the GPUs that the driver lists
  std::string build{};
};

// Finds where this process runs. `build`: description of the program.
RankPlace look_at_rank(std::string build);

// Serialises a place for other ranks, and parses it. Parsing throws FormatError.
std::string to_text(const RankPlace& place);
RankPlace rank_place_of(const std::string& text);

}  // namespace winnow::app
