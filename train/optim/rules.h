#pragma once

#include "train/optim/adamw.h"
#include "train/optim/lamb.h"
#include "train/optim/larc.h"
#include "train/optim/lars.h"
#include "train/optim/lars_paper.h"
#include "train/optim/lion.h"
#include "train/optim/rmsprop.h"
#include "train/optim/rmsprop_tf.h"
#include "train/optim/sgd.h"

namespace winnow::train {

template <class... Rule>
struct RuleList {};

// All optimisers, in the order of help texts. The tables of host and device are generated from it.
using Rules = RuleList<Sgd, Lars, AdamW, LarsPaper, Larc, Lamb, RmsProp, RmsPropTf, Lion>;

}  // namespace winnow::train
