#include "tools/checkpoint_flags.h"

#include <CLI/CLI.hpp>

namespace winnow::tools {

void add_checkpoint_flags(CLI::App& app, train::CheckpointChoice& choice) {
  app.add_option("--checkpoint", choice.name,
                 "Which of the run's checkpoints: best, of winnow train --keep-best, or step-N "
                 "(default: the newest that is whole)");
  app.add_flag("--ema", choice.ema,
               "Its moving averages (winnow train --ema-decay) in place of the weights; of best "
               "they are taken unasked where val_ema chose it");
}

}  // namespace winnow::tools
