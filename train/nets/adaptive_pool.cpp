#include "train/nets/adaptive_pool.h"

#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

struct Windows {
  int kernel = 1;
  int stride = 1;
};

// Window i of `side` covers the range [floor(i * from / side), ceil((i + 1) * from / side)).
Windows windows_of(const std::string& name, std::int64_t from, int side) {
  if (from < side) return {};
  if (from % side == 0) return {static_cast<int>(from / side), static_cast<int>(from / side)};
  if (from == side + 1) return {2, 1};
  throw ShapeError("avg_pool '" + name + "': " + std::to_string(from) +
                   " pixels cannot be divided into " + std::to_string(side) +
                   " equal windows; choose an --image-size for which the side of this map " +
                   "is a multiple of " + std::to_string(side));
}

}  // namespace

ValueId adaptive_average_pool(NetBuilder& net, const std::string& name, ValueId x, int side) {
  const Windows rows = windows_of(name, net.shape(x)[2], side);
  const Windows columns = windows_of(name, net.shape(x)[3], side);
  if (rows.stride != columns.stride) {
    throw ShapeError("avg_pool '" + name + "': windows of " + std::to_string(rows.kernel) + " x " +
                     std::to_string(columns.kernel) +
                     " pixels would need two strides; choose square images");
  }
  if (rows.kernel == 1 && columns.kernel == 1) return x;
  PoolAttributes attributes;
  attributes.kernel_h = rows.kernel;
  attributes.kernel_w = columns.kernel;
  attributes.stride = rows.stride;
  return net.add_layer(kAvgPool, name, {x}, attributes);
}

}  // namespace winnow::train
