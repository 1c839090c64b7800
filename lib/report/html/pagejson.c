/* pagejson.c - lists as JSON. */
#include "report/html/pagejson.h"

#include <inttypes.h>
#include <string.h>

#include "text/markup.h"
#include "graph/graph.h"

void pagejson_strings(FILE *out, const char *key, const char *const *s, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		markup_json(out, s[i], strlen(s[i]), true);
	}
	fputc(']', out);
}

void pagejson_index(FILE *out, bool first, uint32_t x)
{
	fputs(first ? "" : ",", out);
	x == GRAPH_NONE ? fputs("-1", out) : fprintf(out, "%" PRIu32, x);
}

void pagejson_indices(FILE *out, const char *key, const uint32_t *x, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		pagejson_index(out, i == 0, x[i]);
	fputc(']', out);
}

void pagejson_times(FILE *out, const char *key, const double *x, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%.3f", i ? "," : "", x[i] * 1e6);
	fputc(']', out);
}
