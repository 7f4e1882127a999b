// The functions of NVIDIA's libcuda and libnvidia-ml that rank_temperature.cpp calls, for a machine
// with three cards. The driver of the last one does not report a temperature.

#include <array>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kCards = 3;
constexpr int kFails = 3;
int opened = 0;
std::array<int, kCards> cards{0, 1, 2};

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? 0 : kFails; }
int cuDeviceGetCount(int* count) {
  *count = kCards;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= kCards) return kFails;
  *device = 100 + ordinal;
  return 0;
}
int cuDeviceGetPCIBusId(char* bus, int size, int device) {
  if (std::snprintf(bus, static_cast<std::size_t>(size), "0000:%d:00.0", device) >= size) {
    return kFails;
  }
  return 0;
}

int nvmlInit_v2() {
  ++opened;
  return 0;
}
int nvmlShutdown() {
  --opened;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** card) {
  for (int& one : cards) {
    std::array<char, 32> own{};
    std::snprintf(own.data(), own.size(), "0000:%d:00.0", 100 + one);
    if (std::strcmp(bus, own.data()) == 0) {
      *card = &one;
      return 0;
    }
  }
  return kFails;
}
int nvmlDeviceGetTemperature(void* card, int sensor, unsigned* degrees) {
  const int number = *static_cast<const int*>(card);
  if (opened < 1 || sensor != 0 || number == kCards - 1) return kFails;
  *degrees = 40 + static_cast<unsigned>(number);
  return 0;
}

}  // extern "C"
