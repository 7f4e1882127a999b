#include <array>
#include <string>

#include "train/backend/cudnn/cudnn_descriptor_internal.h"
#include "train/backend/cudnn/device_errors.h"

namespace winnow::train::cudnn {
namespace {

std::string words_of(cudnnStatus_t status) {
  std::array<char, 512> more{};
  cudnnGetLastErrorString(more.data(), more.size());
  const std::string words = std::string("cuDNN says ") + cudnnGetErrorString(status);
  return more[0] == '\0' ? words : words + " (" + one_line(more.data()) + ")";
}

}  // namespace

CudnnError::CudnnError(cudnnStatus_t status, std::string_view what)
    : Error(call_failed(what, words_of(status))), status_(status) {}

// Excludes errors of cuDNN's initialisation (1...) and of the GPU (5...).
bool CudnnError::is_unsupported() const noexcept {
  const int kind = CUDNN_STATUS_CATEGORY(static_cast<int>(status_));
  return kind >= 2000 && kind < 5000;
}

void check(cudnnStatus_t status, std::string_view what) {
  if (status != CUDNN_STATUS_SUCCESS) throw CudnnError(status, what);
}

void DestroyHandle::operator()(cudnnContext* handle) const noexcept { cudnnDestroy(handle); }

CudnnHandle make_cudnn_handle() {
  cudnnHandle_t handle = nullptr;
  check(cudnnCreate(&handle), "start cuDNN");
  return CudnnHandle(handle);
}

void Descriptor::Destroy::operator()(cudnnBackendDescriptor_t descriptor) const noexcept {
  cudnnBackendDestroyDescriptor(descriptor);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  check(cudnnBackendCreateDescriptor(type, &descriptor), "make a descriptor of cuDNN");
  descriptor_.reset(descriptor);
}

void Descriptor::set_raw(Name name, cudnnBackendAttributeType_t type, std::size_t count,
                         const void* values) {
  check(cudnnBackendSetAttribute(native(), name, type, static_cast<std::int64_t>(count), values),
        "describe a convolution to cuDNN");
}

void Descriptor::finalize() { check(cudnnBackendFinalize(native()), "plan a convolution"); }

std::size_t Descriptor::count(Name name, cudnnBackendAttributeType_t type) const {
  return get_raw(name, type, 0, nullptr);
}

std::size_t Descriptor::get_raw(Name name, cudnnBackendAttributeType_t type, std::size_t room,
                                void* values) const {
  std::int64_t count = 0;
  check(cudnnBackendGetAttribute(native(), name, type, static_cast<std::int64_t>(room), &count,
                                 values),
        "ask cuDNN about a convolution");
  return static_cast<std::size_t>(count);
}

std::int64_t Descriptor::get(Name name) const {
  std::int64_t value = 0;
  get_raw(name, CUDNN_TYPE_INT64, 1, &value);
  return value;
}

// cuDNN fills descriptors that must exist already.
std::vector<Descriptor> Descriptor::get_descriptors(Name name,
                                                    cudnnBackendDescriptorType_t type) const {
  std::vector<Descriptor> owned;
  std::vector<cudnnBackendDescriptor_t> raw;
  const std::size_t room = count(name, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  for (std::size_t i = 0; i < room; ++i) raw.push_back(owned.emplace_back(type).native());
  const std::size_t got = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, raw.data());
  owned.erase(owned.begin() + static_cast<std::ptrdiff_t>(got), owned.end());
  return owned;
}

}  // namespace winnow::train::cudnn
