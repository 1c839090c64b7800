/* plan_fuse.c - which steps of a placement run as one (fusion.h has the rules).
 *
 * A group grows from its head by one consumer at a time, as long as the device takes the members as
 * one step.  Some groups pass through states that no device takes, because two outputs leave them:
 *
 *	    conv (head)          {conv}                 taken
 *	   /    \                {conv, sigmoid}        two outputs leave: not taken
 *	sigmoid  |               {conv, sigmoid, mul}   one output leaves: taken
 *	   \    /
 *	    mul
 *
 * So extend_group may look ahead: while two or more outputs leave, up to LOOK_AHEAD further
 * consumers of the new members join before the device's answer is final, and up to ASKED_AHEAD while it says that
 * more might make a step.  If it stays no, all of them leave again, and another consumer of the group is tried, up to TRIES.
 *
 * A consumer may need the output of another step that is not there yet, as where two branches meet:
 *
 *	x (there) ---> conv (head) -----> add      add needs scale's output, which
 *	  \----------> scale ------------/         only add reads: scale joins with add
 *
 * Such steps come along (may_come), up to COMPANY with one consumer, if they need nothing that is not there when the
 * head starts: the group waits for nothing more than before.
 *
 * Where the device asks for more, and what comes next brings company that it does not take, that company is made first, in groups
 * of its own, and the head grows again: so do the values of an attention, which only its last product reads.
 *
 * What holds between calls of extend_group:
 *   - member[] is ascending, which is a topological order; joined[] has the same steps in the order
 *     in which they joined, so that the last ones can leave;
 *   - planner.local[s] is the place of s in member[], GRAPH_NONE for all other steps;
 *   - the device takes member[] as one step (a single step always can run);
 *   - what a member reads from outside the group is there when the head starts, or made by a group before on the same
 *     device, so the head need not wait for it. */
#include "exec/plan_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* See above: consumers beyond the first that join before a device's no is final, the same where it asks for more, and
 * how many first consumers are tried. */
enum { LOOK_AHEAD = 3, ASKED_AHEAD = 6, TRIES = 6, COMPANY = 3 };

/* Steps that join with a consumer, producers before those that read them. */
struct company {
	uint32_t n, step[COMPANY];
};

struct grower {
	struct builder *b;
	const double *start_s, *end_s; /* (n_steps) predicted */
	const double *copied_s; /* (n_tensors, k) when a copy is there; INFINITY: none is made */
	uint32_t *group_of;     /* (n_steps) GRAPH_NONE: in none yet */
	uint32_t head, n, most; /* most: members that the device takes */
	double from_s;          /* what is there by then the group need not wait for */
	bool asked;             /* for more members, by the device */
	struct company wanted;  /* that should be made first */
	uint32_t wanted_by;     /* the consumer */
	uint32_t barred[2];     /* steps that join nothing now; GRAPH_NONE: none */
	uint32_t *member;       /* (n) ascending: the group that grows */
	uint32_t *joined;       /* (n) the same, in the order in which they joined */
	uint32_t *step;         /* where those of the next group go */
	struct arena *a;        /* of one question */
};

/* ---- what may join ---- */

/* Does another device read an output of s?  Then the group ends with s, for that device would wait for
 * whatever joins later. */
static bool read_elsewhere(const struct grower *x, uint32_t s)
{
	const struct sched_dag *d = &x->b->p->dag;
	const uint16_t *dev = x->b->step_dev;
	for (uint32_t u = d->use_ptr[d->out_ptr[s]]; u < d->use_ptr[d->out_ptr[s + 1]]; u++)
		if (dev[d->use_task[u]] != dev[s])
			return true;
	return false;
}

/* Is w a step that the rules let join whatever it reads?  It is in no group, and on the head's device. */
static bool is_free(const struct grower *x, uint32_t w)
{
	const struct planner *p = x->b->p;
	const uint16_t *dev = x->b->step_dev;
	uint32_t set = p->m->g->set[p->m->step_node[w]];
	return x->group_of[w] == GRAPH_NONE && p->local[w] == GRAPH_NONE && w != x->barred[0] &&
	       w != x->barred[1] && dev[w] == dev[x->head] && !p->m->alone[w] &&
	       (x->b->fuse != FUSE_SETS ||
		(set != GRAPH_NONE && set == p->m->g->set[p->m->step_node[x->head]]));
}

