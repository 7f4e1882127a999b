#pragma once

#include <string>

#include "train/nets/local_updates.h"
#include "train/nets/net_file.h"

namespace winnow::app {

// A table: the side of images, the net's parameters, and the multiply-adds of one image, with 1,000
// classes (10, where the net's usual images are below 64 pixels).
//
// side_px   of images, square; 0: of the net's usual ones
// Throws    as make_net(), where the net is for no such images
std::string net_list_head();
std::string net_row(const train::NetChoice& net, int side_px = 0);

// Where the net can be cut into stages, for one image as net_row() takes it, and the heads of the
// stages that were asked for. `loss` is only judged: whether stages can learn by it.
// UsageError: no such stages.
std::string net_borders(const train::NetChoice& net, int side_px, const train::LocalOptions& local,
                        const train::LossOptions& loss);

// The table of the nets of train/nets.
std::string net_list();

}  // namespace winnow::app
