#pragma once

#include "common/comm/communicator.h"
#include "train/model/model.h"
#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Computes the filters of `model`'s tensors that have Init::kWhitening, from the first images of
// the first epoch as evaluation sees them. Does nothing if there are none.
// Collective  All ranks end with the same filters. No loader may prepare batches meanwhile.
// Result      Depends only on data and seed.
// threads     Number of decoding threads.
void whiten(Model& model, const Job& job, int threads, comm::Communicator& comm);

// Completes the weights with which a run starts, equally on all ranks: whitening filters, unless a
// file gave weights; then the averages of the weights. Collective.
void complete_weights(Model& model, const Job& job, const StartOptions& start, int threads,
                      comm::Communicator& comm);

}  // namespace winnow::train
