/* pagedata.h - what the page's script draws, as JSON: devices, operations with their edges and segments,
 * the schedule of a run, the curve of the search. */
#ifndef HSDAG_REPORT_HTML_PAGEDATA_H
#define HSDAG_REPORT_HTML_PAGEDATA_H

#include "report/format.h"

/* One object, which may stand inside <script>.  Keys:
 *   devices [str]; types [str]; named: operations go by their names, not by their types;
 *   nodes {name, type, device, segment, set}: a list for each; device -1: on none (inputs, results),
 *     segment -1: likewise, set -1: in none; nodes are in a topological order;
 *   edges [from, to, ...]: indices of nodes, distinct;
 *   schedule {node, device, start, end, copies: {source, target, bytes, start, end, from, to}} or null;
 *     node: the one that the set goes by, -1: it has none; from, to: entries, -1: none;
 *   others [{label, time, simulated, device, segment, schedule}]: other placements, with lists as in nodes;
 *   left_out: how many slower ones are not among them;
 *   cost [[of each set] of each device]: -1: cannot run, null: not told; null where there is none;
 *   curve {episode, mean, best}: of episodes in which something ran;
 *   runs {at, time}: of placements that the search ran, where told; at: since it began;
 *   simulated: the answer's latency is; reference: of the best single device, answer: its latency; 0: not known.
 * Times are in microseconds.
 * Operations that depend on constants alone are left out.  -1: the schedule does not fit (ST_INPUT). */
int pagedata_write(FILE *out, const struct report_input *in, struct err *e) MUST_CHECK;

#endif
