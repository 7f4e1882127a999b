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
  std::optional<int> port{};     // 0: one that is free; none: no server
};

// Gives the newest metrics of a run to Prometheus: a file for node_exporter's textfile collector,
// and a page on 127.0.0.1 that is scraped.
//
// Threads  of its own write and answer; take() only enters what it is given, under a lock that
//          others hold for as long as it takes to copy some kilobytes
// End      the destructor writes the last figures to the file, which stays, and ends the server
// Throws   UsageError: the port is taken; the file cannot be written
class MetricsOutlet {
 public:
  // `say` takes a sentence, from any thread, where the file could not be written later on; once.
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
