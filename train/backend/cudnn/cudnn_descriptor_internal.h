#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

// Typed, owning wrappers of cuDNN's backend API, in which every object is a descriptor with
// attributes.
namespace winnow::train::cudnn {

class CudnnError : public Error {
 public:
  CudnnError(cudnnStatus_t status, std::string_view what);
  // Whether cuDNN works, but rejects or does not support this request.
  bool is_unsupported() const noexcept;

 private:
  cudnnStatus_t status_;
};

void check(cudnnStatus_t status, std::string_view what);

struct DestroyHandle {
  void operator()(cudnnContext* handle) const noexcept;
};
using CudnnHandle = std::unique_ptr<cudnnContext, DestroyHandle>;
CudnnHandle make_cudnn_handle();  // handle for the GPU that is current in this thread

template <class T>
struct AttributeType;
template <>
struct AttributeType<cudnnHandle_t> {
  static constexpr auto kValue = CUDNN_TYPE_HANDLE;
};
template <>
struct AttributeType<cudnnDataType_t> {
  static constexpr auto kValue = CUDNN_TYPE_DATA_TYPE;
};
template <>
struct AttributeType<cudnnConvolutionMode_t> {
  static constexpr auto kValue = CUDNN_TYPE_CONVOLUTION_MODE;
};
template <>
struct AttributeType<cudnnBackendHeurMode_t> {
  static constexpr auto kValue = CUDNN_TYPE_HEUR_MODE;
};
template <>
struct AttributeType<cudnnBackendNumericalNote_t> {
  static constexpr auto kValue = CUDNN_TYPE_NUMERICAL_NOTE;
};
template <>
struct AttributeType<std::int64_t> {
  static constexpr auto kValue = CUDNN_TYPE_INT64;
};
template <>
struct AttributeType<float> {
  static constexpr auto kValue = CUDNN_TYPE_FLOAT;
};
template <>
struct AttributeType<char> {
  static constexpr auto kValue = CUDNN_TYPE_CHAR;
};
template <>
struct AttributeType<cudnnBackendDescriptor_t> {
  static constexpr auto kValue = CUDNN_TYPE_BACKEND_DESCRIPTOR;
};

// A cuDNN backend descriptor. Every function throws CudnnError.
class Descriptor {
 public:
  using Name = cudnnBackendAttributeName_t;

  explicit Descriptor(cudnnBackendDescriptorType_t type);

  cudnnBackendDescriptor_t native() const noexcept { return descriptor_.get(); }

  template <class T>
  Descriptor& set_array(Name name, std::span<const T> values) {
    set_raw(name, AttributeType<T>::kValue, values.size(), values.data());
    return *this;
  }
  template <class T>
  Descriptor& set(Name name, const T& value) {
    return set_array(name, std::span<const T>(&value, 1));
  }
  // Refers to `value` without owning it. It must live until finalize().
  Descriptor& set(Name name, const Descriptor& value) { return set(name, value.native()); }
  Descriptor& set_pointers(Name name, std::span<void* const> values) {
    set_raw(name, CUDNN_TYPE_VOID_PTR, values.size(), values.data());
    return *this;
  }

  void finalize();

  template <class T>
  std::vector<T> get_array(Name name) const {
    std::vector<T> values(count(name, AttributeType<T>::kValue));
    const std::size_t got = get_raw(name, AttributeType<T>::kValue, values.size(), values.data());
    values.resize(got);
    return values;
  }
  std::int64_t get(Name name) const;
  // Returns the descriptors stored as attribute `name`, all of type `type`.
  std::vector<Descriptor> get_descriptors(Name name, cudnnBackendDescriptorType_t type) const;

 private:
  struct Destroy {
    void operator()(cudnnBackendDescriptor_t descriptor) const noexcept;
  };

  void set_raw(Name name, cudnnBackendAttributeType_t type, std::size_t count, const void* values);
  std::size_t count(Name name, cudnnBackendAttributeType_t type) const;
  std::size_t get_raw(Name name, cudnnBackendAttributeType_t type, std::size_t room,
                      void* values) const;

  std::unique_ptr<void, Destroy> descriptor_;
};

}  // namespace winnow::train::cudnn
