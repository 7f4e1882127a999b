#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/common/temporary_folder.h"

namespace winnow::datasets {

// Base of tests whose data set is made of files in a temporary folder.
class SetInFolder : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  // The error message on opening the data set.
  std::string refusal(const OpenOptions& options = {}) const {
    try {
      open_source(folder_.path(), options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

}  // namespace winnow::datasets
