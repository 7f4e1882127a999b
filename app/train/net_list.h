#pragma once

#include <string>

#include "train/nets/local_updates.h"
#include "train/nets/net_file.h"

namespace winnow::app {

// A table: the side of a net's usual images, its parameters, and the multiply-adds of one image,
// with 1,000 classes (10, where images are below 64 pixels).
std::string net_list_head();
std::string net_row(const train::NetChoice& net);

// Where the net can be cut into stages, for one image of that size, and the heads of the stages
// that were asked for. UsageError: no such stages.
std::string net_borders(const train::NetChoice& net, const train::LocalOptions& local);

// The table of the nets of train/nets.
std::string net_list();

}  // namespace winnow::app
