// Checkpoints written while a run trains on. tests/end_to_end/resume_test.py covers what the
// program does with them.
#include "train/run/record/run_saver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/thread_ranks.h"

namespace winnow::train::run_saver_test {

namespace fs = std::filesystem;

constexpr BatchLayout kBatches{.samples = 8, .batch = 4, .micro_batch = 2, .total_steps = 100};

Model some_model() {
  Model model;
  model.slots = {"momentum"};
  model.tensors.push_back({});
  Model::Tensor& t = model.tensors.back();
  t.about = {.name = "fc.bias", .shape = {2}};
  t.data = {1, 2};
  t.state = {{3, 4}};
  return model;
}

RunState state_of(std::int64_t step) {
  RunState state;
  state.step = step;
  return state;
}

// A rank with all that a saver needs.
struct Saving {
  Saving(const fs::path& run, comm::Communicator& comm, std::int64_t begun = 0)
      : directory(run, comm, [](const std::string&) {}),
        log(comm, kBatches),
        ranks{{comm.size()}},
        tensors({}, some_model(), ranks, comm) {
    comm::on_root(comm, [&] { make_directories(run); });
    RunLog::Place place;
    place.metrics = directory.metrics();
    log.open(place, 0, false);
    board.set_saved(begun);
    saver.emplace(directory, log, comm, board, 9);
  }

  void save(const RunState& state, const Model& model, const std::string& census) {
    saver->save(state, model, tensors, census);
  }

  RunDirectory directory;
  RunLog log;
  RankStages ranks;
  NetTensors tensors;
  health::Board board;
  std::optional<RunSaver> saver;
};

TEST(RunSaver, TheFirstAndTheBestAreDurableWhenSavedAndAllAreInTheEnd) {
  const TemporaryFolder folder;
  test::ThreadRanks(3).run([&](comm::Communicator& comm) {
    Saving run(folder / "run", comm);
    const auto is_there = [&](std::int64_t step) {
      return fs::exists(run.directory.checkpoint(step) / "manifest.json");
    };
    Model model = some_model();
    run.save(state_of(5), model, "census of 5");
    EXPECT_EQ(run.board.saved(), 5);
    EXPECT_TRUE(is_there(5));
    run.save(state_of(10), model, "census of 10");
    model.tensors.front().data = {7, 8};  // training continues
    EXPECT_GE(run.board.saved(), 5);
    RunState best = state_of(15);
    best.best = {.metric = "val.top1", .value = 0.5, .step = 15};
    run.save(best, model, "census of 15");
    EXPECT_EQ(run.board.saved(), 15);
    EXPECT_TRUE(is_there(10) && is_there(15));
    run.save(state_of(20), model, "census of 20");
    run.saver->finish();
    EXPECT_EQ(run.board.saved(), 20);
    EXPECT_TRUE(is_there(20));
    if (comm.rank() != 0) return;
    const auto bias = [&](std::int64_t step) {
      return f32_values(load_checkpoint(run.directory.checkpoint(step)).model.front());
    };
    EXPECT_EQ(bias(10), (std::vector<float>{1, 2}));
    EXPECT_EQ(bias(15), (std::vector<float>{7, 8}));
    EXPECT_EQ(fs::read_symlink(run.directory.checkpoints() / "best"), "step-15");
    EXPECT_EQ(read_text(run.directory.census()), "census of 20");
  });
}

// A resumed run already has a checkpoint to resume from.
TEST(RunSaver, ARunThatGoesOnWaitsForNoneOfItsOwn) {
  const TemporaryFolder folder;
  test::ThreadRanks(2).run([&](comm::Communicator& comm) {
    Saving run(folder / "run", comm, 5);
    run.save(state_of(10), some_model(), "census");
    EXPECT_TRUE(comm.rank() == 0 || run.board.saved() == 5);
    run.saver->finish();
    EXPECT_EQ(run.board.saved(), 10);
  });
}

// A folder stands where the census would be written.
TEST(RunSaver, AFailureIsSeenByRank0AndToldToAll) {
  const TemporaryFolder folder;
  std::atomic<int> told{0};
  test::ThreadRanks(3).run([&](comm::Communicator& comm) {
    Saving run(folder / "run", comm);
    run.save(state_of(5), some_model(), "census");
    comm::on_root(comm, [&] {
      fs::remove(run.directory.census());
      fs::create_directory(run.directory.census());
    });
    EXPECT_NO_THROW(run.save(state_of(10), some_model(), "census"));
    if (comm.rank() == 0) {
      while (!run.saver->failed()) std::this_thread::yield();
    }
    EXPECT_FALSE(comm.rank() != 0 && run.saver->failed());
    try {
      run.saver->finish();
    } catch (const comm::AgreedError& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.find("census.json") != std::string::npos, comm.rank() == 0) << what;
      EXPECT_EQ(error.exit_code(), 2);
      ++told;
    }
    EXPECT_EQ(run.board.saved(), 5);
    EXPECT_FALSE(run.saver->failed());
    EXPECT_FALSE(fs::exists(run.directory.checkpoint(10)));
  });
  EXPECT_EQ(told, 3);
}

}  // namespace winnow::train::run_saver_test
