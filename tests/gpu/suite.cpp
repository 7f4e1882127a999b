// The GPU suite's program; tests/gpu/run builds and calls it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "common/error.h"
#include "tests/gpu/device.h"
#include "tests/gpu/stages.h"

namespace {

using winnow::gpu::Report;

constexpr const char* kUsage =
    "usage: suite STAGE OUT [--commit ID] [--losses FILE]\n"
    "STAGE: conformance, operations, train or bench; what is found goes to OUT/STAGE.json\n";

winnow::gpu::Facts facts_of(const winnow::train::cudnn::Card& card, const std::string& commit) {
  return {{"card", card.name},
          {"capability", std::to_string(card.capability)},
          {"multiprocessors", std::to_string(card.multiprocessors)},
          {"memory_mib", std::to_string(card.memory_bytes >> 20)},
          {"driver_cuda", card.driver},
          {"runtime_cuda", card.runtime},
          {"cudnn", card.cudnn},
          {"cublas", card.cublas},
          {"commit", commit}};
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::string stage = argv[1];
  std::map<std::string, std::string> options{{"--commit", "unknown"}, {"--losses", ""}};
  for (int i = 3; i + 1 < argc; i += 2) options.at(argv[i]) = argv[i + 1];
  const std::shared_ptr<winnow::train::cudnn::Device> device = winnow::gpu::suite_device();
  Report report(argv[2], stage, facts_of(device->card(), options["--commit"]));
  if (stage == "conformance") {
    winnow::gpu::conformance_stage(device, report);
  } else if (stage == "operations") {
    winnow::gpu::operations_stage(device, report);
  } else if (stage == "train") {
    winnow::gpu::train_stage(device, report, winnow::gpu::read_losses(options["--losses"]));
  } else if (stage == "bench") {
    winnow::gpu::bench_stage(device, report);
  } else {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return report.finish() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "suite: %s\n", error.what());
    return 1;
  }
}
