#include <optional>

#include "common/error.h"
#include "train/backend/cudnn/lowering.h"

// Convolutions and linear layers: a library's product, with our own kernels before and after it.
namespace winnow::train::cudnn {
namespace {

constexpr const char* kOwnLoops = "own loops";

std::string name_of(const Layer& layer) {
  return std::string(layer.op) + " " + to_string(layer.description);
}

bool is_linear(const Layer& layer) { return std::string_view(layer.op) == "linear"; }

// Swaps operands: filter passes give (x, dy), but the matrix product takes (dy, x).
class Swapped final : public Product {
 public:
  explicit Swapped(std::unique_ptr<Product> inner) : inner_(std::move(inner)) {}
  std::size_t workspace_bytes() const noexcept override { return inner_->workspace_bytes(); }
  std::string plan() const override { return inner_->plan(); }
  bool uses_tensor_cores() const override { return inner_->uses_tensor_cores(); }
  void run(Stream& stream, const void* a, const void* b, void* result,
           void* workspace) const override {
    inner_->run(stream, b, a, result, workspace);
  }

 private:
  std::unique_ptr<Product> inner_;
};

// A linear layer's pass as a matrix product.
MatmulDescription as_matmul(const ConvolutionDescription& d) {
  const ConvExtents& e = d.extents;
  MatmulDescription m{.type = d.type, .result = d.result, .tf32 = d.tf32};
  switch (d.pass) {
    case Pass::kForward:  // y (N,K) = x (N,C) * w (K,C)^T
      m.m = e.x.n, m.n = e.y.c, m.k = e.x.c, m.transpose_b = true;
      break;
    case Pass::kBackwardData:  // dx (N,C) = dy (N,K) * w (K,C)
      m.m = e.x.n, m.n = e.x.c, m.k = e.y.c;
      break;
    case Pass::kBackwardFilter:  // dw (K,C) = dy (N,K)^T * x (N,C)
      m.m = e.y.c, m.n = e.x.c, m.k = e.x.n, m.transpose_a = true;
      break;
  }
  return m;
}

std::unique_ptr<Product> linear_matmul(Device& device, const ConvolutionDescription& d) {
  std::unique_ptr<Product> product = device.make_matmul(as_matmul(d));
  if (product == nullptr || d.pass != Pass::kBackwardFilter) return product;
  return std::make_unique<Swapped>(std::move(product));
}

}  // namespace

const std::string* CudnnLowering::imposed(const std::string& name) const {
  if (options_.choices == nullptr) return nullptr;
  const auto found = options_.choices->find(name);
  return found == options_.choices->end() ? nullptr : &found->second;
}

template <class Make>
std::unique_ptr<Product> CudnnLowering::chosen(const std::string& name, Make make) const {
  const std::string* wanted = imposed(name);
  if (wanted != nullptr && *wanted == kOwnLoops) return nullptr;
  auto product = make(wanted);
  const std::string made = product == nullptr ? kOwnLoops : product->plan();
  if (wanted != nullptr && made != *wanted) {
    throw Error("the plan computes '" + name + "' by " + *wanted + ", which this card (" +
                device_.card().name + ", cuDNN " + device_.card().cudnn + ") does not offer");
  }
  return product;
}

std::unique_ptr<Product> CudnnLowering::make_product(const Layer& layer) {
  return chosen(name_of(layer), [&](const std::string* wanted) {
    return is_linear(layer) ? linear_matmul(device_, layer.description)
                            : device_.make_convolution(layer.description, wanted);
  });
}

// Matrix products return gradients in f32. One engine of cuDNN 9.19 also does so for bf16
// convolutions, but it takes twenty times as long as those that round to bf16. So convolutions
// round, as PyTorch's autocast does, unless imposed choices say otherwise.
std::unique_ptr<Product> CudnnLowering::make_filter_product(Layer& layer) {
  Layer rounded = layer;
  rounded.description.result = compute();
  layer.description.result = Element::kF32;
  const bool rounds =
      compute() != Element::kF32 && !is_linear(layer) && imposed(name_of(layer)) == nullptr;
  if (rounds) {
    if (auto product = make_product(rounded)) {
      layer = rounded;
      return product;
    }
  }
  return make_product(layer);
}

void CudnnLowering::run_product(std::unique_ptr<Product> product, const Layer& layer, Slot a,
                                Slot b, Slot result) {
  out_.choices[name_of(layer)] = product == nullptr ? kOwnLoops : product->plan();
  if (product == nullptr) {
    const ConvolutionDescription d = layer.description;
    return kernel(table().direct_convolution, [=](const train::Slots& at) {
      return kernels::DirectConvolution{d, at.at(a), at.at(b), at.at(result)};
    });
  }
  run(std::move(product), {a, b, result});
}

void CudnnLowering::run(std::unique_ptr<Product> product, const Operands& o) {
  const Slot workspace = slots().scratch(product->workspace_bytes());
  call([=, at = &slots(), product = std::shared_ptr<Product>(std::move(product))](Stream& stream) {
    product->run(stream, at->at(o.a), at->at(o.b), at->at(o.result), at->at(workspace));
  });
}

void CudnnLowering::matmul(const std::string& name, MatmulDescription description,
                           const Operands& o) {
  description.type = compute();
  description.tf32 = options_.compute == DType::kTf32;
  const std::string whole = name + " " + to_string(description);
  auto product =
      chosen(whole, [&](const std::string*) { return device_.make_matmul(description); });
  out_.choices[whole] = product == nullptr ? kOwnLoops : product->plan();
  if (product != nullptr) return run(std::move(product), o);
  kernel(table().direct_matmul, [=](const train::Slots& at) {
    return kernels::DirectMatmul{description, at.at(o.a), at.at(o.b), at.at(o.result)};
  });
}

CudnnLowering::Call CudnnLowering::pack(Slot from, Slot to, const FilterExtents& f) {
  return kernel_call(table().pack_filter, [=, type = compute()](const train::Slots& at) {
    return kernels::PackFilter{at.as<float>(from), at.at(to), type, f.k, f.c, f.r, f.s};
  });
}

CudnnLowering::Slot CudnnLowering::filter(ValueId id, const FilterExtents& extents) {
  const Slot source = read(id, Element::kF32);
  const std::size_t bytes = static_cast<std::size_t>(extents.count()) * bytes_of(compute());
  if (!is_weight(id)) {
    const Slot packed = slots().scratch(bytes);
    call(pack(source, packed, extents));
    return packed;
  }
  for (const auto& [packed_id, slot] : packed_) {
    if (packed_id == id) return slot;
  }
  const Slot packed = slots().shared(bytes);
  out_.load.push_back(pack(source, packed, extents));
  packed_.emplace_back(id, packed);
  return packed;
}

void CudnnLowering::layer(const Layer& layer) {
  switch (layer.operands.pass) {
    case Pass::kForward:
      return forward(layer);
    case Pass::kBackwardData:
      return backward_data(layer);
    case Pass::kBackwardFilter:
      return backward_filter(layer);
  }
}

// With a bias, the sum is rounded once, including the bias. So the product must keep its full
// precision; otherwise our own loops are used.
void CudnnLowering::forward(Layer layer) {
  const LayerOperands& o = layer.operands;
  const Slot x = read(o.data, compute());
  const Slot w = filter(o.weight, layer.filter);
  const Slot y = write(o.result, compute());
  if (o.bias < 0) return run_product(make_product(layer), layer, x, w, y);
  layer.description.result = Element::kF32;
  const Slot sum = compute() == Element::kF32 ? y : scratch(o.result, Element::kF32);
  run_product(make_product(layer), layer, x, w, sum);
  const Slot bias = read(o.bias, Element::kF32);
  const ImageExtents extents = image_extents(value(o.result).shape);
  kernel(table().add_bias, [=](const train::Slots& at) {
    return kernels::AddBias{Element::kF32, at.at(sum), at.as<float>(bias), extents.rows(),
                            extents.c};
  });
  if (sum != y) call(conversion({sum, Element::kF32, y, compute(), count(o.result)}));
}

void CudnnLowering::backward_data(const Layer& layer) {
  const Slot dy = read(layer.operands.result, compute());
  const Slot w = filter(layer.operands.weight, layer.filter);
  const Slot dx = write(layer.operands.data, compute());
  run_product(make_product(layer), layer, dy, w, dx);
}

void CudnnLowering::backward_filter(Layer layer) {
  const LayerOperands& o = layer.operands;
  const Slot x = read(o.data, compute());
  const Slot dy = read(o.result, compute());
  std::unique_ptr<Product> product = make_filter_product(layer);
  const FilterExtents f = layer.filter;
  const Element type = layer.description.result;
  const Slot packed = slots().scratch(static_cast<std::size_t>(f.count()) * bytes_of(type));
  const Slot dw = write(o.weight, Element::kF32);
  run_product(std::move(product), layer, x, dy, packed);
  kernel(table().unpack_filter, [=](const train::Slots& at) {
    return kernels::UnpackFilter{at.at(packed), type, at.as<float>(dw), f.k, f.c, f.r, f.s};
  });
  if (o.bias < 0) return;
  const ImageExtents extents = image_extents(value(o.result).shape);
  const Slot dbias = write(o.bias, Element::kF32);
  const Slot sums = sums_scratch(extents);
  kernel(table().bias_gradient, [=, compute = compute()](const train::Slots& at) {
    return kernels::BiasGradient{compute,        at.at(dy), at.as<float>(dbias),
                                 extents.rows(), extents.c, at.at(sums)};
  });
}

}  // namespace winnow::train::cudnn
