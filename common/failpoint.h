#pragma once

#include <filesystem>
#include <string_view>

// Fault injection for tests: named points before and after each act with a lasting effect (write,
// sync, rename, link, commit, making or removing a directory), messages between ranks, and loading
// a sample. A test can kill the process at a point, or let the disk be full there.
//
// Without the environment variable WINNOW_FAILPOINTS, a point costs one untaken branch. The
// variable has directives, separated by commas:
//
//   trace=PATH          append a line "NAME<tab>FILE" to PATH at each passed point, immediately
//   kill=NAME:FILE:K    SIGKILL when point NAME of file FILE is passed for the K-th time (from 1)
//   int=, term=, usr1=  the same with SIGINT, SIGTERM, SIGUSR1
//   hang=               the thread never passes it
//   enospc=, eio=       the act fails like on a full or broken disk; NAME ends in ".before"
//
// NAME is an act with ".before" or ".after":
//
//   file.create .write .sync .rename .remove  a file, under its final name even while it is
//                                             temporary
//   dir.create .sync .rename .remove          a directory; .remove with its content
//   link.create .rename                       a symbolic link
//   lmdb.create .commit .sync                 a shard
//   fs.type                                   whether a file system is on a network; if .before
//                                             fails, it counts as one
//   load.record .decode                       a loaded sample; FILE is its id
//   mpi.send .receive .collective             FILE is the peer, "rank-3", or "all" for a collective
//   node.reduce_scatter .all_gather           a piece for the peer with that number on this
//                                             machine, or for all; only .before
//
// - FILE is the file's name, the end of its path in whole components
//   ("step-20.part/manifest.json"), or "*".
// - Messages: ".before" of a receive is when it is posted, ".after" when the message has arrived;
//   ".after" of a send is when MPI has accepted it.
// - A variable that cannot be parsed causes a UsageError at the first point.
// - To affect a single rank, set the variable for that rank only:
//
//   mpirun -np 3 winnow train ... : -np 1 -x WINNOW_FAILPOINTS=... winnow train ...
namespace winnow {

namespace failpoint {
extern const bool enabled;  // whether the environment variable WINNOW_FAILPOINTS is set
bool pass(std::string_view act, std::string_view phase, const std::filesystem::path& file);
void pass_peer(std::string_view act, std::string_view phase, int peer);
}  // namespace failpoint

// Passes a named point. Returns true if the act shall be treated as failed; errno is then set.
// Thread-safe, like all functions here.
[[nodiscard]] inline bool fault_before(std::string_view act, const std::filesystem::path& file) {
  return failpoint::enabled && failpoint::pass(act, ".before", file);
}

inline void fault_after(std::string_view act, const std::filesystem::path& file) {
  if (failpoint::enabled) failpoint::pass(act, ".after", file);
}

// Passes a point of a message between ranks. These points can trace and kill, but not fail. `peer`
// below 0: all ranks.
inline void before_message(std::string_view act, int peer) {
  if (failpoint::enabled) failpoint::pass_peer(act, ".before", peer);
}

inline void after_message(std::string_view act, int peer) {
  if (failpoint::enabled) failpoint::pass_peer(act, ".after", peer);
}

}  // namespace winnow
