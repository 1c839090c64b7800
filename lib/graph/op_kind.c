/* op_kind.c - from the name of an operator to its kind. */
#include "graph/op_kind.h"

#include <stdlib.h>
#include <strings.h>

static const char *const names[OP_KINDS] = {[OP_UNKNOWN] = "",
#define OP(kind, type, ...) [OP_##kind] = type,
					    OP_LIST(OP) OP_NAMES_ONLY(OP) OP_OF_PROBLEMS(OP)
#undef OP
};

/* Other names of the same operators. */
static const struct {
	const char *name;
	enum op_kind kind;
} aliases[] = {
	{"Constant", OP_CONST},
	{"LogicalReduceAnd", OP_REDUCE_LOGICAL_AND},
};

static int compare_type(const void *a, const void *b)
{
	return strcasecmp(names[*(const enum op_kind *)a], names[*(const enum op_kind *)b]);
}

static int find_type(const void *key, const void *item)
{
	return strcasecmp(key, names[*(const enum op_kind *)item]);
}

/* All kinds sorted by name; made at program start, so that look-ups need no lock. */
static enum op_kind by_type[OP_KINDS];
static size_t n_types;

__attribute__((constructor)) static void sort_types(void)
{
	for (int i = OP_UNKNOWN + 1; i < OP_KINDS; i++)
		if (i != OP_COUNT)
			by_type[n_types++] = (enum op_kind)i;
	qsort(by_type, n_types, sizeof by_type[0], compare_type);
}

enum op_kind op_kind(const char *type)
{
	const enum op_kind *k = bsearch(type, by_type, n_types, sizeof by_type[0], find_type);
	if (k)
		return *k;
	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
		if (!strcasecmp(type, aliases[i].name))
			return aliases[i].kind;
	return OP_UNKNOWN;
}
