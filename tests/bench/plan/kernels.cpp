// Times all kernels of the layers of a net, and plain matrix products of their sizes; see kernels.

#include <omp.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "train/backend/backend.h"
#include "train/nets/nets.h"
#include "train/rewrites/rewrites.h"
#include "train/run/start/kernel_times.h"

namespace {

using namespace winnow::train;
using Json = nlohmann::ordered_json;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

struct Options {
  std::string net = "resnet18";
  int side_px = 32;
  int micro_batch = 32;
  int rounds = 5;
  DType dtype = DType::kBF16;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = words[i];
    const std::string value = words[i + 1];
    if (name == "--net") {
      options.net = value;
    } else if (name == "--image-size") {
      options.side_px = std::stoi(value);
    } else if (name == "--micro-batch") {
      options.micro_batch = std::stoi(value);
    } else if (name == "--rounds") {
      options.rounds = std::stoi(value);
    } else if (name == "--dtype") {
      options.dtype = value == "f32" ? DType::kF32 : DType::kBF16;
    } else {
      throw std::runtime_error("there is no " + name);
    }
  }
  return options;
}

Graph training_graph(const Options& options) {
  NetOptions net;
  net.batch = options.micro_batch;
  net.height_px = net.width_px = options.side_px;
  net.channels = 3;
  net.mean.assign(3, 0.45F);
  net.stddev.assign(3, 0.25F);
  return prune(differentiate(fuse(find_net(options.net).make(net))));
}

// The number behind " `what`" in a layer's name; 1 where there is none.
double number(const std::string& layer, const std::string& what) {
  for (std::size_t at = layer.find(" " + what); at != std::string::npos;
       at = layer.find(" " + what, at + 1)) {
    const std::size_t digits = at + 1 + what.size();
    if (layer[digits] >= '0' && layer[digits] <= '9') return std::stod(layer.substr(digits));
  }
  return 1;
}

struct Product {
  std::int64_t m, n, k;
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// The product that a pass of a layer comes to.
Product product_of(const std::string& layer) {
  const auto of = [&](const char* what) { return static_cast<std::int64_t>(number(layer, what)); };
  const std::int64_t window = of("c") * of("r") * of("s") / of("groups");
  const bool linear = layer.starts_with("linear");
  const std::int64_t pixels = of("n") * of("p") * of("q");
  const std::int64_t inputs = linear ? of("c") * of("h") * of("w") : window;
  if (layer.find(" backward-filter ") != std::string::npos) return {inputs, of("k"), pixels};
  if (layer.find(" backward-data ") != std::string::npos) return {pixels, inputs, of("k")};
  return {pixels, of("k"), inputs};
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The fastest of some times of the product by the library's first implementation.
double seconds_of(const Product& size, Type type) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const Desc a({size.m, size.k}, type, Tag::ab);
  const Desc b({size.k, size.n}, type, Tag::ab);
  const Desc c({size.m, size.n}, Type::f32, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, a, b, c);
#else
  const dnnl::matmul::primitive_desc description({a, b, c}, engine);
#endif
  const dnnl::matmul product(description);
  const std::unordered_map<int, dnnl::memory> operands{{DNNL_ARG_SRC, dnnl::memory(a, engine)},
                                                       {DNNL_ARG_WEIGHTS, dnnl::memory(b, engine)},
                                                       {DNNL_ARG_DST, dnnl::memory(c, engine)}};
  double fastest = 1e9;
  for (int time = 0; time < 6; ++time) {
    const double begin = cpu_seconds();
    product.execute(stream, operands);
    if (time > 0) fastest = std::min(fastest, cpu_seconds() - begin);
  }
  return fastest;
}

Json row_of(const LayerTimes& layer, Type type) {
  const Product size = product_of(layer.layer);
  Json row{{"layer", layer.layer},
           {"nodes", layer.nodes},
           {"flops", size.flops()},
           {"product_s", seconds_of(size, type)}};
  for (const KernelTimes& kernel : layer.kernels) {
    row["kernels"].push_back({{"name", kernel.name},
                              {"seconds", kernel.seconds},
                              {"scratch_bytes", kernel.scratch_bytes}});
  }
  return row;
}

}  // namespace

int main(int count, char** words) try {
  const Options options = parse(count, words);
  const auto backend = make_backend("onednn");
  const std::vector<LayerTimes> layers = measure_kernels(
      *backend, training_graph(options), {.compute = options.dtype}, options.rounds, {});
  omp_set_num_threads(1);
  Json report{{"library", backend->library()}, {"instruction_set", backend->instruction_set()}};
  for (const LayerTimes& layer : layers) {
    report["layers"].push_back(
        row_of(layer, options.dtype == DType::kF32 ? Type::f32 : Type::bf16));
  }
  std::puts(report.dump().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
