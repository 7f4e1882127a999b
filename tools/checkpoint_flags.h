#pragma once

#include "train/run/stored_run.h"

namespace CLI {
class App;
}

namespace winnow::tools {

// --checkpoint and --ema of verbs that read a run. `choice` must outlive `app`.
void add_checkpoint_flags(CLI::App& app, train::CheckpointChoice& choice);

}  // namespace winnow::tools
