#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/sample.h"
#include "dedup/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// A Result in words. Pure functions of what deduplicate was given (of the table, ids, splits and
// labels) and gave.

// What people call a sample, usually its path in the source. Called once or twice a line.
using NameOf = std::function<std::string(SampleId)>;
// Takes a text a line at a time.
using TextSink = std::function<void(std::string_view)>;

// Why one row stays for another that goes, in words (reason_of_choice).
using ReasonOf = std::function<std::string(std::uint32_t kept, std::uint32_t row)>;
// Holds the columns that the policy judges by, but no codes.
ReasonOf reasons_of(const ColumnSource& columns, const Policy& policy);

// One line a row. CSV begins with a header, fields are quoted as RFC 4180 has it where they must
// be, lines end in "\n", labels are separated by spaces, names are given byte for byte. JSON lines
// are objects with the header's words as keys, labels are arrays, names are as to_utf8 has them.
enum class ListForm { kCsv, kJsonLines };

struct ListTo {
  ListForm form;
  TextSink out;
};

// What pictures told: pairs, sorted by rows. None: they were not compared.
using ToldPairs = std::span<const VerifiedPair>;

// The removed samples in id order, with the number of their group in the selection:
// id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,
// because (empty where no other image stands for the row), then probability (that both show one
// picture),transformation (what was done to the kept one to get this), both empty where pictures
// did not tell. Where they did, `table` has widths_px and heights_px, too.
void list_removed(const Result& result, const Fingerprints& table, ToldPairs told,
                  const NameOf& name_of, const ReasonOf& because, const ListTo& to);

// Every member of every group, removed or not, group after group: the same fields, but with the
// number of the group in this list, for it may be part of one of the selection; before the last two
// weight,used_in (the split),diameter,chain (of the group; see GroupShape).
void list_groups(const Result& result, const Fingerprints& table, ToldPairs told,
                 const NameOf& name_of, const ReasonOf& because, const ListTo& to);

// All pairs of linked samples, in the order of their ids; those of one code too, so that n equal
// images are n * (n - 1) / 2 lines:
// id,name,split,labels,other_id,other_name,other_split,other_labels,distance (true, also beyond the
// threshold where pictures told); of features also cosine; of pictures also
// probability,transformation (what was done to the first to get the other), both empty where these
// did not tell.
// Of one split under kWithin, of two under kAcross. Beside the links it holds two columns of
// `columns`, as deduplicate does; `table` as above.
void list_pairs(const ColumnSource& columns, const Options& options, const ToldLinks& links,
                const Fingerprints& table, const NameOf& name_of, const ListTo& to);

// The samples of too little quality for the codes compared (is_enough_for()), in id order:
// id,name,split,labels. `table` has its qualities, too.
void list_low_quality(const Fingerprints& table, const Options& options, const NameOf& name_of,
                      const ListTo& to);

// The samples that `of_row` says an issue of, issue after issue, the worst score first, of equal
// ones the lowest id: id,name,split,labels,issue,score. `columns` and `hash` as of
// for_each_issue().
void list_issues(const std::vector<IssueSet>& of_row, const ColumnSource& columns,
                 const std::string& hash, const NameOf& name_of, const ListTo& to);

// The same fields of pairs that look alike and were not taken for copies
// (VerifiedLinks::look_alikes); none where pictures were not compared.
void list_look_alikes(const ColumnSource& columns, const Options& options, const ToldLinks& links,
                      const Fingerprints& table, const NameOf& name_of, const ListTo& to);

// One JSON object, schema "winnow.dedup/1" (docs/schemas). `verified`: what pictures told, where
// they were compared.
std::string json_summary(const Result& result, const Options& options,
                         const VerifiedLinks* verified = nullptr);

}  // namespace winnow::dedup
