#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

struct CompileOptions {
  DType compute = DType::kF32;
  int threads = 1;
};

// A graph made ready to run: static shapes, primitives created, memory laid out. Nothing is
// allocated or created by run(). One thread at a time. Memory outside (inputs, parameters, states,
// outputs) is the caller's, bound before the first run and alive as long as the program is used. In
// it activations are f32 NHWC, parameters f32 in logical order, pixels u8 NHWC; outputs are
// assigned, never accumulated.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Graph& graph() const noexcept = 0;
  virtual void bind(ValueId value, std::span<float> data) = 0;         // Error on a wrong size
  virtual void bind(ValueId value, std::span<std::uint8_t> data) = 0;  // for Storage::kU8
  // Takes up what changed in the bound parameters and states; called after every update.
  virtual void load_parameters() = 0;
  // Executes nodes [first, last) of graph().nodes. Ranges must be run in order, each once a step.
  virtual void run(std::size_t first_node, std::size_t last_node) = 0;
  virtual std::size_t arena_bytes() const noexcept = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;
  // "avx512_core_bf16": what decides which instructions run and so which bits come out.
  virtual std::string instruction_set() const = 0;
  // "oneDNN 2.6.3": whose kernels they are, which decides as well.
  virtual std::string library() const = 0;
  virtual std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) = 0;
};

// One row per backend; a new one is its own folder and a row in backends.cpp.
struct BackendRow {
  std::string_view name;
  std::string_view what;
  std::unique_ptr<Backend> (*make)();
};
std::span<const BackendRow> backends();
std::unique_ptr<Backend> make_backend(std::string_view name);  // UsageError naming the known ones

}  // namespace winnow::train
