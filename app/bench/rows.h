#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/session.h"

// Shared by the benchmarks of `winnow bench`.
namespace winnow::app {

// One result of a benchmark: the achieved rate and the attainable one, in one unit.
struct BenchRow {
  std::string name;
  double achieved;
  double attainable;
  std::string unit;
};

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Throws StoppedError after a request to stop.
void end_if_stopped(const StopRequested& stop);

// Prints a sentence for each result and, if asked for, the JSON object on stdout. Rank 0 only.
void tell_rows(bool as_json, const Session& session, const std::vector<BenchRow>& rows);

// Prints the JSON object of the results alone.
void print_rows(const Session& session, const std::vector<BenchRow>& rows);

}  // namespace winnow::app