/* Is tensor t, which step w reads, there when the head starts, or made by a member or by the company?  What a group before on
 * w's device makes is there, whenever its steps alone were to run: its head starts before this one. */
static bool is_there(const struct grower *x, const struct company *c, uint32_t t, uint32_t w)
{
	const struct planner *p = x->b->p;
	const uint16_t *dev = x->b->step_dev;
	uint32_t u = p->dag.tensor_task[t];
	double s = dev[u] == dev[w] ? x->end_s[u] : x->copied_s[(size_t)t * p->devices->n + dev[w]];
	for (uint32_t i = 0; i < c->n; i++)
		if (c->step[i] == u)
			return true;
	return p->local[u] != GRAPH_NONE || (x->group_of[u] != GRAPH_NONE && dev[u] == dev[w]) ||
	       s <= x->from_s;
}

/* Does w alone read what u makes? */
static bool reads_alone(const struct grower *x, uint32_t u, uint32_t w)
{
	const struct planner *p = x->b->p;
	const struct sched_dag *d = &p->dag;
	for (uint32_t t = d->out_ptr[u]; t < d->out_ptr[u + 1]; t++) {
		if (p->is_result[t])
			return false;
		for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++)
			if (d->use_task[i] != w)
				return false;
	}
	return true;
}

/* May u join with w, which alone reads it, behind `waiting` others that wait for it?  Then it is in c, behind those that join
 * with u. */
static bool may_come(const struct grower *x, uint32_t u, uint32_t w, uint32_t waiting,
		     struct company *c)
{
	const struct sched_dag *d = &x->b->p->dag;
	if (c->n + waiting >= COMPANY || !is_free(x, u) || !reads_alone(x, u, w))
		return false;
	for (uint32_t i = d->in_ptr[u]; i < d->in_ptr[u + 1]; i++) {
		uint32_t t = d->use_tensor[d->in_use[i]];
		if (!is_there(x, c, t, u) && !may_come(x, d->tensor_task[t], u, waiting + 1, c))
			return false;
	}
	if (c->n + waiting >= COMPANY)
		return false;
	c->step[c->n++] = u;
	return true;
}

/* Is w a step that the rules let join, the device's answer aside?  c: those that join with it. */
static bool may_join(const struct grower *x, uint32_t w, struct company *c)
{
	const struct sched_dag *d = &x->b->p->dag;
	c->n = 0;
	if (!is_free(x, w))
		return false;
	for (uint32_t i = d->in_ptr[w]; i < d->in_ptr[w + 1]; i++) {
		uint32_t t = d->use_tensor[d->in_use[i]];
		if (!is_there(x, c, t, w) && !may_come(x, d->tensor_task[t], w, 0, c))
			return false;
	}
	return x->n + c->n + 1 <= x->most;
}

/* A consumer of members joined[from ..] that fits and is not in tried[n], and its company. */
static uint32_t next_consumer(const struct grower *x, uint32_t from, const uint32_t *tried,
			      uint32_t n, struct company *c)
{
	const struct sched_dag *d = &x->b->p->dag;
	for (uint32_t i = x->n; i-- > from;) {
		uint32_t s = x->joined[i];
		for (uint32_t u = d->use_ptr[d->out_ptr[s]]; u < d->use_ptr[d->out_ptr[s + 1]];
		     u++) {
			uint32_t w = d->use_task[u];
			bool known = false;
			for (uint32_t j = 0; j < n; j++)
				known = known || tried[j] == w;
			if (!known && may_join(x, w, c))
				return w;
		}
	}
	return GRAPH_NONE;
}

/* ---- members ---- */

/* The members in ascending order, with their places. */
static void index_members(struct grower *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t j = i, s = x->joined[i];
		for (; j > 0 && x->member[j - 1] > s; j--)
			x->member[j] = x->member[j - 1];
		x->member[j] = s;
	}
	for (uint32_t i = 0; i < x->n; i++)
		x->b->p->local[x->member[i]] = i;
}

static void add_member(struct grower *x, uint32_t w, const struct company *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		x->joined[x->n++] = c->step[i];
	x->joined[x->n++] = w;
	index_members(x);
}

