#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Activity of the processors since boot, in system ticks.
struct ProcessorTicks {
  std::uint64_t busy = 0;  // all work, including time taken by a hypervisor
  std::uint64_t all = 0;
};
// Parses text in the form of /proc/stat; nullopt if it is malformed.
std::optional<ProcessorTicks> parse_processor_ticks(std::string_view stat);

// Measures how much the processors of this machine work for others, from its construction on.
class MachineLoad {
 public:
  MachineLoad();

  // Mean number of cores that other processes and a hypervisor have used since then; 0 if unknown.
  double others_cores() const;
  double own_cores() const;  // used by this process since then
  double seconds() const;    // elapsed since then

 private:
  std::optional<ProcessorTicks> ticks_;
  double own_seconds_ = 0;
  double begin_seconds_ = 0;
};

}  // namespace winnow
