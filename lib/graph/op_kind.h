/* op_kind.h - which operator a node is, as a number: what code compares instead of names. */
#ifndef HSDAG_GRAPH_OP_KIND_H
#define HSDAG_GRAPH_OP_KIND_H

#include <stdbool.h>

#include "graph/oplist.h"

enum op_kind {
	OP_UNKNOWN, /* its name is not in the list */
#define OP(kind, ...) OP_##kind,
	OP_LIST(OP)
#undef OP
		OP_COUNT, /* those of op.h's table; to it the others are OP_UNKNOWN */
#define OP(kind, ...) OP_##kind,
	OP_NAMES_ONLY(OP) OP_OF_PROBLEMS(OP)
#undef OP
		OP_KINDS
};

/* Of a type, any case, aliases; OP_UNKNOWN.  A graph has it of each of its nodes (graph_finish). */
enum op_kind op_kind(const char *type);

/* The same, if it has a line in the table; kinds that have a name alone are unknown to it. */
static inline enum op_kind op_kind_listed(enum op_kind kind)
{
	return kind < OP_COUNT ? kind : OP_UNKNOWN;
}

static inline bool op_is_split(enum op_kind kind)
{
	return kind == OP_SPLIT || kind == OP_VARIADIC_SPLIT;
}

#endif
