#include "train/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/error.h"

namespace winnow::train {
namespace {

using Json = nlohmann::ordered_json;

std::size_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return 0;
}

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

}  // namespace

NamedTensor make_f32(std::string name, Shape shape, std::span<const float> values) {
  const auto raw = std::as_bytes(values);
  return {std::move(name), "F32", std::move(shape), Bytes(raw.begin(), raw.end())};
}

NamedTensor make_i64(std::string name, std::int64_t value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  return {std::move(name), "I64", {}, Bytes(raw.begin(), raw.end())};
}

std::vector<float> f32_values(const NamedTensor& tensor) {
  if (tensor.dtype != "F32") {
    throw FormatError("tensor " + tensor.name + " is " + tensor.dtype + ", but F32 is needed here");
  }
  std::vector<float> values(tensor.data.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

Bytes to_safetensors(std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const NamedTensor& t : tensors) {
    header[t.name] = {
        {"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, offset + t.data.size()}}};
    offset += t.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data begins aligned
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(text.size()));
  out.put_text(text);
  for (const NamedTensor& t : tensors) out.put_bytes(t.data);
  return std::move(out).take();
}

std::vector<NamedTensor> parse_safetensors(BytesView bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  const auto header_bytes = reader.get<std::uint64_t>();
  if (header_bytes > kMaxHeaderBytes) {
    throw FormatError(where + " is not a safetensors file: its header would be too large");
  }
  const BytesView header_text = reader.get_bytes(static_cast<std::size_t>(header_bytes));
  const BytesView data = reader.get_bytes(reader.remaining());
  struct Row {
    std::size_t begin;
    NamedTensor tensor;
  };
  std::vector<Row> rows;
  try {
    const Json header = Json::parse(as_text(header_text));
    for (const auto& [name, row] : header.items()) {
      if (name == "__metadata__") continue;
      NamedTensor t{name, row.at("dtype"), row.at("shape").get<Shape>(), {}};
      const auto begin = row.at("data_offsets").at(0).get<std::uint64_t>();
      const auto end = row.at("data_offsets").at(1).get<std::uint64_t>();
      const std::size_t width = element_bytes(t.dtype);
      std::uint64_t expected = width;
      for (const std::int64_t extent : t.shape) {
        const bool sane =
            extent >= 0 &&
            (extent == 0 || expected <= data.size() / static_cast<std::uint64_t>(extent));
        if (!sane) throw FormatError(where + ": tensor " + name + " has an impossible shape");
        expected *= static_cast<std::uint64_t>(extent);
      }
      if (width == 0 || begin > end || end > data.size() || end - begin != expected) {
        throw FormatError(where + ": tensor " + name +
                          " does not fit its file: it is damaged or cut short");
      }
      const BytesView part = data.subspan(begin, end - begin);
      t.data.assign(part.begin(), part.end());
      rows.push_back({begin, std::move(t)});
    }
  } catch (const nlohmann::json::exception&) {
    throw FormatError(where + " is not a safetensors file: its header cannot be read");
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.begin < b.begin; });
  std::size_t at = 0;
  std::vector<NamedTensor> tensors;
  for (Row& row : rows) {
    if (row.begin != at) throw FormatError(where + ": the tensors overlap or leave holes");
    at += row.tensor.data.size();
    tensors.push_back(std::move(row.tensor));
  }
  if (at != data.size()) throw FormatError(where + ": bytes are left over behind the tensors");
  return tensors;
}

}  // namespace winnow::train
