#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Assigns NVIDIA GPUs to the lanes of an experiment (runs that are trained at the same time). Pure
// functions.
namespace winnow::app {

// The GPUs that a process sees, as written in CUDA_VISIBLE_DEVICES.
// set    value of the variable, which ends before the first negative number, as for CUDA; nullopt:
//        not set, so all GPUs are visible
// count  number of GPUs of the machine
std::vector<std::string> visible_cards(const std::optional<std::string>& set, std::size_t count);

// CUDA_VISIBLE_DEVICES for the runs of a lane: lanes take GPUs in turn. Nullopt: leave it
// unchanged, because the options of winnow train name no CUDA backend, or there are fewer than two
// GPUs.
std::optional<std::string> card_of_lane(const std::vector<std::string>& cards, std::size_t lane,
                                        const std::vector<std::string>& words);

}  // namespace winnow::app
