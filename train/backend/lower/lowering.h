#pragma once

#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/value_places.h"

namespace winnow::train {

// Emits the kernel calls of graph nodes, one node after the other. Calls refer to `slots`, which
// must not move.
// Target  Where kernels run: a number of CPU threads, or a CUDA stream.
template <class Target>
class Lowering : public ValuePlaces {
 public:
  using Call = std::function<void(Target)>;
  template <class Arguments>
  using Kernel = void (*)(const Arguments&, Target);

  Lowering(const Graph& graph, const DType compute, Outside outside, Slots& slots,
           Kernel<kernels::Convert> convert)
      : ValuePlaces(graph, compute, outside, slots), convert_(convert) {}

  void call(Call made) { calls_.push_back(std::move(made)); }
  // Emits a call that runs at the end of this node.
  void call_after(Call made) { after_.push_back(std::move(made)); }

  // Makes a call of `kernel`. Its arguments are fill(slots), evaluated when the call runs, because
  // bound memory may move.
  template <class Arguments, class Fill>
  Call kernel_call(Kernel<Arguments> kernel, Fill fill) {
    return [at = &slots(), kernel, fill = std::move(fill)](Target target) {
      kernel(fill(*at), target);
    };
  }
  template <class Arguments, class Fill>
  void kernel(Kernel<Arguments> kernel, Fill fill) {
    call(kernel_call(kernel, std::move(fill)));
  }

  // Returns the calls that `emit(self, node)` emits.
  template <class Emit, class Self>
  std::vector<Call> calls_of(Self& self, const Node& node, Emit emit) {
    slots().next_node();
    calls_.clear();
    after_.clear();
    emit(self, node);
    std::move(after_.begin(), after_.end(), std::back_inserter(calls_));
    return std::move(calls_);
  }

 protected:
  Call conversion(const Conversion& c) {
    return kernel_call(convert_, [c](const Slots& at) {
      return kernels::Convert{at.at(c.from), c.from_type, at.at(c.to), c.to_type, c.count};
    });
  }

 private:
  void convert_before(const Conversion& c) override { call(conversion(c)); }
  void convert_after(const Conversion& c) override { call_after(conversion(c)); }

  const Kernel<kernels::Convert> convert_;
  std::vector<Call> calls_;
  std::vector<Call> after_;
};

}  // namespace winnow::train
