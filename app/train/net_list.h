#pragma once

#include <string>

#include "train/nets/local_updates.h"
#include "train/nets/net_file.h"

namespace winnow::app {

// A table: side of images, parameters of the net, and multiply-adds per image. With 1,000 classes;
// 10 if the net's usual images are below 64 pixels.
//
// side_px   of images, square; 0: the net's usual size
// Throws    as make_net(), if the net does not take such images
std::string net_list_head();
std::string net_row(const train::NetChoice& net, int side_px = 0);

// Where the net can be cut into stages, for one image as in net_row(), and the heads of the stages
// that were asked for. `loss`: checked whether stages can learn by it. Throws UsageError: no such
// stages.
std::string net_borders(const train::NetChoice& net, int side_px, const train::LocalOptions& local,
                        const train::LossOptions& loss);

// The table of the nets of train/nets.
std::string net_list();

}  // namespace winnow::app
