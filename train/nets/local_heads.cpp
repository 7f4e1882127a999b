#include "train/nets/local_heads.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/row_called.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

bool is_map(const NetBuilder& net, ValueId x) { return net.shape(x).size() == 4; }

// Windows of one size that cover an axis of `from` positions in `to` steps. They equal those of
// PyTorch's adaptive pool if its windows are all equal.
struct PooledAxis {
  int from = 1;
  int to = 1;
  int stride() const { return to > 1 ? from / to : from; }
};

PoolAttributes windows_of(PooledAxis rows, PooledAxis columns) {
  PoolAttributes attributes;
  // An axis that becomes one position accepts any stride; otherwise the smaller one covers both
  // axes.
  attributes.stride = rows.to == 1      ? columns.stride()
                      : columns.to == 1 ? rows.stride()
                                        : std::min(rows.stride(), columns.stride());
  attributes.kernel_h = rows.from - (rows.to - 1) * attributes.stride;
  attributes.kernel_w = columns.from - (columns.to - 1) * attributes.stride;
  return attributes;
}

// Average pooling to H' x W' positions.
ValueId pool_evenly(NetBuilder& net, const std::string& name, ValueId x, PooledAxis rows,
                    PooledAxis columns) {
  if (rows.from == rows.to && columns.from == columns.to) return x;
  return net.add_layer(kAvgPool, name, {x}, windows_of(rows, columns));
}

// Pools each side to a quarter, rounded up or down: whichever has the smaller windows, which
// overlap less; up if both are equal.
ValueId pool_to_quarter(NetBuilder& net, const std::string& name, ValueId x) {
  const auto quarters = [&](std::size_t i) {
    const int from = static_cast<int>(net.shape(x)[i]);
    return std::array{PooledAxis{from, (from + 3) / 4}, PooledAxis{from, std::max(1, from / 4)}};
  };
  const auto side_and_area = [](PooledAxis rows, PooledAxis columns) {
    const PoolAttributes windows = windows_of(rows, columns);
    return std::pair(std::max(windows.kernel_h, windows.kernel_w),
                     windows.kernel_h * windows.kernel_w);
  };
  std::pair best(quarters(2)[0], quarters(3)[0]);
  for (const PooledAxis rows : quarters(2)) {
    for (const PooledAxis columns : quarters(3)) {
      if (side_and_area(rows, columns) < side_and_area(best.first, best.second)) {
        best = {rows, columns};
      }
    }
  }
  return pool_evenly(net, name, x, best.first, best.second);
}

ValueId pool_to(NetBuilder& net, const std::string& name, ValueId x, int side) {
  const auto axis = [&](std::size_t i) {
    const int from = static_cast<int>(net.shape(x)[i]);
    return PooledAxis{from, std::min(from, side)};
  };
  return pool_evenly(net, name, x, axis(2), axis(3));
}

ValueId norm_relu(NetBuilder& net, const std::string& head, int layer, ValueId x) {
  const std::string number = std::to_string(layer);
  return net.relu(head + ".relu" + number, net.batch_norm(head + ".bn" + number, x));
}

constexpr int kHeadLayers = 3;  // both convolutions and linear layers

// DGL's mlp-sr. For vectors, the 1x1 convolutions are linear layers.
ValueId mlp_of_width(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes,
                     std::int64_t most) {
  const std::int64_t channels = net.channels(x);
  if (is_map(net, x)) x = pool_to_quarter(net, name + ".pool1", x);
  for (int i = 1; i <= kHeadLayers; ++i) {
    const std::string layer = name + ".conv" + std::to_string(i);
    x = is_map(net, x) ? net.conv(layer, x, {.filters = channels, .init = Init::kUniformFanIn})
                       : net.linear(layer, x, channels, {.bias = false});
    x = norm_relu(net, name, i, x);
  }
  if (is_map(net, x)) x = pool_to(net, name + ".pool2", x, 2);
  const std::int64_t width = std::min(most, 4 * channels);
  for (int i = 1; i <= kHeadLayers; ++i) {
    x = net.linear(name + ".fc" + std::to_string(i), x, width);
    x = norm_relu(net, name, kHeadLayers + i, x);
  }
  return net.linear(name + ".fc", x, classes);
}

ValueId mlp_sr(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes) {
  return mlp_of_width(net, name, x, classes, kMostHeadWidth);
}

ValueId mlp_sr_full(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes) {
  return mlp_of_width(net, name, x, classes, std::numeric_limits<std::int64_t>::max());
}

ValueId linear_head(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes) {
  if (is_map(net, x)) x = pool_to(net, name + ".pool", x, 1);
  return net.linear(name + ".fc", x, classes);
}

constexpr auto kHeads = std::to_array<LocalHead>({
    {"mlp-sr", "three 1x1 convolutions and three linear layers of at most 1,024 numbers", mlp_sr},
    {"linear", "average pool and a linear layer", linear_head},
    {"mlp-sr-full", "mlp-sr with linear layers of four times the channels, as published",
     mlp_sr_full},
});

}  // namespace

std::span<const LocalHead> local_heads() { return kHeads; }

const LocalHead& find_local_head(std::string_view name) {
  return row_called("unknown local head", name, kHeads);
}

std::string local_head_name(std::size_t stage) {
  return std::string(kLocalPrefix) + std::to_string(stage);
}

bool is_named_as_local_head(std::string_view name) {
  if (!name.starts_with(kLocalPrefix)) return false;
  name.remove_prefix(kLocalPrefix.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && digits < name.size() && name[digits] == '.';
}

bool has_local_heads(const Graph& forward) {
  return std::ranges::any_of(forward.outputs, is_local);
}

Graph with_local_heads(Graph forward, const std::vector<ValueId>& ends, const LocalHead& head,
                       const NetOptions& options) {
  if (!ends.empty() && !find_loss(options.loss.name).reads_labels()) {
    throw UsageError("local heads need labels, but --loss " + options.loss.name + " uses none");
  }
  for (const Value& value : forward.values) {
    if (ends.empty() || !is_named_as_local_head(value.name)) continue;
    throw UsageError("the net has " + value.name +
                     ", a name that --local reserves for its heads; rename that block of the net, "
                     "or leave out --local");
  }
  NetBuilder net(std::move(forward), options.loss);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string name = local_head_name(i + 1);
    net.add_local_loss(name, head.make(net, name, ends[i], options.classes), ends[i]);
  }
  return std::move(net).take();
}

}  // namespace winnow::train
