#pragma once

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

// The interface of a plugin: a library with the sources that need MPI, compiled for one MPI
// library. A program of the same build opens it. The functions are those of mpi.h.
struct MpiPlugin {
  std::string (*library)();
  std::unique_ptr<Communicator> (*make)(LastWords last_words, const Introductions& introductions);
};

inline constexpr const char* kMpiPluginSymbol = "winnow_mpi_plugin";  // an MpiPlugin

}  // namespace winnow::comm
