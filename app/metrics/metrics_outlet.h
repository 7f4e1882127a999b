#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "train/run/log/logged_line.h"

namespace winnow::app {

struct MetricsOutletOptions {
  std::filesystem::path file{};  // file to write the metrics to; empty: no file
  std::optional<int> port{};     // port of the server; 0: any free port; nullopt: no server
};

// Serves the newest metrics of a training run to Prometheus: a file for node_exporter's textfile
// collector, and a page on 127.0.0.1.
//
// Threads  the outlet's own threads write the file and answer requests. take() only copies a row of
//          some kilobytes under a lock.
// End      the destructor writes the last metrics to the file, which stays, and stops the server
// Throws   UsageError: the port is taken, or the file cannot be written
class MetricsOutlet {
 public:
  // `say` receives a sentence if a later write of the file fails. Called at most once, from any
  // thread.
  MetricsOutlet(const MetricsOutletOptions& options, std::function<void(std::string)> say);
  ~MetricsOutlet();
  MetricsOutlet(const MetricsOutlet&) = delete;
  MetricsOutlet& operator=(const MetricsOutlet&) = delete;

  void take(const train::LoggedLine& line);

  std::string address() const;  // http://127.0.0.1:PORT/metrics; empty if there is no server

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::app
