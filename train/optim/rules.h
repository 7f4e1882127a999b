#pragma once

#include "train/optim/adamw.h"
#include "train/optim/lars.h"
#include "train/optim/sgd.h"

namespace winnow::train {

template <class... Rule>
struct RuleList {};

// Every optimiser, in the order of help texts. The tables of host and card are made from it.
using Rules = RuleList<Sgd, Lars, AdamW>;

}  // namespace winnow::train
