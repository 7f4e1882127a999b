#include "train/run/record/chosen_net.h"

#include <filesystem>
#include <span>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "train/nets/losses.h"
#include "train/plan/batch_layout.h"
#include "train/run/record/setup.h"

namespace winnow::train {
namespace {

// Whether `net` is a file that has not been read yet.
bool is_unread(const NetChoice& net) { return is_net_file(net.name) && net.description.empty(); }

// How `file` differs from the description with which a run began; empty if it does not.
std::string change_of(const std::string& file, const NetChoice& of_run) {
  try {
    return read_text(file) == of_run.description ? "" : "has changed since this run began";
  } catch (const SystemError&) {
    return "can no longer be read";
  }
}

}  // namespace

NetChoice read_net(const NetChoice& net) { return is_unread(net) ? read_net_file(net.name) : net; }

NetChoice net_of_run(const NetChoice& net, const std::filesystem::path& run, bool resume) {
  const std::filesystem::path config = run / "config.json";
  if (is_unread(net) && resume && std::filesystem::exists(config)) {
    NetChoice stored = parse_config(read_text(config), config.string()).setup.net;
    if (!stored.description.empty()) return stored;
  }
  return read_net(net);
}

std::int64_t choose_micro_batch(const BatchOptions& batch, const RunOptions& run,
                                comm::Communicator& comm) {
  std::int64_t micro_batch = batch.micro_batch;
  on_root(comm, [&] {
    const std::filesystem::path config = run.out / "config.json";
    if (micro_batch > 0 || !run.resume || !std::filesystem::exists(config)) return;
    try {
      const NetOptions stored = parse_config(read_text(config), config.string()).setup.options;
      const bool of_views = !find_loss(stored.loss.name).reads_labels();
      if (stored.batch == older_micro_batch(batch.batch, of_views)) {
        micro_batch = stored.batch;
      }
    } catch (const FormatError&) {
      return;  // RunDirectory::find() reports the damage
    }
  });
  comm.broadcast(std::as_writable_bytes(std::span(&micro_batch, 1)), 0);
  return micro_batch;
}

NetChoice choose_net(const NetChoice& given, const RunOptions& run, comm::Communicator& comm,
                     const std::function<void(std::string)>& note) {
  if (!is_unread(given)) return given;
  const std::string& file = given.name;
  NetChoice net;
  on_root(comm, [&] {
    net = net_of_run(given, run.out, run.resume);
    const std::string change = change_of(file, net);
    if (change.empty()) return;
    note(file + " " + change + ": the run continues with its original net, from " +
         (run.out / "config.json").string() + "; to train the changed net, choose another --out");
  });
  net.name = comm::broadcast_text(comm, net.name);
  net.description = comm::broadcast_text(comm, net.description);
  net.where = comm::broadcast_text(comm, net.where);
  return net;
}

}  // namespace winnow::train
