#pragma once

#include <string>

#include "train/nets/local_updates.h"
#include "train/nets/net_file.h"

namespace winnow::app {

// The head of a table of nets, and a row of it: side of images, parameters, and multiply-adds per
// image. Counted with 1,000 classes, or 10 if the net's default images are below 64 pixels.
//
// side_px  side of the square images in pixels; 0: the net's default
// Throws   as make_net(), if the net does not take images of that size
std::string net_list_head();
std::string net_row(const train::NetChoice& net, int side_px = 0);

// A text on where the net can be cut into stages (for training stage by stage), and on the
// classifier heads that those stages get. For images as in net_row(). `loss`: is checked to be one
// that stages can learn by. Throws UsageError: these stages are not possible.
std::string net_borders(const train::NetChoice& net, int side_px, const train::LocalOptions& local,
                        const train::LossOptions& loss);

// The table of all nets of train/nets.
std::string net_list();

}  // namespace winnow::app
