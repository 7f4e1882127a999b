#pragma once

#include <string>

#include "tools/flags/flags.h"
#include "train/run/stored_run.h"
#include "train/run/stored_weights.h"

namespace winnow::tools {

// --checkpoint and --ema of verbs that read a run. `choice` must outlive `verb`.
void add_checkpoint_flags(Verb verb, train::CheckpointChoice& choice);

// --net, --image-size and --eval-resize of verbs that read weights of a file, too, which their
// helps call `what`. `file` must outlive `verb`.
void add_file_net_flags(Verb verb, const std::string& what, train::FileNetOptions& file);

}  // namespace winnow::tools
