#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::app {

// Where a rank runs, as it sees its machine.
struct RankPlace {
  std::string host{};
  std::vector<int> cores{};          // cores that it may run on, ascending
  int online = 0;                    // cores of the machine
  int lent = 0;                      // cores that its launcher could give to ranks here; 0: unknown
  std::uint64_t memory_left = 0;     // free bytes, by the machine and the control group
  std::uint64_t memory_total = 0;    // bytes of the machine
  std::vector<std::string> cards{};  // models of the cards that the driver lists
  std::string build{};
};

// The place of this process. `build`: description of the program.
RankPlace look_at_rank(std::string build);

// The text that ranks exchange, and its reader. Throws FormatError.
std::string to_text(const RankPlace& place);
RankPlace rank_place_of(const std::string& text);

}  // namespace winnow::app
