#!/usr/bin/env bats
# Code asks the graph what operators are and who reads what, and the check notices where it reads names or looks for readers.
bats_require_minimum_version 1.5.0
load ../support/common.bash

check() { python3 "$ROOT/tests/tree/kinds.py" "$@"; }

# found CODE BREACH - of a file with this code alone, the check says that
found() {
	mkdir -p "$BATS_TEST_TMPDIR/lib/room"
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' "$1" > lib/room/code.c
	run -1 check lib
	[[ $output == *"lib/room/code.c:1: $2"* ]]
}

# fine CODE - it says nothing of a file with this code alone
fine() {
	mkdir -p "$BATS_TEST_TMPDIR/code/room"
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' "$1" > code/room/code.c
	run -0 check code
}

@test "operators are compared by kind, and readers are found in the graph" {
	cd "$ROOT" || return 1
	run -0 check lib cmd
}

@test "names that are compared are found" {
	found 'return strcmp(g->type[v], "Result") == 0;' 'compares names of operators'
	found 'return strncmp(x->m->g->type[t[v]], name, 6) == 0;' 'compares names of operators'
	found 'const char *t = kind_name(v), *u = strcmp(t, "MatMul") == 0 ? t : "";' 'compares names of operators'
	found 'if (!strcasecmp(text(n, "("), "Convolution"))' 'compares names of operators'
	found 'switch (op_kind(g->type[v])) {' 'op_kind looks an operator up by name'
	found 'return optype_find(name);' 'optype_find looks an operator up by name'
	found 'const char *t = n->graph->type[n->v];' 'reads names of types'
}

@test "readers that are looked for or gathered again are found" {
	local why='goes through inputs to find readers'
	found 'for (uint32_t i = 0; i < g->in_ptr[g->n]; i++)' "$why"
	found 'for (uint32_t i = g->in_ptr[v]; i < x->g->in_ptr[x->g->n]; i++)' "$why"
	found 'readers[g->in_node[i]]++;' "$why"
	found 'ptr[g->in_node[i] + 2] += 1;' "$why"
	found 'if (g->in_node[i] == v)' "$why"
	found 'for (uint32_t i = 0; g->body[b].node == v && i < n; i++)' 'goes through all bodies'
	found 'if (b->node != op->v)' 'goes through all bodies'
}

@test "a graph that is changed and not finished is found" {
	local why='makes or changes a graph, and does not call graph_finish'
	found 'g->type[v] = "Add";' "$why"
	found 'g->in_node[at[v]] = u;' "$why"
	found 'b->in_ptr = copy(g->in_ptr, n);' "$why"
	found 'read_ptr(r, "in_ptr", n, &g->in_ptr);' "$why"
}

@test "what only looks like that is not" {
	fine 'if (g->in_node[i] == GRAPH_NONE || strcmp(mode, "constant") != 0)'
	fine 'for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)'
	fine 'used[g->in_node[i]] = live[g->in_node[i]] = true;'
	fine '/* strcmp(g->type[v], "Result"), as it was */'
	fine 'u->type[i] = t;'
}