static void remove_members(struct grower *x, uint32_t n)
{
	while (x->n > n)
		x->b->p->local[x->joined[--x->n]] = GRAPH_NONE;
	index_members(x);
}

/* Does the device take the members as one step?  -1: an error; *n_out: outputs that leave. */
static int device_takes(struct grower *x, uint32_t *n_out, struct err *e)
{
	struct planner *p = x->b->p;
	struct device *d = dev_of(x->b, x->b->step_dev[x->head]);
	struct fusion_group g = {.dev = x->b->step_dev[x->head], .n = x->n, .step = x->member};
	struct step_spec spec;
	arena_reset(x->a);
	fusion_group_ports(p->m, &p->dag, p->is_result, p->local, p->mark, &g, x->a);
	*n_out = g.n_out;
	if (fusion_group_spec(p->m, &g, p->local, d, MODEL_FEW, x->a, &spec, e) < 0)
		return -1;
	return d->class->fuses(d, &spec);
}

/* Can the company, which is of the members, be made before the others are? */
static bool may_be_first(const struct grower *x, const struct company *c)
{
	const struct planner *p = x->b->p;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = p->dag.in_ptr[c->step[i]]; j < p->dag.in_ptr[c->step[i] + 1];
		     j++) {
			uint32_t u = p->dag.tensor_task[p->dag.use_tensor[p->dag.in_use[j]]];
			bool own = false;
			for (uint32_t k = 0; k < c->n; k++)
				own = own || c->step[k] == u;
			if (!own && p->local[u] != GRAPH_NONE)
				return false;
		}
	return true;
}

/* Consumer w, and behind it others as long as the device may want them: 1: they are members; 0; -1. */
static int try_consumer(struct grower *x, uint32_t w, struct company *c, struct err *e)
{
	uint32_t n = x->n, n_out = 0;
	bool asked = x->asked;
	for (uint32_t more = 0; w != GRAPH_NONE; more++) {
		add_member(x, w, c);
		int answer = device_takes(x, &n_out, e);
		if (answer < 0)
			return -1;
		if (answer & FUSE_YES) {
			x->asked = answer & FUSE_WITH_MORE;
			x->wanted.n = 0;
			return 1;
		}
		if (asked && answer == FUSE_NO && c->n > 0 && may_be_first(x, c)) {
			x->wanted = *c;
			x->wanted_by = w;
		}
		asked = answer & FUSE_WITH_MORE;
		if ((n_out < 2 && !asked) || more >= (asked ? ASKED_AHEAD : LOOK_AHEAD) ||
		    x->n == x->most || read_elsewhere(x, w))
			break;
		w = next_consumer(x, n, NULL, 0, c);
	}
	remove_members(x, n);
	return 0;
}

/* One more member, or a few that the device takes only together: 1; 0: there are none, and perhaps some are wanted
 * first; -1. */
