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

// A page with its script and style as separate files: the server's policy forbids inline ones.
struct ServedPage {
  std::string html;
  std::string script;
  std::string style;
};
// Splits a page whose last <script> is the only one that runs, with one <style>.
ServedPage without_inline(std::string html);

// The site of `winnow review`. Thread-safe.
//
// GET                   the page, and its script and style
// GET groups            groups that pass the filter, described, with their judgements
// GET picture/ID        a JPEG of at most 320 px; with full=1 of at most 4096 px
// POST judgements       one judgement or a list, as in a review file; durable before the reply
// POST judgements/all   {"verdict": ...}, or {"image_verdict": ...} for pictures: judges every
//                       group that passes the filter (as for GET groups) and has no judgement.
//                       "none" undoes the last such request for groups where it is still in force.
//                       Atomic.
class ReviewSite {
 public:
  // The references must outlive the site. `groups` and `log` belong to one selection.
  struct Parts {
    const GroupList& groups;
    Pictures& pictures;
    dedup::ReviewLog& log;
    ServedPage page;
    dedup::About about = dedup::About::kDuplicates;  // subject of the judgements
  };
  explicit ReviewSite(Parts parts);

  // Throws UsageError, FormatError and SystemError, which LocalServer turns into replies.
  WebReply answer(const WebRequest& request);

  std::uint64_t saved() const noexcept { return saved_; }  // number of saved judgements
  std::uint64_t left() const;                              // number of groups without a judgement

 private:
  WebReply groups(const WebRequest& request) const;
  WebReply picture(std::string_view id, const WebRequest& request) const;
  WebReply judgements(const WebRequest& request);
  WebReply judge_all(const WebRequest& request);
  WebReply take_back_all();
  WebReply save(const std::vector<dedup::Judgement>& judgements);  // needs mutex_

  Parts parts_;
  mutable std::mutex mutex_;  // guards what follows, and the log
  Verdicts verdicts_;
  // The last result of judge_all(), by group; images ascending.
  std::vector<std::pair<std::uint32_t, dedup::Judgement>> last_all_;
  std::atomic<std::uint64_t> saved_{0};
};

// Parses a body: one judgement or a list, in the format of a review file. Throws FormatError.
std::vector<dedup::Judgement> parse_judgements(std::string_view body);

}  // namespace winnow::app
