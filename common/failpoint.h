#pragma once

#include <filesystem>
#include <string_view>

// Named points before and after each act that changes what outlives this process: a write, sync,
// rename, link, commit, a directory made or removed; and a message handed to or got from another
// rank, and a sample loaded. Tests make one of them the last thing a process does, or let the disk
// be full there.
//
// Without the environment variable WINNOW_FAILPOINTS a point is one branch that is never taken. It
// holds directives, separated by commas:
//
//   trace=PATH        append each point that is passed to PATH, at once: a line "NAME<tab>FILE"
//   kill=NAME:FILE:K  SIGKILL at the K-th pass (from 1) of point NAME of file FILE
//   int=, term=, usr1=  the same with SIGINT, SIGTERM, SIGUSR1
//   hang=             the thread never gets past it
//   enospc=, eio=     the act fails there as on a full, or a bad disk; NAME ends in ".before"
//
// NAME is the act with ".before" or ".after":
//
//   file.create .write .sync .rename .remove  a file, by its final name also while it has another
//   dir.create .sync .rename .remove          a directory; .remove with all that is in it
//   link.create .rename                       a symbolic link
//   lmdb.create .commit .sync                 a shard
//   fs.type                                   whether a file system is a network's: .before fails
//                                             where it is to be taken for one
//   load.record                               a sample that is loaded; FILE is its id
//   mpi.send .receive .collective             FILE is the peer, "rank-3"; of a collective "all"
//   node.reduce_scatter .all_gather           a piece for the peer of that number on this machine,
//                                             or for all; .before alone
//
// ".before" of a receive is when it is posted, ".after" of a send when MPI has taken it, ".after"
// of a receive when the message is here. FILE is the name of the file, or the end of its path in
// whole components ("step-20.part/manifest.json"), or "*". A variable that cannot be understood is
// a UsageError at the first point. For one rank only, it is given to that rank:
//
//   mpirun -np 3 winnow train ... : -np 1 -x WINNOW_FAILPOINTS=... winnow train ...
namespace winnow {

namespace failpoint {
extern const bool enabled;  // the variable is set
bool pass(std::string_view act, std::string_view phase, const std::filesystem::path& file);
void pass_peer(std::string_view act, std::string_view phase, int peer);
}  // namespace failpoint

// True: take the act as failed, with errno set. Safe from any thread, as all of these.
[[nodiscard]] inline bool fault_before(std::string_view act, const std::filesystem::path& file) {
  return failpoint::enabled && failpoint::pass(act, ".before", file);
}

inline void fault_after(std::string_view act, const std::filesystem::path& file) {
  if (failpoint::enabled) failpoint::pass(act, ".after", file);
}

// Messages. `peer` < 0: of all ranks. They can kill and trace, never fail.
inline void before_message(std::string_view act, int peer) {
  if (failpoint::enabled) failpoint::pass_peer(act, ".before", peer);
}

inline void after_message(std::string_view act, int peer) {
  if (failpoint::enabled) failpoint::pass_peer(act, ".after", peer);
}

}  // namespace winnow
