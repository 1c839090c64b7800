/* optype.c - the names of OpenVINO's operators, opset1 .. opset17, sorted without
 * regard to case: those of graph/oplist.h. */
#include "op/optype.h"

#include <stdlib.h>
#include <strings.h>

static struct {
	const char *name;
	enum op_kind op;
} types[OPTYPE_COUNT];
static int index_of[OP_KINDS]; /* into types, plus 1 */

static int compare(const void *a, const void *b)
{
	return strcasecmp(*(const char *const *)a, *(const char *const *)b); /* name comes first */
}

/* At program start, so that look-ups need no lock. */
__attribute__((constructor)) static void sort_types(void)
{
	int n = 0;
#define LISTED(kind, spelling, category, min, max, out, values, scalars, cost, w, flags, ...) \
	if (!((flags)&OPF_NO_OPSET)) \
		types[n].name = spelling, types[n++].op = OP_##kind;
#define NAME(kind, spelling) types[n].name = spelling, types[n++].op = OP_##kind;
	OP_LIST(LISTED)
	OP_NAMES_ONLY(NAME)
#undef LISTED
#undef NAME
	qsort(types, OPTYPE_COUNT, sizeof *types, compare);
	for (int i = 0; i < OPTYPE_COUNT; i++)
		index_of[types[i].op] = i + 1;
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
		int mid = lo + (hi - lo) / 2, c = strcasecmp(name, types[mid].name);
		if (c == 0)
			return mid;
		if (c < 0)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return -1;
}

int optype_of(enum op_kind kind)
{
	return index_of[kind] - 1;
}

const char *optype_name(int i)
{
	return i >= 0 && i < OPTYPE_COUNT ? types[i].name : "other";
}
