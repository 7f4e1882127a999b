#pragma once

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

// Connects the ranks of a job by a barrier, after MPI_Init. If that takes longer than
// introductions.after_s, fetches texts of other ranks from the launcher: up to 16 texts from the
// 512 ranks after this one, wrapping around. If no rank has a text, tries again after the same
// time, five times in all.
//
// Throws  SystemError: MPI. A launcher without texts is no error.
void connect_ranks(const Introductions& introductions);

}  // namespace winnow::comm
