// A library to preload (LD_PRELOAD) into a program whose libraries take longer to load than it
// takes to run. It loads them once and then serves calls (serve.h) on the socket that WINNOW_SERVE
// numbers. Each call is a process that begins with the program's main().
#include <dlfcn.h>

#include <cstdlib>

#include "tests/fuzz/serve.h"

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main main_of_program = nullptr;

int serving_main(int /*argc*/, char** /*argv*/, char** environment) {
  const int socket = std::atoi(std::getenv("WINNOW_SERVE"));
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("WINNOW_SERVE");
  auto words = winnow::test::serve(socket);
  if (!words) ::_exit(0);
  std::vector<char*> argv;
  for (std::string& word : *words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return main_of_program(static_cast<int>(words->size()), argv.data(), environment);
}

}  // namespace

// Replaces glibc's function, which calls main() once all libraries are ready.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*loader_fini)(), void* stack) {
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  main_of_program = main;
  const bool serves = std::getenv("WINNOW_SERVE") != nullptr;
  return start(serves ? serving_main : main, argc, argv, init, fini, loader_fini, stack);
}
