#pragma once

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

// The interface of a plugin: a library that contains the sources for one MPI library, opened by a
// program of the same build. The functions are those of mpi.h.
struct MpiPlugin {
  std::string (*library)();
  std::unique_ptr<Communicator> (*make)(LastWords last_words, const Introductions& introductions);
};

inline constexpr const char* kMpiPluginSymbol = "winnow_mpi_plugin";  // an MpiPlugin

}  // namespace winnow::comm
