#include "app/train/net_list.h"

#include <fmt/core.h>

#include "train/rewrites/rewrites.h"

namespace winnow::app {
namespace {

// Options for one image. `side_px` 0: the net's usual size.
train::NetOptions options_of(const train::NetChoice& net, int side_px) {
  train::NetOptions options;
  const int usual_px = train::default_side_px(net);
  options.height_px = options.width_px = side_px > 0 ? side_px : usual_px;
  options.classes = usual_px < 64 ? 10 : 1000;
  options.mean = {0.5F, 0.5F, 0.5F};
  options.stddev = {0.25F, 0.25F, 0.25F};
  return options;
}

// "25.56 M"
std::string short_count(double number) {
  if (number >= 1e9) return fmt::format("{:.2f} G", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.2f} M", number / 1e6);
  return fmt::format("{:.2f} k", number / 1e3);
}

}  // namespace

std::string net_row(const train::NetChoice& net, int side_px) {
  const train::NetOptions options = options_of(net, side_px);
  const train::Counts counts = train::count(train::make_net(net, options));
  return fmt::format("{:20}{:>5} px{:>12}{:>15}", net.name, options.width_px,
                     short_count(static_cast<double>(counts.parameters)),
                     short_count(counts.flops / 2));
}

std::string net_borders(const train::NetChoice& net, int side_px, const train::LocalOptions& local,
                        const train::LossOptions& loss) {
  check_local(local, loss);
  const train::NetOptions options = options_of(net, side_px);
  const train::Graph forward = train::fuse(train::make_net(net, options));
  std::string text = train::borders_in_words(forward);
  if (local.updates.empty()) return text;
  const train::LocalSetup chosen = train::choose_stages(local, forward, options);
  return text + "\n" + train::heads_in_words(chosen, train::with_heads(chosen, forward, options));
}

std::string net_list_head() {
  return fmt::format("{:20}{:>8}{:>12}{:>15}", "net", "images", "parameters", "multiply-adds");
}

std::string net_list() {
  std::string text = net_list_head();
  for (const train::Net& net : train::nets()) {
    text += "\n" + net_row({.name = std::string(net.name)});
  }
  return text;
}

}  // namespace winnow::app
