#include "common/machine_load.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace winnow {
namespace {

std::optional<ProcessorsIdle> idle_now() {
  std::ostringstream text;
  text << std::ifstream("/proc/stat").rdbuf();
  return parse_processors_idle(text.str());
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<ProcessorsIdle> parse_processors_idle(std::string_view stat) {
  std::istringstream lines{std::string(stat)};
  ProcessorsIdle found;
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t user = 0;
    std::uint64_t nice = 0;
    std::uint64_t system = 0;
    std::uint64_t idle = 0;
    std::uint64_t waiting = 0;  // for disks
    if (!(words >> name) || !name.starts_with("cpu") || name == "cpu") continue;
    if (!(words >> user >> nice >> system >> idle >> waiting)) return std::nullopt;
    ++found.processors;
    found.ticks += idle + waiting;
  }
  return found.processors > 0 ? std::optional(found) : std::nullopt;
}

double process_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

MachineLoad::MachineLoad()
    : idle_(idle_now()), own_seconds_(process_seconds()), begin_seconds_(now()) {}

double MachineLoad::seconds() const { return now() - begin_seconds_; }

double MachineLoad::own_cores() const {
  const double passed = seconds();
  return passed > 0 ? (process_seconds() - own_seconds_) / passed : 0;
}

double MachineLoad::busy_cores() const {
  const auto idle = idle_now();
  const double passed = seconds();
  if (!idle || !idle_ || passed <= 0) return 0;
  const double ticks = static_cast<double>(idle->ticks) - static_cast<double>(idle_->ticks);
  return std::max(0.0,
                  idle->processors - ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) / passed);
}

}  // namespace winnow
