/* formats.h - the table of output formats.  One line registers one: X(name) stands for
 * `const struct report_format format_name`, which a file of this room defines (format.h).  --help-all
 * prints them in this order. */
#ifndef HSDAG_REPORT_FORMATS_H
#define HSDAG_REPORT_FORMATS_H

/* clang-format off */
#define REPORT_FORMATS(X) \
	X(affinity) \
	X(table) \
	X(tsv) \
	X(report) \
	X(advice) \
	X(json) \
	X(cases) \
	X(compare) \
	X(compare_tsv) \
	X(compare_md) \
	X(check) \
	X(trace) \
	X(timeline) \
	X(html) \
	X(timeline_svg) \
	X(graph_svg) \
	X(device_map) \
	X(ort) \
	X(llama_ot) \
	X(dot) \
/* end */
/* clang-format on */

#endif
