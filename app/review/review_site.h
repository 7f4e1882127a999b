#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/review/group_list.h"
#include "app/review/local_server.h"
#include "app/review/pictures.h"
#include "app/review/verdicts.h"
#include "dedup/review/review_log.h"

namespace winnow::app {

// A page and what it runs and looks like, as files of their own: the server lets nothing run that
// stands in a page.
struct ServedPage {
  std::string html;
  std::string script;
  std::string style;
};
// Of a page with one <script> that runs, its last, and one <style>.
ServedPage without_inline(std::string html);

// What `winnow review` shows and takes:
//   GET             the page, and its script and style
//   GET groups      those that pass and are asked for, described, with what was said of them
//   GET picture/ID  a JPEG of at most 320 px; with full=1 of at most 4096 px
//   POST judgements a judgement or a list of them, as in a review file: durable before the answer
//   POST judgements/all {"verdict": ...}, or {"image_verdict": ...} of pictures: one of each group
//                   that passes, as GET groups has it, and that nothing was said of; "none" takes
//                   back what was last said so, of the groups of which it is still in force. All
//                   of it or nothing.
// Safe from many threads.
class ReviewSite {
 public:
  // All must outlive it. `groups` and `log` are of one selection.
  struct Parts {
    const GroupList& groups;
    Pictures& pictures;
    dedup::ReviewLog& log;
    ServedPage page;
    dedup::About about = dedup::About::kDuplicates;  // what is judged
  };
  explicit ReviewSite(Parts parts);

  // UsageError, FormatError and SystemError as LocalServer tells them.
  WebReply answer(const WebRequest& request);

  std::uint64_t saved() const noexcept { return saved_; }  // judgements
  std::uint64_t left() const;                              // groups that nothing is said of

 private:
  WebReply groups(const WebRequest& request) const;
  WebReply picture(std::string_view id, const WebRequest& request) const;
  WebReply judgements(const WebRequest& request);
  WebReply judge_all(const WebRequest& request);
  WebReply take_back_all();
  WebReply save(const std::vector<dedup::Judgement>& judgements);  // needs mutex_

  Parts parts_;
  mutable std::mutex mutex_;  // of what follows, and the log
  Verdicts verdicts_;
  // What judge_all() said last, by group; images ascending.
  std::vector<std::pair<std::uint32_t, dedup::Judgement>> last_all_;
  std::atomic<std::uint64_t> saved_{0};
};

// The judgements of a body: one or a list of them, as lines of a review file have them.
// FormatError.
std::vector<dedup::Judgement> parse_judgements(std::string_view body);

}  // namespace winnow::app
