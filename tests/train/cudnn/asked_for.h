#pragma once

#include <map>
#include <memory>
#include <string>

#include "train/backend/cudnn/device.h"
#include "train/backend/cudnn/kernels.h"

namespace winnow::train::cudnn {

using AllConvolutions = std::map<std::string, ConvolutionDescription>;  // by to_string()

// A device that computes nothing and keeps what it was asked for.
class AskedFor final : public Device {
 public:
  const Card& card() const noexcept override { return card_; }
  std::size_t free_bytes() const override { return 0; }
  Traffic traffic() const noexcept override { return {}; }
  Memory allocate(std::size_t) override {
    return {nullptr, [](std::byte*) {}};
  }
  Memory allocate_host(std::size_t) override {
    return {nullptr, [](std::byte*) {}};
  }
  std::unique_ptr<Stream> make_stream() override { return nullptr; }
  std::unique_ptr<Event> make_event() override { return nullptr; }
  const kernels::Table& kernels() const noexcept override { return table_; }
  std::unique_ptr<Product> make_convolution(const ConvolutionDescription& d,
                                            const std::string*) override {
    convolutions.emplace(to_string(d), d);
    return nullptr;
  }
  std::unique_ptr<Product> make_matmul(const MatmulDescription&) override { return nullptr; }

  AllConvolutions convolutions;

 private:
  Card card_;
  kernels::Table table_{};
};

}  // namespace winnow::train::cudnn
