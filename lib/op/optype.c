/* optype.c - the names of OpenVINO's operators, opset1 .. opset17, sorted without
 * regard to case: those of graph/oplist.h. */
#include "op/optype.h"

#include <stdlib.h>
#include <strings.h>

static const char *names[OPTYPE_COUNT];

static int compare(const void *a, const void *b)
{
	return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* At program start, so that look-ups need no lock. */
__attribute__((constructor)) static void sort_names(void)
{
	int n = 0;
#define LISTED(kind, type, category, min, max, out, values, scalars, cost, w, flags, ...) \
	if (!((flags)&OPF_NO_OPSET)) \
		names[n++] = type;
#define NAME(type) names[n++] = type;
	OP_LIST(LISTED)
	OP_NAMES_ONLY(NAME)
#undef LISTED
#undef NAME
	qsort(names, OPTYPE_COUNT, sizeof *names, compare);
}

/* Spellings that differ by more than case. */
static const char *const aliases[][2] = {{"Constant", "Const"}};

int optype_find(const char *name)
{
	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
		if (strcasecmp(name, aliases[i][0]) == 0)
			name = aliases[i][1];
	int lo = 0, hi = OPTYPE_COUNT - 1;
	while (lo <= hi) {
		int mid = lo + (hi - lo) / 2, c = strcasecmp(name, names[mid]);
		if (c == 0)
			return mid;
		if (c < 0)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return -1;
}

const char *optype_name(int i)
{
	return i >= 0 && i < OPTYPE_COUNT ? names[i] : "other";
}
