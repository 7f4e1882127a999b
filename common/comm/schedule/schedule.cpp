#include "common/comm/schedule/schedule.h"

#include <array>
#include <string>

#include "common/comm/schedule/double_binary_tree.h"
#include "common/comm/schedule/hierarchical.h"
#include "common/comm/schedule/multicolor.h"
#include "common/comm/schedule/rabenseifner.h"
#include "common/comm/schedule/recursive_doubling.h"
#include "common/comm/schedule/ring.h"
#include "common/row_called.h"

namespace winnow::comm {

namespace {

constexpr std::array kSchedules{
    Schedule{"multicolor",
             "pipelined trees, one per part of the buffer, with disjoint interior ranks; few hops",
             &multicolor_all_reduce},
    Schedule{"ring", "reduce-scatter and all-gather round a ring; least traffic, 2(p-1) hops",
             &ring_all_reduce},
    Schedule{"rabenseifner",
             "recursive halving and doubling; least traffic on powers of two, 2 log2(p) hops",
             &rabenseifner_all_reduce},
    Schedule{
        "recursive_doubling",
        "exchanges of all there is between ever farther pairs; log2(p) hops, for small buffers",
        &recursive_doubling_all_reduce},
    Schedule{"double_binary_tree", "two pipelined binary trees, half of the buffer each",
             &double_binary_tree_all_reduce},
    Schedule{kHierarchicalSchedule,
             "multicolor between machines, each rank of a machine with its share of each colour",
             &hierarchical_all_reduce},
};

}  // namespace

std::span<const Schedule> schedules() { return kSchedules; }

const Schedule& find_schedule(std::string_view name) {
  return row_called("there is no all-reduce schedule", name, kSchedules);
}

}  // namespace winnow::comm
