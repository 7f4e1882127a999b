#include "tools/checkpoint_flags.h"

#include "tools/numbers.h"
#include "train/run/setup.h"

namespace winnow::tools {

void add_checkpoint_flags(Verb verb, train::CheckpointChoice& choice) {
  verb.add_option("--checkpoint", choice.name,
                  "Which of the run's checkpoints: best, of winnow train --keep-best, or step-N "
                  "(default: the newest that is whole)");
  verb.add_flag("--ema", choice.ema,
                "Its moving averages (winnow train --ema-decay) in place of the weights; of best "
                "they are taken unasked where val_ema chose it");
}

void add_file_net_flags(Verb verb, const std::string& what, train::FileNetOptions& file) {
  const std::string of = "For " + what + ": ";
  verb.add_option("--net", file.net.name,
                  of + "the net that the weights are of, as winnow train takes it");
  verb.add_option("--image-size", file.image_side_px,
                  of + "side in pixels; 0: as winnow train would choose")
      .check(whole_in(0, train::kMostSidePx))
      .show_default();
  verb.add_option("--eval-resize", file.eval_resize_px,
                  of + "pixels of the shorter side before the centre is cut; 0: no margin")
      .check(whole_in(0, train::kMostResizePx));
}

}  // namespace winnow::tools
