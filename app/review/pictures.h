#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/sample.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// Makes JPEGs of pictures on demand. The most recently used are kept in memory, up to a number of
// bytes. Thread-safe; a limited number of threads decode at a time.
class Pictures {
 public:
  Pictures(pipeline::PictureOf picture_of, int threads, std::size_t most_bytes);

  // The picture as a JPEG with at most `side_px` pixels on its longer side; nullopt if it cannot be
  // read.
  std::optional<std::string> jpeg(SampleId id, int side_px, int quality);

 private:
  using Key = std::pair<SampleId, int>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<SampleId>{}(key.first * 31 + static_cast<SampleId>(key.second));
    }
  };
  // JPEGs kept in memory, most recently used first.
  using Kept = std::list<std::pair<Key, std::string>>;

  void keep(const Key& key, const std::string& jpeg);

  pipeline::PictureOf picture_of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_threads_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  Kept kept_;
  std::unordered_map<Key, Kept::iterator, KeyHash> places_;
};

}  // namespace winnow::app
