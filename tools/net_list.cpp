#include "tools/net_list.h"

#include <fmt/core.h>

#include "train/nets/nets.h"

namespace winnow::tools {
namespace {

// "25.56 M"
std::string short_count(double number) {
  if (number >= 1e9) return fmt::format("{:.2f} G", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.2f} M", number / 1e6);
  return fmt::format("{:.2f} k", number / 1e3);
}

train::Counts counts_of(const train::Net& net) {
  train::NetOptions options;
  options.height_px = options.width_px = net.default_side_px;
  options.classes = net.default_side_px < 64 ? 10 : 1000;
  options.mean = {0.5F, 0.5F, 0.5F};
  options.stddev = {0.25F, 0.25F, 0.25F};
  return train::count(net.make(options));
}

}  // namespace

std::string net_list() {
  std::string text =
      fmt::format("{:20}{:>8}{:>12}{:>15}", "net", "images", "parameters", "multiply-adds");
  for (const train::Net& net : train::nets()) {
    const train::Counts counts = counts_of(net);
    text += fmt::format("\n{:20}{:>5} px{:>12}{:>15}", net.name, net.default_side_px,
                        short_count(static_cast<double>(counts.parameters)),
                        short_count(counts.flops / 2));
  }
  return text;
}

}  // namespace winnow::tools
