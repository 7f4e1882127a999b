#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/index/index.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// The page of `winnow index query`: each image of the index that others look like, with those.
class QueryPage {
 public:
  // The index must outlive it. `how` duplicates were told, as "within 8 bits".
  QueryPage(const dedup::StoredIndex& index, int threshold, std::string how);

  // What was found of an input: `matches` are of the cache's rows, each once. `picture_of`: by the
  // cache's ids.
  void add(const std::filesystem::path& input, const pipeline::Cache& cache,
           std::span<const dedup::Match> matches, pipeline::PictureOf picture_of);

  // Writes it durably and says so. `picture_of`: of the images in the index; may be empty.
  void write(const Session& session, const pipeline::PictureOf& picture_of,
             const std::filesystem::path& path) const;

 private:
  struct Input {
    std::string name;
    std::uint64_t images = 0;
    std::uint64_t known = 0;
    std::uint32_t first_source = 0;  // that its ids have on the page
    pipeline::PictureOf picture_of;
  };
  pipeline::PictureOf pictures(const pipeline::PictureOf& of_index) const;
  std::string verdict() const;
  std::string inputs_table() const;

  const dedup::StoredIndex& index_;
  int threshold_;
  std::string how_;
  std::uint32_t next_source_;
  std::vector<std::string> classes_;  // those of the index, then others
  std::vector<Input> inputs_;
  // One entry an asked image that is known, in the order in which they were added.
  dedup::Fingerprints asked_;
  std::vector<dedup::Match> matches_;  // `row` is of asked_
  std::map<SampleId, std::string> names_;
};

}  // namespace winnow::app
