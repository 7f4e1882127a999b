#include "deferred_backend.h"

#include <algorithm>
#include <limits>
#include <map>

#include "common/error.h"
#include "train/backend/host_weights.h"
#include "train/backend/reference/reference.h"

namespace winnow::train {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class DeferredProgram final : public Program {
 public:
  DeferredProgram(std::unique_ptr<Program> inner, std::shared_ptr<DeferredState> state)
      : inner_(std::move(inner)), state_(std::move(state)) {
    for (const Output& output : graph().outputs) outputs_[output.value] = {};
  }

  const Graph& graph() const noexcept override { return inner_->graph(); }

  void bind(ValueId value, std::span<float> data) override {
    require_done("bound");
    inner_->bind(value, data);
    if (outputs_.contains(value)) outputs_[value] = data;
  }
  void bind(ValueId value, std::span<std::uint8_t> data) override {
    require_done("bound");
    inner_->bind(value, data);
  }
  void load_parameters(int part, int parts) override {
    require_done("given parameters");
    inner_->load_parameters(part, parts);
  }

  void run(std::size_t first_node, std::size_t last_node) override {
    if (first_node == 0) {
      require_done("begun again");
      done_ = 0;
    } else if (first_node != given_) {
      throw Error("nodes were left out");
    }
    if (given_ == done_ || first_node == 0) ++state_->unfinished;
    given_ = last_node;
    for (std::size_t n = first_node; n < last_node; ++n) {
      for (const ValueId written : graph().nodes[n].outputs) {
        const auto found = outputs_.find(written);
        if (found != outputs_.end()) std::ranges::fill(found->second, kNan);
      }
    }
  }

  void wait(std::size_t last_node) override {
    if (last_node > given_) throw Error("waited for what was not given");
    if (state_->failing_wait > 0 && --state_->failing_wait == 0) throw Error("the card is gone");
    if (last_node <= done_) return;
    inner_->run(done_, last_node);
    done_ = last_node;
    if (done_ == given_) --state_->unfinished;
  }

  std::size_t arena_bytes() const noexcept override { return inner_->arena_bytes(); }

 private:
  void require_done(const std::string& what) const {
    if (done_ != given_) throw Error("a program was " + what + " while it runs");
  }

  std::unique_ptr<Program> inner_;
  std::shared_ptr<DeferredState> state_;
  std::map<ValueId, std::span<float>> outputs_;
  std::size_t given_ = 0;
  std::size_t done_ = 0;
};

class WeightsElsewhere final : public WeightStore {
 public:
  WeightsElsewhere(std::vector<WeightTensor> tensors, const UpdateRule& rule)
      : callers_(std::move(tensors)), memory_(callers_.size()) {
    std::vector<WeightTensor> mine = callers_;
    for (std::size_t t = 0; t < mine.size(); ++t) {
      memory_[t].value.assign(mine[t].value.size(), kNan);
      for (std::span<float>& slot : mine[t].state) {
        slot = memory_[t].state.emplace_back(slot.size(), kNan);
      }
      mine[t].value = memory_[t].value;
    }
    inner_ = make_host_weights(std::move(mine), rule);
  }

  void bind(Program& program) override { inner_->bind(program); }
  void load() override {
    for (std::size_t t = 0; t < memory_.size(); ++t) {
      std::ranges::copy(callers_[t].value, memory_[t].value.begin());
      for (std::size_t slot = 0; slot < callers_[t].state.size(); ++slot) {
        std::ranges::copy(callers_[t].state[slot], memory_[t].state[slot].begin());
      }
    }
  }
  void store() override {
    for (std::size_t t = 0; t < memory_.size(); ++t) {
      std::ranges::copy(memory_[t].value, callers_[t].value.begin());
      for (std::size_t slot = 0; slot < callers_[t].state.size(); ++slot) {
        std::ranges::copy(memory_[t].state[slot], callers_[t].state[slot].begin());
      }
    }
  }
  bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                    bool known_finite) override {
    return inner_->begin_update(sums, lr, step, known_finite);
  }
  void update(std::span<const WeightUpdate> updates) override { inner_->update(updates); }

 private:
  struct Memory {
    std::vector<float> value;
    std::vector<std::vector<float>> state;
  };
  const std::vector<WeightTensor> callers_;
  std::vector<Memory> memory_;
  std::unique_ptr<WeightStore> inner_;
};

class DeferredBackend final : public Backend {
 public:
  explicit DeferredBackend(std::shared_ptr<DeferredState> state) : state_(std::move(state)) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  std::string instruction_set() const override { return inner_->instruction_set(); }
  std::string library() const override { return inner_->library(); }
  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) override {
    return std::make_unique<DeferredProgram>(inner_->compile(graph, options), state_);
  }
  std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                      const CompileOptions& options,
                                                      int lanes) override {
    auto programs = inner_->compile_lanes(graph, options, lanes);
    for (auto& program : programs) {
      program = std::make_unique<DeferredProgram>(std::move(program), state_);
    }
    return programs;
  }
  MemoryUse memory_of(const Graph& graph, const CompileOptions& options) override {
    return inner_->memory_of(graph, options);
  }
  bool is_on_cpu() const noexcept override { return false; }
  std::unique_ptr<WeightStore> make_weights(std::vector<WeightTensor> tensors,
                                            const UpdateRule& rule) override {
    return std::make_unique<WeightsElsewhere>(std::move(tensors), rule);
  }

 private:
  std::unique_ptr<Backend> inner_ = make_reference_backend();
  std::shared_ptr<DeferredState> state_;
};

}  // namespace

std::unique_ptr<Backend> make_deferred_backend(std::shared_ptr<DeferredState> state) {
  return std::make_unique<DeferredBackend>(std::move(state));
}

}  // namespace winnow::train
