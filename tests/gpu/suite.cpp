// The GPU suite's program; tests/gpu/build makes it, tests/gpu/run calls it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "common/error.h"
#include "tests/gpu/device.h"
#include "tests/gpu/devices.h"
#include "tests/gpu/predict.h"
#include "tests/gpu/stages.h"

namespace {

using winnow::gpu::Report;

constexpr const char* kUsage =
    "usage: suite STAGE OUT [--commit ID] [--losses FILE]\n"
    "STAGE: conformance, operations, own-operations or train; what is found goes to "
    "OUT/STAGE.json\n"
    "   or: predict, which needs no card and prints what a step takes at a card's peaks\n"
    "   or: bench, which reads cases and prints what they take, after the facts of the card\n";

// The type that people train in comes first.
constexpr winnow::train::DType kSanitized[] = {
    winnow::train::DType::kBF16, winnow::train::DType::kF32, winnow::train::DType::kF16};

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
  const std::string stage = argc > 1 ? argv[1] : "";
  if (stage == "predict") {  // for cards that this machine need not have
    winnow::gpu::print_prediction(std::cout);
    return 0;
  }
  if (argc < 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::map<std::string, std::string> options{{"--commit", "unknown"}, {"--losses", ""}};
  for (int i = 3; i + 1 < argc; i += 2) options.at(argv[i]) = argv[i + 1];
  const std::shared_ptr<winnow::train::cudnn::Device> device = winnow::gpu::suite_device();
  const winnow::gpu::Facts facts = facts_of(device->card(), options["--commit"]);
  if (stage == "bench") {
    std::cout << "{\"facts\": " << winnow::gpu::json_object(facts) << "}" << std::endl;
    winnow::gpu::bench_stage(device, std::cin, std::cout);
    return 0;
  }
  Report report(argv[2], stage, facts);
  if (stage == "conformance") {
    winnow::gpu::conformance_stage(device, report);
  } else if (stage == "operations") {
    winnow::gpu::operations_stage(device, report, kSanitized);
  } else if (stage == "own-operations") {  // every kernel is this project's
    winnow::gpu::operations_stage(std::make_shared<winnow::gpu::OwnKernels>(device), report,
                                  std::span(kSanitized).first(1));
  } else if (stage == "train") {
    winnow::gpu::train_stage(device, report, winnow::gpu::read_losses(options["--losses"]));
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
