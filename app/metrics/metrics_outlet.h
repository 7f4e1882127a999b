#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "train/run/log/logged_line.h"

namespace winnow::app {

struct MetricsOutletOptions {
  std::filesystem::path file{};  // empty: none
  std::optional<int> port{};     // 0: any free one; nullopt: no server
};

// Serves the newest metrics of a run to Prometheus: a file for node_exporter's textfile collector,
// and a page on 127.0.0.1.
//
// Threads  own threads write and answer. take() only stores a row, under a lock that is held for
//          copies of some kilobytes.
// End      the destructor writes the last figures to the file, which stays, and ends the server
// Throws   UsageError: the port is taken; the file cannot be written
class MetricsOutlet {
 public:
  // `say` takes a sentence if the file cannot be written later on. Called once, from any thread.
  MetricsOutlet(const MetricsOutletOptions& options, std::function<void(std::string)> say);
  ~MetricsOutlet();
  MetricsOutlet(const MetricsOutlet&) = delete;
  MetricsOutlet& operator=(const MetricsOutlet&) = delete;

  void take(const train::LoggedLine& line);

  std::string address() const;  // http://127.0.0.1:PORT/metrics; empty without a server

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::app
