#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/image.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/team.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Runs each stage of a loader alone (reading, decoding, augmenting), with the same threads and
// order, to measure its speed. Every call processes all requests once, in batches. The cache must
// outlive this object.
class LoadStages {
 public:
  LoadStages(const Cache& cache, std::vector<Request> requests, LoadOptions options,
             std::size_t batch);

  // Whether records are encoded images, which must be decoded.
  bool encoded() const noexcept { return encoded_; }

  void read();     // finds the records and checks them, as Cache does
  void decode();   // decodes the records; call read() before
  void augment();  // augments decoded pixels; of encoded records only a few hundred, repeatedly
  void copy();     // only copies the stored raw pixels into batches

 private:
  void for_each(const std::function<void(std::size_t request, std::size_t slot)>& work);

  const Cache& cache_;
  std::vector<Request> requests_;
  LoadOptions options_;
  std::size_t batch_;
  Team team_;
  std::vector<RecordView> records_;
  bool encoded_ = false;
  std::vector<Image> images_;         // decoded images of encoded records
  std::vector<std::uint8_t> pixels_;  // pixels of two batches
};

// Speed of each stage of loading alone, in images per second; 0: there is no such stage.
struct StageRates {
  double read = 0;
  double decode = 0;
  double augment = 0;
};

// One sentence about which stage limits a loader that loads `rate` images per second.
std::string bottleneck(double rate, const StageRates& alone);

}  // namespace winnow::pipeline
