#include "train/run/record/run_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/comm/communicator.h"
#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::train::run_order_test {

using testing::ElementsAre;
namespace fs = std::filesystem;

TEST(OrderOfRun, FollowsTheNames) {
  StoredConfig begun;
  begun.cache_digest = "its cache";
  begun.classes = {"dog", "ant", "bee"};
  begun.digest_by_names = "same";
  const auto order = order_of_run(begun, {"ant", "bee", "dog"}, "same");
  ASSERT_TRUE(order);
  EXPECT_THAT(order->label_of, ElementsAre(1, 2, 0));
  EXPECT_EQ(order->cache_digest, "its cache");
}

TEST(OrderOfRun, IsNoneOfOtherDataOrTheSame) {
  StoredConfig begun;
  begun.classes = {"dog", "ant"};
  begun.digest_by_names = "same";
  EXPECT_FALSE(order_of_run(begun, {"dog", "ant"}, "same"));
  EXPECT_FALSE(order_of_run(begun, {"ant", "dog"}, "other"));
  begun.digest_by_names.clear();
  EXPECT_FALSE(order_of_run(begun, {"ant", "dog"}, ""));
  EXPECT_FALSE(order_of_run(StoredConfig(), {"ant", "dog"}, "same"));
}

// A damaged config.json counts as none here (opening the run reports it). One that cannot be read
// is an error.
TEST(BegunConfig, IsNoneWhereItIsDamaged) {
  const TemporaryFolder temporary;
  const auto comm = comm::make_single();
  RunOptions run;
  run.out = temporary.path();
  run.resume = true;
  EXPECT_FALSE(begun_config(run, *comm));
  for (const std::string text :
       {"", "no JSON", "{}", R"({"version": 1, "net": {"name": "lenet"}})"}) {
    write_file_durably(run.out / "config.json", std::string_view(text));
    EXPECT_FALSE(begun_config(run, *comm)) << text;
  }
  fs::remove(run.out / "config.json");
  fs::create_directory(run.out / "config.json");
  EXPECT_THROW(begun_config(run, *comm), SystemError);
  run.resume = false;
  EXPECT_FALSE(begun_config(run, *comm));
}

}  // namespace winnow::train::run_order_test
