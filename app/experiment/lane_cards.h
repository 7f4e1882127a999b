#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// On which NVIDIA card the runs of a lane compute. Pure functions.
namespace winnow::app {

// The cards that a process sees, as CUDA_VISIBLE_DEVICES names them. `set`: its value, which ends
// before the first number below 0, as CUDA reads it; nothing: it is not set, and all `count` are
// seen.
std::vector<std::string> visible_cards(const std::optional<std::string>& set, std::size_t count);

// CUDA_VISIBLE_DEVICES for the runs of a lane: lanes take the cards in turn. Nothing: it stays as
// it is, for the words of winnow train name no backend of cards, or there are no two.
std::optional<std::string> card_of_lane(const std::vector<std::string>& cards, std::size_t lane,
                                        const std::vector<std::string>& words);

}  // namespace winnow::app
