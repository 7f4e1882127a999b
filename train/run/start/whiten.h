#pragma once

#include "common/comm/communicator.h"
#include "train/model/model.h"
#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Gives the tensors of `model` that begin with Init::kWhitening their filters, of the first images
// of the first epoch as evaluation would see them. Does nothing where there is no such tensor.
// Collective: all ranks have the same filters afterwards; no loader prepares batches meanwhile. The
// filters depend on data and seed alone.
// `threads` decode.
void whiten(Model& model, const Job& job, int threads, comm::Communicator& comm);

// Completes the weights that a run begins with, on all ranks alike: whitening filters where no file
// gave weights, and last the averages of them. Collective.
void complete_weights(Model& model, const Job& job, const StartOptions& start, int threads,
                      comm::Communicator& comm);

}  // namespace winnow::train
