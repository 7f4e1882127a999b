#include "python/core/group.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/comm/exchange.h"
#include "common/error.h"
#include "python/core/bind.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

// Whether threads may still take the interpreter's lock. While the interpreter ends, that would end
// the thread, or never return.
struct Gate {
  std::shared_mutex mutex;
  bool closed = false;
};
Gate& gate() {
  static Gate of_process;
  return of_process;
}

// Runs `work` with the interpreter's lock held, from any thread. Returns false, without running it,
// if the lock must not be taken any more. Python exceptions become SystemError, described by `what`
// and `who`.
template <class Work>
bool with_interpreter(const std::string& what, const std::string& who, const Work& work) {
  std::optional<std::string> raised;
  {
    const std::shared_lock open(gate().mutex);
    if (gate().closed) return false;
    const nb::gil_scoped_acquire lock;
    try {
      work();
    } catch (const nb::python_error& error) {
      raised = nb::str(error.value()).c_str();
    }
  }
  if (!raised) return true;
  throw SystemError(what + " by " + who + " failed: " + raised->substr(0, raised->find('\n')) +
                    "; start the job again from its last state");
}

template <class Work>
void ask(const std::string& what, const std::string& who, const Work& work) {
  if (!with_interpreter(what, who, work)) throw Error("the interpreter is ending");
}

// From any thread. After the end of the interpreter the object is leaked.
void give_up(PyObject* object) noexcept {
  try {
    with_interpreter("", "", [&] { nb::handle(object).dec_ref(); });
  } catch (const std::exception&) {
    // It is leaked as well.
  }
}

// An object that may be released on any thread.
class Held {
 public:
  explicit Held(nb::object object) : object_(object.release().ptr()) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { give_up(object_); }
  nb::handle get() const noexcept { return object_; }

 private:
  PyObject* object_;
};

// Elements that Python may write until its operation ends.
template <class T>
nb::object array_over(std::span<T> values) {
  static T none{};
  T* const data = values.empty() ? &none : values.data();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {values.size()}, nb::none()));
}

nb::object bytes_over(std::span<const std::byte> bytes) {
  auto* const data = const_cast<std::byte*>(bytes.data());  // data to send is only read
  return array_over(std::span(reinterpret_cast<std::uint8_t*>(data), bytes.size()));
}

nb::object sizes_of(std::span<const std::size_t> offsets) {
  nb::list sizes;
  for (std::size_t i = 1; i < offsets.size(); ++i) sizes.append(offsets[i] - offsets[i - 1]);
  return sizes;
}

void wait_for(const Held& work, const std::string& who) {
  constexpr std::chrono::microseconds kLongest{2000};
  std::chrono::microseconds pause{50};
  while (true) {
    bool done = false;
    const bool open = with_interpreter("the exchange of samples", who, [&] {
      done = nb::cast<bool>(work.get().attr("is_completed")());
      if (done) work.get().attr("wait")();  // raises its exception
    });
    if (done) return;
    if (!open) pause = std::chrono::hours(1);  // sleep again and again until the process ends
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

[[noreturn]] void refuse() {
  throw Error("ranks of Python can only share a cache; other collectives are not supported");
}

int local_of(const comm::Placement& placement, int below) noexcept {
  const auto me = placement.node_of[static_cast<std::size_t>(placement.rank)];
  return static_cast<int>(
      std::count(placement.node_of.begin(), placement.node_of.begin() + below, me));
}

}  // namespace

Group::Group(nb::object group)
    : name_(nb::cast<std::string>(group.attr("name"))),
      placement_{.rank = nb::cast<int>(group.attr("rank")),
                 .node_of = nb::cast<std::vector<int>>(group.attr("machines"))} {
  group_ = group.release().ptr();
}

Group::~Group() { give_up(group_); }

int Group::local_rank() const noexcept { return local_of(placement_, rank()); }
int Group::local_size() const noexcept { return local_of(placement_, size()); }

comm::Pending Group::start(const comm::Collective& what, std::span<const comm::Transfer>) {
  const bool is_known = what.task == comm::Task::kAllReduce &&
                        what.buffer.type == comm::ElementType::kI32 &&
                        what.reduction == comm::Reduction::kMax;
  if (!is_known) refuse();
  comm::visit(what.buffer, [&]<class T>(std::span<T> buffer) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      ask("a maximum over ranks", name_,
          [&] { nb::handle(group_).attr("maximum")(array_over(buffer)); });
    }
  });
  return {};
}

comm::Pending Group::start(std::span<float>, const comm::HierarchicalParts&, comm::Wire) {
  refuse();
}

comm::Pending Group::start_all_to_all(std::span<const std::byte> out,
                                      std::span<const std::size_t> out_offsets,
                                      std::span<std::byte> in,
                                      std::span<const std::size_t> in_offsets,
                                      const comm::ScheduleOptions&) {
  const comm::Exchange exchange{out, out_offsets, in, in_offsets};
  comm::check_exchange(size(), exchange);
  comm::copy_part_kept(rank(), exchange);
  std::shared_ptr<Held> work;
  ask("the exchange of samples", name_, [&] {
    work = std::make_shared<Held>(nb::handle(group_).attr("exchange")(
        bytes_over(out), sizes_of(out_offsets), bytes_over(in), sizes_of(in_offsets)));
  });
  return comm::Pending([work, who = name_] { wait_for(*work, who); });
}

void Group::all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                       std::span<std::byte> in, std::span<const std::size_t> in_offsets) {
  start_all_to_all(out, out_offsets, in, in_offsets, {}).wait();
}

void Group::use_checksums(bool use) {
  if (use) refuse();
}

void Group::all_reduce(std::span<double> buffer) {
  ask("a sum over ranks", name_, [&] { nb::handle(group_).attr("sum")(array_over(buffer)); });
}

void Group::all_reduce(std::span<std::uint64_t> buffer) {
  // torch sums signed integers, which gives the same bits.
  const std::span as_signed(reinterpret_cast<std::int64_t*>(buffer.data()), buffer.size());
  ask("a sum over ranks", name_, [&] { nb::handle(group_).attr("sum")(array_over(as_signed)); });
}

void Group::broadcast(std::span<std::byte> buffer, int root) {
  ask("a broadcast", name_,
      [&] { nb::handle(group_).attr("broadcast")(bytes_over(buffer), root); });
}

void Group::barrier() {
  std::uint64_t nothing = 0;
  all_reduce(std::span(&nothing, 1));
}

void Group::library_all_reduce(const comm::Elements&) { refuse(); }

comm::Communicator::Arrival Group::start_barrier() { refuse(); }

void Group::abort(int exit_code) noexcept {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

void bind_group(nb::module_& core) {
  // Must be called when the interpreter ends.
  core.def(
      "end_groups",
      [] {
        const std::unique_lock alone(gate().mutex);
        gate().closed = true;
      },
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace winnow::python
