#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Assigns NVIDIA cards to the lanes of an experiment. Pure functions.
namespace winnow::app {

// The cards that a process sees, in the words of CUDA_VISIBLE_DEVICES.
// set     value of the variable; it ends before the first number below 0, as for CUDA; nullopt: not
//         set
// count   number of cards, all of which are seen if `set` is nullopt
std::vector<std::string> visible_cards(const std::optional<std::string>& set, std::size_t count);

// CUDA_VISIBLE_DEVICES for the runs of a lane: lanes take cards in turn. Nullopt: unchanged,
// because the words of winnow train name no CUDA backend or there are fewer than two cards.
std::optional<std::string> card_of_lane(const std::vector<std::string>& cards, std::size_t lane,
                                        const std::vector<std::string>& words);

}  // namespace winnow::app
