#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/graph/graph.h"
#include "train/model/model.h"

namespace winnow::train {

// What a net's outputs stand for. The number of an output says nothing by itself: data sets with
// the same classes may have them in another order, and others may have as many.

// As Model::classes has them: to_utf8() of each.
std::vector<std::string> class_names(const std::vector<std::string>& classes);

// The first name that only one of the two has, in quotes with who has it: "'cat', which cache has
// and run has not". Empty: both have the same names, in whatever order.
std::string first_other_class(const std::vector<std::string>& trained, const std::string& run,
                              const std::vector<std::string>& wanted, const std::string& cache);

// Of each name its place in `wanted`, which has the same names. Throws Error for one that it lacks.
std::vector<std::int32_t> places_in(const std::vector<std::string>& names,
                                    const std::vector<std::string>& wanted);

// How the rows of the net's last fully connected layer, whose outputs are the logits, come into
// another order of classes.
struct ClassOrder {
  std::vector<std::int32_t> from;       // of each row that is wanted
  std::vector<std::string> parameters;  // that have these rows
};

// The one from `trained` to `wanted`, which has the same names. Throws UsageError where the net
// ends in anything but such a layer.
ClassOrder find_class_order(const std::vector<std::string>& trained, const Graph& graph,
                            const std::vector<std::string>& wanted);

// Brings `rows`, a parameter of that layer, into the order `from`.
void order_rows(std::vector<float>& rows, const std::vector<std::int32_t>& from);

// Brings the rows of the net's last fully connected layer, whose outputs are the logits, into the
// order of `wanted`, which has the names of model.classes. Before averages are made of them. Throws
// UsageError where the net ends in anything else.
void order_classes(Model& model, const Graph& graph, const std::vector<std::string>& wanted);

// The entry of a safetensors file's metadata that has the names, as a list in JSON, and its reader.
// No names: no entry, and the other way round. What others may mean by such an entry, anything but
// a list of different texts, is no names.
inline constexpr const char* kClassesEntry = "classes";
void add_classes(std::map<std::string, std::string>& metadata,
                 const std::vector<std::string>& classes);
std::vector<std::string> classes_in(const std::map<std::string, std::string>& metadata);

}  // namespace winnow::train
