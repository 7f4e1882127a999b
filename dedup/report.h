#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/sample.h"
#include "dedup/deduplicate.h"

namespace winnow::dedup {

// A Result in words. Pure functions of what deduplicate was given (of the table, ids, splits and
// labels) and gave.

// What people call a sample, usually its path in the source. Called once or twice a line.
using NameOf = std::function<std::string(SampleId)>;
// Takes a text a line at a time.
using TextSink = std::function<void(std::string_view)>;

// CSV with the header id,name,split,labels,group,kept_id,kept_name,distance,rule, one line a
// removed sample, in id order. Fields are quoted as RFC 4180 has it where they must be, lines end
// in "\n", labels are separated by spaces, names are given byte for byte.
void csv_of_removed(const Result& result, const Fingerprints& table, const NameOf& name_of,
                    const TextSink& out);

// The same for every member of every group, kept or removed, group after group.
void csv_of_groups(const Result& result, const Fingerprints& table, const NameOf& name_of,
                   const TextSink& out);

// One JSON object, schema "winnow.dedup/1": schema, hash, threshold, groups, removed, kept,
// conflicts, and leaks as an array of {a, b, groups, samples}.
std::string json_summary(const Result& result, const Options& options);

}  // namespace winnow::dedup