static int extend_group(struct grower *x, struct err *e)
{
	uint32_t tried[TRIES];
	struct company c;
	for (uint32_t t = 0; t < TRIES; t++) {
		uint32_t w = next_consumer(x, 0, tried, t, &c);
		if (w == GRAPH_NONE)
			return 0;
		tried[t] = w;
		int rc = try_consumer(x, w, &c, e);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* The group of head h, which is to start at from_s. */
static int grow(struct grower *x, uint32_t h, double from_s, struct err *e)
{
	const struct planner *p = x->b->p;
	const struct device_class *c = dev_of(x->b, x->b->step_dev[h])->class;
	int rc = 1;
	x->most = c->fuses && x->b->fuse != FUSE_NONE && !p->m->alone[h] ? c->max_nodes : 1;
	x->head = h;
	x->from_s = from_s;
	x->n = x->wanted.n = 0;
	x->asked = false;
	add_member(x, h, &(struct company){0});
	while (rc > 0 && x->n < x->most && !read_elsewhere(x, x->joined[x->n - 1]))
		rc = extend_group(x, e);
	return rc < 0 ? -1 : 0;
}

/* ---- the order of heads ---- */

static int by_start(const void *pa, const void *pb, void *start)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const double *s = start;
	return s[a] != s[b] ? (s[a] < s[b] ? -1 : 1) : (a > b) - (a < b);
}

/* Predicted times of steps and copies, from the schedule tl of the tasks task_of. */
static void predict(struct grower *x, const struct contraction *c, struct arena *a)
{
	const struct planner *p = x->b->p;
	const struct timeline *tl = c->tl;
	uint32_t n = p->dag.n, k = p->devices->n;
	size_t cells = (size_t)p->dag.n_tensors * k;
	double *start = ARENA_NEWN(a, double, n), *end = ARENA_NEWN(a, double, n);
	double *copied = ARENA_NEWN(a, double, cells);
	for (uint32_t s = 0; s < n; s++) {
		start[s] = tl->start_s[c->group_of[s]];
		end[s] = tl->end_s[c->group_of[s]];
	}
	for (size_t i = 0; i < cells; i++)
		copied[i] = INFINITY;
	for (uint32_t i = 0; i < tl->n_copies; i++) {
		uint32_t t = p->out_tensor[c->tensor_out[tl->copy[i].tensor]];
		copied[(size_t)t * k + tl->copy[i].dst] = tl->copy_end_s[i];
	}
	x->start_s = start;
	x->end_s = end;
	x->copied_s = copied;
}

/* The members are a group. */
static void end_group(struct grower *x, struct contraction *out)
{
	out->group[out->n] = (struct fusion_group){
		.dev = x->b->step_dev[x->member[0]], .n = x->n, .step = x->step};
	for (uint32_t j = 0; j < x->n; j++) {
		*x->step++ = x->member[j];
		x->group_of[x->member[j]] = out->n;
		x->b->p->local[x->member[j]] = GRAPH_NONE;
	}
	out->n++;
	x->n = 0;
}

/* The group of head h, and before it those of steps that it wants to be made. */
static int grow_groups(struct grower *x, uint32_t h, struct contraction *out, struct err *e)
{
	double from_s = x->start_s[h];
	int rc = grow(x, h, from_s, e);
	const struct company first = x->wanted;
	if (rc < 0 || first.n == 0) {
		end_group(x, out);
		return rc;
	}
	remove_members(x, 0);
	x->barred[0] = h;
	x->barred[1] = x->wanted_by;
	for (uint32_t i = 0; i < first.n && rc == 0; i++)
		if (x->group_of[first.step[i]] == GRAPH_NONE) {
			rc = grow(x, first.step[i], from_s, e);
			end_group(x, out);
		}
	x->barred[0] = x->barred[1] = GRAPH_NONE;
	if (rc == 0)
		rc = grow(x, h, from_s, e);
	else
		add_member(x, h, &(struct company){0});
	end_group(x, out);
	return rc;
}

/* Groups of all steps, given a schedule in which the groups of `c` are tasks; those of several
 * steps (segments) stay as they are. */
int plan_fuse(struct builder *b, const struct contraction *c, struct contraction *out,
	      struct err *e)
{
	struct planner *p = b->p;
	uint32_t n = p->dag.n, *order = ARENA_NEWN(b->a, uint32_t, n);
	struct grower x = {.b = b,
			   .group_of = ARENA_NEWN(b->a, uint32_t, n),
			   .member = ARENA_NEWN(b->a, uint32_t, n),
			   .joined = ARENA_NEWN(b->a, uint32_t, n),
			   .barred = {GRAPH_NONE, GRAPH_NONE},
			   .a = arena_new()};
	x.step = ARENA_NEWN(b->plan->arena, uint32_t, n);
	int rc = 0;
	predict(&x, c, b->a);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		x.group_of[i] = GRAPH_NONE;
	}
	qsort_r(order, n, sizeof *order, by_start, (void *)(uintptr_t)x.start_s);
	*out = (struct contraction){.group = ARENA_NEWN(b->plan->arena, struct fusion_group, n),
				    .group_of = x.group_of};
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const struct fusion_group *whole = &c->group[c->group_of[order[i]]];
		if (x.group_of[order[i]] != GRAPH_NONE)
			continue;
		if (whole->n == 1) {
			rc = grow_groups(&x, order[i], out, e);
			continue;
		}
		for (x.n = 0; x.n < whole->n; x.n++)
			x.member[x.n] = x.joined[x.n] = whole->step[x.n];
		end_group(&x, out);
	}
	arena_free(x.a);
	return rc;
}
