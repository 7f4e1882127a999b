#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/backend/cudnn/device.h"

// Wrappers of the device that the suite runs on.
namespace winnow::gpu {

// Forwards everything to the inner device.
class AroundDevice : public train::cudnn::Device {
 public:
  explicit AroundDevice(std::shared_ptr<Device> inner) : inner_(std::move(inner)) {}

  const train::cudnn::Card& card() const noexcept override { return inner_->card(); }
  train::cudnn::Memory allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  train::cudnn::Memory allocate_host(std::size_t bytes) override {
    return inner_->allocate_host(bytes);
  }
  std::size_t free_bytes() const override { return inner_->free_bytes(); }
  train::cudnn::Traffic traffic() const noexcept override { return inner_->traffic(); }
  std::unique_ptr<train::cudnn::Stream> make_stream() override { return inner_->make_stream(); }
  std::unique_ptr<train::cudnn::Event> make_event() override { return inner_->make_event(); }
  const train::cudnn::kernels::Table& kernels() const noexcept override {
    return inner_->kernels();
  }
  std::unique_ptr<train::cudnn::Product> make_convolution(
      const train::cudnn::ConvolutionDescription& description, const std::string* plan) override {
    return inner_->make_convolution(description, plan);
  }
  std::unique_ptr<train::cudnn::Product> make_matmul(
      const train::cudnn::MatmulDescription& description) override {
    return inner_->make_matmul(description);
  }

 private:
  std::shared_ptr<Device> inner_;
};

// A device without libraries: own kernels compute everything.
class OwnKernels final : public AroundDevice {
 public:
  using AroundDevice::AroundDevice;
  std::unique_ptr<train::cudnn::Product> make_convolution(
      const train::cudnn::ConvolutionDescription&, const std::string*) override {
    return nullptr;
  }
  std::unique_ptr<train::cudnn::Product> make_matmul(
      const train::cudnn::MatmulDescription&) override {
    return nullptr;
  }
};

// A product that a program asked for, and the plan it got.
struct MadeProduct {
  std::string layer;  // "forward tf32 n4 c64 ..."
  std::string plan;   // "cudnn engine 46"; "own loops" if the library has none
  bool tensor_cores = false;
};

// Records the products that programs are compiled with. One thread at a time.
class RecordingDevice final : public AroundDevice {
 public:
  using AroundDevice::AroundDevice;
  std::unique_ptr<train::cudnn::Product> make_convolution(
      const train::cudnn::ConvolutionDescription& description, const std::string* plan) override {
    return kept(train::cudnn::to_string(description),
                AroundDevice::make_convolution(description, plan));
  }
  std::unique_ptr<train::cudnn::Product> make_matmul(
      const train::cudnn::MatmulDescription& description) override {
    return kept(train::cudnn::to_string(description), AroundDevice::make_matmul(description));
  }
  // Returns the products made since the last call.
  std::vector<MadeProduct> take() { return std::exchange(made_, {}); }

 private:
  std::unique_ptr<train::cudnn::Product> kept(std::string layer,
                                              std::unique_ptr<train::cudnn::Product> product) {
    made_.push_back({std::move(layer), product == nullptr ? "own loops" : product->plan(),
                     product != nullptr && product->uses_tensor_cores()});
    return product;
  }

  std::vector<MadeProduct> made_;
};

}  // namespace winnow::gpu
