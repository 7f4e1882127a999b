#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/sample.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// Reports about the Result of a deduplication, as text. Pure functions of the input of
// deduplicate() (of the table: ids, splits, labels) and its output.

// Returns the display name of a sample, usually its path in the data set. Called once or twice a
// line.
using NameOf = std::function<std::string(SampleId)>;
// Receives a text line by line.
using TextSink = std::function<void(std::string_view)>;

// Says in words why row `kept` stays and row `row` is removed (reason_of_choice).
using ReasonOf = std::function<std::string(std::uint32_t kept, std::uint32_t row)>;
// Makes a ReasonOf. It holds the columns that the policy reads in memory, but no codes.
ReasonOf reasons_of(const ColumnSource& columns, const Policy& policy);

// Forms of lists, with one line a row.
// CSV         Begins with a header. Quoting as RFC 4180 where needed; lines end in "\n"; labels are
//             separated by spaces; names are byte for byte.
// JSON lines  Objects with the header's words as keys. Labels are arrays; names are UTF-8
//             (to_utf8).
enum class ListForm { kCsv, kJsonLines };

struct ListTo {
  ListForm form;
  TextSink out;
};

// Results of comparing pictures, one a pair, sorted by rows. Empty: pictures were not compared.
using ComparedPairs = std::span<const VerifiedPair>;

// Lists the removed samples in id order. `group` is the number of their group in the selection.
// Fields  id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,
//         because,probability,transformation
// - because: empty if no other image represents the row
// - probability (that both are one picture), transformation (from the kept image to this one):
//   empty if the pair was not compared
// table   Has widths_px and heights_px, too, if pictures were compared.
void list_removed(const Result& result, const Fingerprints& table, ComparedPairs told,
                  const NameOf& name_of, const ReasonOf& because, const ListTo& to);

// Lists every member of every group, removed or not, group by group. Fields as in list_removed(),
// except:
// - `group` is the number in this list, because it may be a part of a group of the selection
// - before the last two fields: weight,used_in,diameter,chain. `used_in` is a split; the last two
//   describe the group (GroupShape).
void list_groups(const Result& result, const Fingerprints& table, ComparedPairs told,
                 const NameOf& name_of, const ReasonOf& because, const ListTo& to);

// Lists all pairs of linked samples in id order. Pairs of equal codes are included: n equal images
// give n * (n - 1) / 2 lines.
// Fields  id,name,split,labels,other_id,other_name,other_split,other_labels,distance
// - distance: in bits; beyond the threshold for some pairs confirmed by comparing pictures
// - with features: cosine
// - with pictures: probability,transformation (from the first image to the other), empty if not
//   compared
// Scope   kWithin: pairs of one split. kAcross: pairs of two splits.
// Memory  The links and two columns of `columns`, as deduplicate().
// table   As for list_removed().
void list_pairs(const ColumnSource& columns, const Options& options, const LinksWithEvidence& links,
                const Fingerprints& table, const NameOf& name_of, const ListTo& to);

// Lists the samples with too little detail to match by codes (is_enough_for()), in id order:
// id,name,split,labels. `table` has the column quality, too.
void list_low_quality(const Fingerprints& table, const Options& options, const NameOf& name_of,
                      const ListTo& to);

// Lists the samples with issues, issue by issue, the worst score first, then the lowest id:
// id,name,split,labels,issue,score. `columns` and `hash` as for for_each_issue().
// of_row  For each row its issues.
void list_issues(const std::vector<IssueSet>& of_row, const ColumnSource& columns,
                 const std::string& hash, const NameOf& name_of, const ListTo& to);

// Lists pairs that look alike but are not copies by comparison of their pictures
// (VerifiedLinks::look_alikes). Fields as in list_pairs(). Empty if pictures were not compared.
void list_look_alikes(const ColumnSource& columns, const Options& options,
                      const LinksWithEvidence& links, const Fingerprints& table,
                      const NameOf& name_of, const ListTo& to);

// A JSON object that describes the result, of schema "winnow.dedup/1" (docs/schemas).
// verified  Results of comparing pictures; nullptr: they were not compared.
std::string json_summary(const Result& result, const Options& options,
                         const VerifiedLinks* verified = nullptr);

}  // namespace winnow::dedup
