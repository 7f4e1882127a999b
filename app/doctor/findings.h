#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.h"

namespace winnow::app {

enum class FindingState { kOk, kWarning, kMissing };
std::string_view name_of(FindingState state) noexcept;  // "ok", "warning", "missing"

struct Finding {
  std::string what{};  // subject that was inspected, such as "memory"
  FindingState state = FindingState::kOk;
  std::string found{};   // finding, such as "1.2 GiB free of 4 GiB"
  std::string advice{};  // advice, in one sentence; empty: nothing to do
  bool needed = false;   // true if winnow cannot work on this machine without it
};

// Assesses a machine: one finding for each fact, in a fixed order. Pure.
std::vector<Finding> findings_of(const MachineFacts& machine);

// Whether this machine has everything that ingest, dedup and training on the CPU need.
bool works(const std::vector<Finding>& findings) noexcept;

}  // namespace winnow::app
