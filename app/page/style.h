#pragma once

#include <string_view>

namespace winnow::app {

// The style sheet that all pages have, for light and dark mode.
inline constexpr std::string_view kStyle = R"(:root {
  color-scheme: light dark;
  --paper: #ffffff; --wash: #f4f6f8; --line: #e1e5ea; --ink: #1b2330; --soft: #667085;
  --part0: #8a94a6; --part1: #2f6feb; --part2: #d9822b; --part3: #2a9d6f; --mark: #fff6df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --wash: #1d232c; --line: #2c343f; --ink: #e4e8ee; --soft: #98a2b3;
    --part0: #7d889b; --part1: #5b93ff; --part2: #e5a15a; --part3: #4dbf92; --mark: #33301f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 3rem 1.5rem 4rem; max-width: 62rem;
  background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
h1 { margin: 0 0 .5rem; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 3rem 0 .75rem; font-size: 1.25rem; }
h3 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
p { margin: .5rem 0; max-width: 46rem; }
.soft, footer, figcaption, th, .tiles span { color: var(--soft); }
header .soft { margin: 0; letter-spacing: .04em; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem; }
.tiles div { flex: 1 1 7.5rem; padding: .75rem 1rem; border-radius: .6rem; background: var(--wash); }
.tiles b { display: block; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles span { font-size: .85rem; }
table { width: 100%; margin: .5rem 0 1rem; border-collapse: collapse; }
th, td { padding: .3rem .75rem .3rem 0; text-align: left; vertical-align: top; }
th { font-size: .8rem; font-weight: 500; border-bottom: 1px solid var(--line); }
td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tbody tr:last-child td { border-bottom: 0; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.k { white-space: nowrap; }
.l { width: 26%; min-width: 6rem; vertical-align: middle; padding-left: .5rem; }
tr.none { color: var(--soft); opacity: .65; }
tr.sum td { border-top: 1px solid var(--soft); font-weight: 600; }
tr.mark { background: var(--mark); }
details { margin: .75rem 0; padding: .5rem 1rem; border-radius: .6rem; background: var(--wash); }
summary { cursor: pointer; font-weight: 500; }
details table { font-size: .9rem; }
pre { padding: .75rem 1rem; border-radius: .6rem; background: var(--wash); white-space: pre-wrap; overflow-wrap: anywhere; }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9em; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1.25rem; margin: 1rem 0; }
figure { margin: 0; padding: .9rem 1rem .4rem; border-radius: .6rem; background: var(--wash); }
figcaption { font-size: .85rem; }
.chart { display: block; width: 100%; height: auto; }
.picture { display: block; max-width: 100%; height: auto; margin: .75rem 0; }
.level { display: block; width: 100%; height: .7rem; border-radius: .2rem; }
.rest { fill: var(--line); opacity: .5; }
.bar, .part1 { fill: var(--part1); } .part0 { fill: var(--part0); } .part2 { fill: var(--part2); } .part3 { fill: var(--part3); }
.axis { stroke: var(--line); }
.tick, .value { fill: var(--soft); font-size: 11px; text-anchor: middle; font-variant-numeric: tabular-nums; }
.first { text-anchor: start; } .last { text-anchor: end; }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; margin: 0 .35em 0 .9em; border-radius: .15em; }
.key0::before { background: var(--part0); } .key1::before { background: var(--part1); }
.key2::before { background: var(--part2); } .key3::before { background: var(--part3); }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } details { break-inside: avoid; } }
)";

}  // namespace winnow::app
