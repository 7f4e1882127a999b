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

// What a loader does to samples, each part alone, on as many threads and in the same order, for
// measurements. Every call goes through all requests once, in batches. The cache must outlive it.
class LoadStages {
 public:
  LoadStages(const Cache& cache, std::vector<Request> requests, LoadOptions options,
             std::size_t batch);

  bool encoded() const noexcept { return encoded_; }  // there is something to decode

  void read();     // finds the records and checks them as far as Cache does
  void decode();   // of records that were read before
  void augment();  // of pixels that were decoded before; of encoded ones a few hundred by turns
  void copy();     // of bare pixels: the payloads into batches, byte by byte, and nothing else

 private:
  void for_each(const std::function<void(std::size_t request, std::size_t slot)>& work);

  const Cache& cache_;
  std::vector<Request> requests_;
  LoadOptions options_;
  std::size_t batch_;
  Team team_;
  std::vector<RecordView> records_;
  bool encoded_ = false;
  std::vector<Image> images_;         // of encoded records
  std::vector<std::uint8_t> pixels_;  // of two batches
};

// Images a second of each part alone; 0: there is no such part.
struct StageRates {
  double read = 0;
  double decode = 0;
  double augment = 0;
};

// What keeps a loader of `rate` images a second from being faster, in a sentence.
std::string bottleneck(double rate, const StageRates& alone);

}  // namespace winnow::pipeline
