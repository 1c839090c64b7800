/* pagejson.h - lists of the page's data as JSON that may stand inside <script>. */
#ifndef HSDAG_REPORT_HTML_PAGEJSON_H
#define HSDAG_REPORT_HTML_PAGEJSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "key":[...] */
void pagejson_strings(FILE *out, const char *key, const char *const *s, size_t n);
/* Indices; -1 for GRAPH_NONE. */
void pagejson_indices(FILE *out, const char *key, const uint32_t *x, size_t n);
/* Seconds, as microseconds. */
void pagejson_times(FILE *out, const char *key, const double *x, size_t n);
/* One index of a list that the caller writes. */
void pagejson_index(FILE *out, bool first, uint32_t x);

#endif
