#pragma once

#include <string>

#include "train/run/stored_run.h"
#include "train/run/stored_weights.h"

namespace CLI {
class App;
}

namespace winnow::tools {

// --checkpoint and --ema of verbs that read a run. `choice` must outlive `app`.
void add_checkpoint_flags(CLI::App& app, train::CheckpointChoice& choice);

// --net, --image-size and --eval-resize of verbs that read weights of a file, too, which their
// helps call `what`. `file` must outlive `app`.
void add_file_net_flags(CLI::App& app, const std::string& what, train::FileNetOptions& file);

}  // namespace winnow::tools
