#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.h"

namespace winnow::app {

enum class FindingState { kOk, kWarning, kMissing };
std::string_view name_of(FindingState state) noexcept;  // "ok", "warning", "missing"

struct Finding {
  std::string what{};  // "memory"
  FindingState state = FindingState::kOk;
  std::string found{};   // "1.2 GiB free of 4 GiB"
  std::string advice{};  // one sentence; empty if all is well
  bool needed = false;   // nothing here works without it
};

// One finding for each fact, in a fixed order. Pure.
std::vector<Finding> findings_of(const MachineFacts& machine);

// Whether nothing is missing that ingest, dedup and training on the CPU need.
bool works(const std::vector<Finding>& findings) noexcept;

}  // namespace winnow::app
