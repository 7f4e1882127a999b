#include "train/run/log/rank_temperature.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "common/unique_handle.h"

namespace winnow::train {
namespace {

struct LibraryTraits {
  using Raw = void*;
  static Raw null() noexcept { return nullptr; }
  static void close(Raw library) noexcept { ::dlclose(library); }
};
using Library = UniqueHandle<LibraryTraits>;

// A function of a library that returns 0 on success.
template <class... Arguments>
class Function {
 public:
  Function(const Library& library, const char* name)
      : at_(library ? reinterpret_cast<int (*)(Arguments...)>(::dlsym(library.get(), name))
                    : nullptr) {}
  bool operator()(Arguments... arguments) const { return at_ != nullptr && at_(arguments...) == 0; }

 private:
  int (*at_)(Arguments...);
};

// The bus address of a GPU; empty if there is none.
std::array<char, 32> bus_of(int card) {
  std::array<char, 32> bus{};
  const Library cuda(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
  const Function<unsigned> init(cuda, "cuInit");
  const Function<int*> count_cards(cuda, "cuDeviceGetCount");
  const Function<int*, int> find_card(cuda, "cuDeviceGet");
  const Function<char*, int, int> get_bus(cuda, "cuDeviceGetPCIBusId");
  int cards = 0;
  int found = 0;
  const bool is_there = init(0) && count_cards(&cards) && cards > 0 &&
                        find_card(&found, card % cards) &&
                        get_bus(bus.data(), static_cast<int>(bus.size()), found);
  return is_there ? bus : std::array<char, 32>{};
}

// The driver's sensor library, and one GPU in it.
class Card {
 public:
  explicit Card(const char* bus) {
    const Function<> init(library_, "nvmlInit_v2");
    const Function<const char*, void**> find(library_, "nvmlDeviceGetHandleByPciBusId_v2");
    is_open_ = init();
    if (is_open_ && !find(bus, &card_)) card_ = nullptr;
  }
  ~Card() {
    if (is_open_) Function<>(library_, "nvmlShutdown")();
  }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  std::optional<double> temperature() const {
    constexpr int kOfTheChip = 0;
    unsigned degrees = 0;
    if (card_ == nullptr || !read_(card_, kOfTheChip, &degrees)) return std::nullopt;
    return degrees;
  }

 private:
  const Library library_{::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
  const Function<void*, int, unsigned*> read_{library_, "nvmlDeviceGetTemperature"};
  bool is_open_ = false;
  void* card_ = nullptr;
};

}  // namespace

Thermometer open_thermometer(int card) {
  const std::array<char, 32> bus = bus_of(card);
  if (bus[0] == '\0') return [] { return std::optional<double>(); };
  return [opened = std::make_shared<const Card>(bus.data())] { return opened->temperature(); };
}

}  // namespace winnow::train
