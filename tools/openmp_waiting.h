#pragma once

namespace winnow::tools {

// Decides how idle OpenMP threads wait, for the whole process: they spin briefly, then sleep.
//
// In          argv: the words of this process.
// Out         OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT are in the environment of train and eval.
// OpenMP's library reads
//             them when it is loaded, so the program executes itself once more: same words, same
//             process id.
// Left alone  Other verbs. OMP_WAIT_POLICY or GOMP_SPINCOUNT set by the user. A program that cannot
// execute itself. Call it     first in main: before MPI, threads, open files, and before a
// configuration is read from a pipe.
void decide_openmp_waiting(char** argv);

}  // namespace winnow::tools
