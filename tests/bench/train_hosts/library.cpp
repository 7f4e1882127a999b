// Trains like `winnow train`, but sums gradients with MPI_Allreduce.
//
//     mpirun -np P bench_library_train CACHE OUT STEPS BUCKET_KIB BATCH MICRO_BATCH [SCHEDULE]
//
// Like Horovod over MPI, a separate thread calls MPI_Allreduce for one bucket after another while
// the backward pass continues. The net is resnet20, with one thread per rank and a line of metrics
// after each third of the steps, as in measure's runs of winnow. With SCHEDULE it uses winnow's own
// all-reduces.

#include <mpi.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/comm/forwarding_communicator.h"
#include "common/comm/mpi/mpi.h"
#include "train/run/train.h"

// winnow's engine calls MPI from one thread at a time, and here there is another.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int, int* provided) {
  return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
}

namespace {

using namespace winnow;

// The communicator `under` with other all-reduces.
class LibraryCommunicator final : public comm::ForwardingCommunicator {
 public:
  explicit LibraryCommunicator(comm::Communicator& of) : ForwardingCommunicator(of) {
    MPI_Comm_dup(MPI_COMM_WORLD, &sums_);
    thread_ = std::thread([this] { run(); });
  }
  ~LibraryCommunicator() override {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
    MPI_Comm_free(&sums_);
  }

  comm::Pending start(const comm::Collective& what, std::span<const comm::Transfer>) override {
    std::packaged_task<void()> sum([this, buffer = what.buffer.bytes] {
      const auto count = static_cast<int>(buffer.size() / sizeof(float));
      if (MPI_Allreduce(MPI_IN_PLACE, buffer.data(), count, MPI_FLOAT, MPI_SUM, sums_) !=
          MPI_SUCCESS) {
        std::fputs("MPI_Allreduce failed\n", stderr);
        std::exit(1);
      }
    });
    const auto done = std::make_shared<std::future<void>>(sum.get_future());
    {
      const std::scoped_lock lock(mutex_);
      sums_to_do_.push_back(std::move(sum));
    }
    changed_.notify_one();
    return comm::Pending([done] { done->get(); });
  }
  comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts&,
                      comm::Wire wire) override {
    return start({buffer, comm::Reduction::kSum, wire}, {});
  }
  double adding_seconds() const noexcept override { return 0; }

 private:
  void run() {
    for (;;) {
      std::packaged_task<void()> sum;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ends_ || !sums_to_do_.empty(); });
        if (sums_to_do_.empty()) return;
        sum = std::move(sums_to_do_.front());
        sums_to_do_.pop_front();
      }
      sum();
    }
  }

  MPI_Comm sums_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> sums_to_do_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) return 2;
  const auto number = [&](int i) { return std::atoi(argv[i]); };
  try {
    const std::unique_ptr<comm::Communicator> mpi = comm::make_mpi();
    train::TrainOptions options;
    options.data.cache = argv[1];
    options.run.out = argv[2];
    options.run.max_steps = number(3);
    options.run.log.interval = number(3) / 3;
    options.recipe.epochs = 1000;
    options.execution.all_reduce.bucket_bytes = static_cast<std::size_t>(number(4)) << 10;
    options.batch = {.batch = number(5), .micro_batch = number(6)};
    const auto train = [&](comm::Communicator& comm) {
      train::train(options, comm, {}, [](const std::string&) {});
    };
    if (argc == 8) {
      options.execution.all_reduce.schedule = argv[7];
      train(*mpi);
    } else {
      LibraryCommunicator library(*mpi);
      train(library);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
