#include "app/plan/rates.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/file.h"
#include "common/json.h"
#include "tests/common/temporary_folder.h"

namespace winnow::app::rates_test {

namespace fs = std::filesystem;

const RatesOf kHere{.processor = "AMD EPYC",
                    .cores = 4,
                    .build = "0.1.0 Release GNU 12.2.0",
                    .backend = "onednn",
                    .library = "oneDNN 2.6.3",
                    .instruction_set = "avx512_core_bf16"};

train::Trial some_trial() {
  train::Trial trial;
  trial.form = {.micro_batch = 16, .micro_batches = 4, .lanes = 2};
  trial.took_seconds = 3.25;
  trial.start_seconds = 0.5;
  trial.steps = {{.forward = 0.1, .backward = 0.2, .update = 1.0 / 3}, {.forward = 0.125}};
  trial.load_wall = 0.01;
  trial.load_cpu = 0.02;
  trial.evaluation_seconds = 0.05;
  trial.evaluation_lanes = 3;
  trial.others_cores = 0.7;
  trial.node_ends = {0.01, 0.01, 0.3};
  return trial;
}

TEST(TrialText, ParsedGivesTheTrialAgain) {
  const std::string text = to_text(some_trial());
  const auto read = parse_trial(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), text);
  EXPECT_EQ(read->form.lanes, 2);
  EXPECT_EQ(read->steps.at(0).update, 1.0 / 3);
  EXPECT_EQ(read->node_ends, some_trial().node_ends);
  EXPECT_EQ(read->took_seconds, 3.25);
}

TEST(TrialText, NumbersThatCannotBeAreNothing) {
  const auto with = [](const char* name, Json value) {
    Json json = Json::parse(to_text(some_trial()));
    json[name] = std::move(value);
    return parse_trial(json.dump());
  };
  ASSERT_TRUE(with("lanes", 2));
  EXPECT_FALSE(with("lanes", 0));
  EXPECT_FALSE(with("lanes", std::int64_t{1} << 40));
  EXPECT_FALSE(with("micro_batch", -1));
  EXPECT_FALSE(with("start_s", -0.5));
  EXPECT_FALSE(with("start_s", 1e300));
  EXPECT_FALSE(with("took_s", nullptr));  // numbers that are not finite are written as null
  EXPECT_FALSE(with("steps", Json::array()));
  EXPECT_FALSE(with("steps", "many"));
  EXPECT_FALSE(with("node_ends_s", Json{0.2, 0.1}));
  Json idle = Json::parse(to_text(some_trial()))["steps"];
  for (auto& [name, value] : idle[0].members()) value = 0;
  EXPECT_FALSE(with("steps", idle));
  for (const char* text : {"", "{}", "[]", "\xff", "nonsense"})
    EXPECT_FALSE(parse_trial(text)) << text;
  EXPECT_FALSE(parse_trial(std::string(100'000, '[')));
}

TEST(RatesTest, FindTheirTrialOnSuchAMachineAlone) {
  const TemporaryFolder folder;
  const Rates rates(folder.path(), kHere);
  EXPECT_FALSE(rates.find("lenet 16"));
  rates.keep("lenet 16", some_trial());
  const auto found = Rates(folder.path(), kHere).find("lenet 16");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_text(*found), to_text(some_trial()));
  EXPECT_FALSE(rates.find("lenet 32"));
  for (const auto change : {&RatesOf::processor, &RatesOf::build, &RatesOf::backend,
                            &RatesOf::library, &RatesOf::instruction_set}) {
    RatesOf other = kHere;
    other.*change += "x";
    EXPECT_FALSE(Rates(folder.path(), other).find("lenet 16")) << other.*change;
  }
  RatesOf larger = kHere;
  larger.cores = 8;
  EXPECT_FALSE(Rates(folder.path(), larger).find("lenet 16"));
}

TEST(RatesTest, DamagedFilesAndNoFolderAreNothingFound) {
  const TemporaryFolder folder;
  const Rates rates(folder.path(), kHere);
  rates.keep("lenet", some_trial());
  const fs::path file = fs::directory_iterator(folder.path())->path();
  const std::string good = read_text(file);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file_durably(file, bad);
    EXPECT_FALSE(rates.find("lenet")) << "byte " << i;
  }
  write_file_durably(file, good);
  EXPECT_TRUE(rates.find("lenet"));
  const Rates nowhere("", kHere);
  nowhere.keep("lenet", some_trial());
  EXPECT_FALSE(nowhere.find("lenet"));
}

TEST(TrialKey, HoldsWhatTimesDependOn) {
  const auto comm = comm::make_single();
  std::string optimizer = "sgd";
  train::KernelChoices kernels;
  const auto key = [&](const std::string& config, const train::TrialShape& shape, int threads) {
    train::Job job;
    job.config = config;
    job.recipe.optimizer = optimizer;
    train::ExecutionOptions execution;
    execution.threads.compute = threads;
    execution.lanes.kernels = kernels;
    return key_of(execution, job, shape, *comm);
  };
  const std::string config =
      R"({"net": {"name": "lenet", "micro_batch": 8}, "data": {"cache_digest": "ab"},
          "recipe": {"optimizer": "sgd", "lr": 0.1, "epochs": 5, "seed": 1}})";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = config;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string first = key(config, {.micro_batch = 8}, 2);
  for (const auto& [from, to] :
       {std::pair("0.1", "0.2"), std::pair("\"epochs\": 5", "\"epochs\": 9"),
        std::pair("\"seed\": 1", "\"seed\": 2")}) {
    EXPECT_EQ(key(changed(from, to), {.micro_batch = 8}, 2), first) << to;
  }
  for (const auto& [from, to] : {std::pair("lenet", "vgg16"), std::pair("\"ab\"", "\"cd\"")}) {
    EXPECT_NE(key(changed(from, to), {.micro_batch = 8}, 2), first) << to;
  }
  EXPECT_NE(key(config, {.micro_batch = 16}, 2), first);
  EXPECT_NE(key(config, {.micro_batch = 8, .lane_threads = 2}, 2), first);
  EXPECT_NE(key(config, {.micro_batch = 8, .by_node = true}, 2), first);
  EXPECT_NE(key(config, {.micro_batch = 8}, 4), first);
  EXPECT_NE(key("", {.micro_batch = 8}, 2), first);  // without a cache there is no config
  kernels["linear forward f32 n8"] = "gemm:jit";
  EXPECT_NE(key(config, {.micro_batch = 8}, 2), first);
  kernels.clear();
  optimizer = "lamb";
  EXPECT_NE(key(config, {.micro_batch = 8}, 2), first);
}

}  // namespace winnow::app::rates_test
