#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::app {

// Where a rank runs, as it sees its machine.
struct RankPlace {
  std::string host{};
  std::vector<int> cores{};  // that it may run on, ascending
  int online = 0;            // cores of the machine
  int lent = 0;              // cores that its launcher could give to ranks here; 0: nobody says
  std::uint64_t memory_left = 0;     // bytes, by the machine and the control group
  std::uint64_t memory_total = 0;    // of the machine
  std::vector<std::string> cards{};  // models that the driver lists
  std::string build{};
};

// This process's. `build`: what is said of the program.
RankPlace look_at_rank(std::string build);

// As one rank tells another. Throws FormatError.
std::string to_text(const RankPlace& place);
RankPlace rank_place_of(const std::string& text);

}  // namespace winnow::app
