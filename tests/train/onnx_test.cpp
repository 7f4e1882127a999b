#include "train/onnx/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "datasets/wire.h"
#include "tests/train/net_options.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::onnx_test {

using datasets::WireField;
using datasets::WireReader;
using testing::ElementsAre;
using testing::HasSubstr;

struct Node {
  std::string type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<std::int64_t>> integers;
};
struct Tensor {
  std::vector<std::int64_t> shape;
  std::uint64_t type = 0;
  std::string data;
};
// The contents of a file, read by the field numbers of onnx.proto.
struct Read {
  std::uint64_t ir_version = 0;
  std::uint64_t operators = 0;
  std::vector<Node> nodes;
  std::map<std::string, Tensor> tensors;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::string> metadata;
};

class Reader {
 public:
  explicit Reader(BytesView bytes) : bytes_(bytes), look_(datasets::look_into(bytes)) {}

  Read read() {
    Read out;
    each({0, bytes_.size()}, [&](const WireField& field) {
      if (field.number == 1) out.ir_version = field.value;
      if (field.number == 8) {
        each(field.range, [&](const WireField& f) {
          if (f.number == 2) out.operators = f.value;
        });
      }
      if (field.number == 14) {
        const auto entry = texts(field.range);
        out.metadata[entry.at(1).front()] = entry.at(2).front();
      }
      if (field.number == 7) graph(field.range, out);
    });
    return out;
  }

 private:
  void graph(datasets::WireRange range, Read& out) {
    each(range, [&](const WireField& field) {
      if (field.number == 1) out.nodes.push_back(node(field.range));
      if (field.number == 5) {
        Tensor tensor;
        std::string name;
        each(field.range, [&](const WireField& f) {
          if (f.number == 1) tensor.shape.push_back(static_cast<std::int64_t>(f.value));
          if (f.number == 2) tensor.type = f.value;
          if (f.number == 8) name = text(f.range);
          if (f.number == 9) tensor.data = text(f.range);
        });
        EXPECT_TRUE(out.tensors.emplace(name, tensor).second) << name;
      }
      if (field.number == 11) out.inputs.push_back(texts(field.range).at(1).front());
      if (field.number == 12) out.outputs.push_back(texts(field.range).at(1).front());
    });
  }

  Node node(datasets::WireRange range) {
    Node out;
    each(range, [&](const WireField& field) {
      if (field.number == 1) out.inputs.push_back(text(field.range));
      if (field.number == 2) out.outputs.push_back(text(field.range));
      if (field.number == 4) out.type = text(field.range);
      if (field.number != 5) return;
      std::string name;
      std::vector<std::int64_t> integers;
      each(field.range, [&](const WireField& f) {
        if (f.number == 1) name = text(f.range);
        if (f.number == 3 || f.number == 8) integers.push_back(static_cast<std::int64_t>(f.value));
      });
      out.integers[name] = integers;
    });
    return out;
  }

  std::map<std::uint64_t, std::vector<std::string>> texts(datasets::WireRange range) {
    std::map<std::uint64_t, std::vector<std::string>> out;
    each(range, [&](const WireField& field) {
      if (field.is_range) out[field.number].push_back(text(field.range));
    });
    return out;
  }

  std::string text(datasets::WireRange range) const {
    return std::string(as_text(bytes_.subspan(range.begin, range.size)));
  }

  void each(datasets::WireRange range, const auto& use) {
    WireReader reader(look_, range);
    WireField field;
    while (reader.next(field)) use(field);
    EXPECT_FALSE(reader.bad());
  }

  BytesView bytes_;
  datasets::Look look_;
};

Read written(const Graph& graph, const std::map<std::string, std::string>& metadata = {}) {
  std::map<std::string, std::vector<float>> tensors;
  const TensorOf tensor_of = [&](const std::string& name) {
    const auto size = element_count(graph.value(graph.find(name)).shape);
    auto& data = tensors[name];
    data.assign(static_cast<std::size_t>(size), 1 + static_cast<float>(tensors.size()));
    return std::span<const float>(data);
  };
  Bytes bytes;
  write_onnx(graph, tensor_of, metadata,
             [&](BytesView piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  Read read = Reader(bytes).read();
  for (const auto& [name, data] : tensors) {
    EXPECT_EQ(read.tensors.at(name).shape, graph.value(graph.find(name)).shape) << name;
    EXPECT_EQ(read.tensors.at(name).type, 1U);
    EXPECT_EQ(read.tensors.at(name).data, as_text(as_bytes(data))) << name;
  }
  return read;
}

Graph inference_graph(std::string_view net, int side_px) {
  return for_inference(fuse(find_net(net).make(square_images(side_px))));
}

// ONNX demands that nodes are in the order of computation and that names are unique.
TEST(Onnx, HasEveryNetWithAllItsTensors) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    const Graph graph = inference_graph(net.name, 64);
    const Read read = written(graph);
    std::set<std::string> known(read.inputs.begin(), read.inputs.end());
    for (const auto& [name, tensor] : read.tensors) EXPECT_TRUE(known.insert(name).second) << name;
    for (const Node& node : read.nodes) {
      for (const std::string& input : node.inputs) EXPECT_TRUE(known.contains(input)) << input;
      ASSERT_EQ(node.outputs.size(), 1U);
      EXPECT_TRUE(known.insert(node.outputs[0]).second) << node.outputs[0];
    }
    EXPECT_THAT(read.inputs, ElementsAre("pixels"));
    EXPECT_THAT(read.outputs, ElementsAre("logits"));
    EXPECT_TRUE(known.contains("logits"));
    for (const ValueKind kind : {ValueKind::kParameter, ValueKind::kBuffer}) {
      for (const ValueId id : graph.of_kind(kind)) {
        EXPECT_TRUE(read.tensors.contains(graph.value(id).name)) << graph.value(id).name;
      }
    }
  }
}

TEST(Onnx, SaysItsVersionsAndWhatItIsGiven) {
  const Read read = written(inference_graph("lenet", 28), {{"classes", "[\"a\"]"}});
  EXPECT_EQ(read.ir_version, 8U);
  EXPECT_EQ(read.operators, 17U);
  EXPECT_EQ(read.metadata, (std::map<std::string, std::string>{{"classes", "[\"a\"]"}}));
}

// 224 pixels, kernel 7, stride 2, padding 3: 112 windows, of which the last ends 2 beyond the
// image.
TEST(Onnx, LeavesNoRoundingOfWindowsToOthers) {
  const Read read = written(inference_graph("resnet18", 224));
  const auto conv = std::ranges::find(read.nodes, std::string("Conv"), &Node::type);
  ASSERT_NE(conv, read.nodes.end());
  EXPECT_THAT(conv->integers.at("kernel_shape"), ElementsAre(7, 7));
  EXPECT_THAT(conv->integers.at("strides"), ElementsAre(2, 2));
  EXPECT_THAT(conv->integers.at("pads"), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(conv->integers.at("group"), ElementsAre(1));
}

TEST(Onnx, RefusesWhatIsOfTrainingAlone) {
  const Graph graph = fuse(find_net("resnet20").make(square_images(32)));
  try {
    write_onnx(
        graph, [](const std::string&) { return std::span<const float>(); }, {},
        [](BytesView) { FAIL() << "nothing is to be written"; });
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("batch_norm"));
  }
}

}  // namespace winnow::train::onnx_test
