#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Activity of a machine's processors since boot, in ticks of the system's clock.
struct ProcessorTicks {
  std::uint64_t busy = 0;  // ticks not idle, including time taken by a hypervisor
  std::uint64_t all = 0;
};
// Parses the text of /proc/stat; nullopt if it is malformed.
std::optional<ProcessorTicks> parse_processor_ticks(std::string_view stat);

// Measures how busy this machine's processors are, from its construction on.
class MachineLoad {
 public:
  MachineLoad();

  // Mean number of cores that all processes and a hypervisor used since construction; 0 if unknown.
  double busy_cores() const;
  double own_cores() const;  // the same of this process
  double seconds() const;    // elapsed since then

 private:
  std::optional<ProcessorTicks> ticks_;
  double own_seconds_ = 0;
  double begin_seconds_ = 0;
};

}  // namespace winnow
