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

// The page of `winnow index query`: each found image of the index, with the images that match it.
class QueryPage {
 public:
  // The index must outlive the page. `how`: how duplicates were found, such as "within 8 bits".
  QueryPage(const dedup::StoredIndex& index, int threshold, std::string how);

  // Adds the matches of one input of the query.
  // matches     at most one for each row of `cache`: its best match
  // picture_of  reads the picture of an image of `cache` by its id there
  void add(const std::filesystem::path& input, const pipeline::Cache& cache,
           std::span<const dedup::Match> matches, pipeline::PictureOf picture_of);

  // Writes the page durably, and tells the user. `picture_of` reads pictures of the index; may be
  // empty.
  void write(const Session& session, const pipeline::PictureOf& picture_of,
             const std::filesystem::path& path) const;

 private:
  struct Input {
    std::string name;
    std::uint64_t images = 0;
    std::uint64_t known = 0;
    std::uint32_t first_source = 0;  // number of the input's first source on the page
    pipeline::PictureOf picture_of;
  };
  pipeline::PictureOf pictures(const pipeline::PictureOf& of_index) const;
  std::string verdict() const;
  std::string inputs_table() const;

  const dedup::StoredIndex& index_;
  int threshold_;
  std::string how_;
  std::uint32_t next_source_;
  std::vector<std::string> classes_;  // names of classes: those of the index, then others
  std::vector<Input> inputs_;
  // One entry per query image that has a match, in the order of add().
  dedup::Fingerprints asked_;
  std::vector<dedup::Match> matches_;  // matches; `row` is a row of asked_
  std::map<SampleId, std::string> names_;
};

}  // namespace winnow::app
