/* jsonproblem_keys.h - what readers of JSON forms share; for jsonproblem_*.c and place/forms alone. */
#ifndef HSDAG_PLACE_PROBLEM_JSONPROBLEM_KEYS_H
#define HSDAG_PLACE_PROBLEM_JSONPROBLEM_KEYS_H

#include "place/problem/idtable.h"
#include "place/problem/jsonproblem.h"

/* The form of dnn-partitioning, as json_problem_read. */
int json_problem_read_dnnpart(const struct val *json, struct arena *a, struct json_problem *p,
			      struct err *e) MUST_CHECK;

/* What a list is made of, of key `key` in map: -1 when it is no list of maps. */
int json_problem_list(const struct val *map, const char *key, const struct val **list, uint32_t *n,
		      struct err *e) MUST_CHECK;
/* A number from 0 to 1e100 of key `key`; absent: *out is left alone unless `needed`. */
int json_problem_number(const struct val *map, const char *key, bool needed, double *out,
			struct err *e) MUST_CHECK;
/* The same as a count of at most so many bytes, rounded up. */
int json_problem_bytes(const struct val *map, const char *key, uint64_t *out,
		       struct err *e) MUST_CHECK;
/* A device's memory, rounded down; 0, and more than json_problem_bytes allows: no limit. */
int json_problem_limit(const struct val *map, const char *key, uint64_t *out,
		       struct err *e) MUST_CHECK;
/* Text of key `key`; *out is left alone when it is absent or null. */
int json_problem_text(const struct val *map, const char *key, struct arena *a, const char **out,
		      struct err *e) MUST_CHECK;
/* The arrays of n nodes on k devices: costs 0, own ids and names, all else zero. */
void json_problem_alloc(struct json_problem *p, uint32_t n, struct arena *a);

/* What a node takes on each device: row (k of d), negative where it cannot run; by `cost_s`, and `allowed`.  on (k): what the
 * devices are by a specification, by which `flops` and `bytes` count; NULL: there is none. */
int json_problem_costs(const struct val *node, const struct devs *d,
		       const struct device_spec *const *on, struct arena *a, double *row,
		       struct err *e) MUST_CHECK;

#endif
