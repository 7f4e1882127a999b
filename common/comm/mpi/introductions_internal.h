#pragma once

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

// Connects the ranks of a job, by a barrier, after MPI_Init. While that takes longer than
// introductions.after_s, texts of others are fetched from the launcher: of up to 16 of the 512
// ranks behind this one, around the end. Where none gave one, again after as long, five times in
// all.
//
// Throws  SystemError where MPI does; that a launcher keeps no texts is no error
void connect_ranks(const Introductions& introductions);

}  // namespace winnow::comm
