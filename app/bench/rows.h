#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/session.h"

// What the benchmarks of `winnow bench` share.
namespace winnow::app {

// What was reached beside what could have been, in one unit.
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

// Throws StoppedError once a stop was asked for.
void end_if_stopped(const StopRequested& stop);

// A sentence for each row and, if asked for, the one object on stdout; rank 0 only.
void tell_rows(bool as_json, const Session& session, const std::vector<BenchRow>& rows);

// That object alone.
void print_rows(const Session& session, const std::vector<BenchRow>& rows);

}  // namespace winnow::app
