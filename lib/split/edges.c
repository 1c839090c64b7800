/* edges.c - what parts read of what others make, and what it costs to bring it there. */
#include "split/decide_impl.h"

/* The part where output o is if its node is spread, or a Split cut by outputs. */
static uint32_t home_of(const struct work *w, uint32_t o)
{
	return w->c->apart ? w->siblings.at[o] : SPLIT_NO_HOME;
}

/* What the parts of node v under label k read of all inputs. */
static void find_readings(struct work *w, uint32_t v, uint8_t k)
{
	const struct graph *g = w->g;
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct reading *all = &w->reading[(size_t)g->in_ptr[v] * PAIRWISE_CHOICES + k];
	uint32_t *readers = MEM_NEWN(uint32_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		all[(size_t)i * PAIRWISE_CHOICES] = (struct reading){.axis = SPLIT_WHOLE};
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_part s;
		if (!decide_part(w, v, decide_labels(w, v)[k].axis, p, &s))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			const struct split_need *need = &s.need[i];
			struct reading *r = &all[(size_t)i * PAIRWISE_CHOICES];
			if (need->axis == SPLIT_NOTHING ||
			    g->in_node[g->in_ptr[v] + i] == GRAPH_NONE)
				continue;
			uint32_t o = graph_slot_output(g, g->in_ptr[v] + i);
			double size = (double)(need->hi - need->lo),
			       core = (double)(need->core_hi - need->core_lo),
			       part = decide_read_share(w, v, i, need) * decide_bytes(w, o);
			r->axis = need->axis;
			r->moved += p != w->base ? part : 0;
			r->moved_home += p != home_of(w, o) ? part : 0;
			r->halo += need->axis >= 0 && size > core ? part * (size - core) / size : 0;
			r->once = ++readers[i] == 1;
		}
	}
	mem_free(readers);
}

void decide_forget_readings(struct work *w)
{
	for (size_t i = 0; i < (size_t)w->g->in_ptr[w->g->n] * PAIRWISE_CHOICES; i++)
		w->reading[i].axis = UNREAD;
}

struct reading decide_read(struct work *w, uint32_t v, uint32_t i, int axis)
{
	size_t slot = w->g->in_ptr[v] + i;
	uint32_t o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	uint8_t k = 1;
	if (axis == SPLIT_WHOLE || axis == SPREAD) {
		uint32_t at = axis == SPREAD ? w->siblings.home[v] : w->base;
		double bytes = decide_bytes(w, o);
		return (struct reading){at != w->base ? bytes : 0,
					at != home_of(w, o) ? bytes : 0,
					0,
					SPLIT_WHOLE,
					true,
					w->f->op[v].kind == OP_RESULT,
					w->f->op[v].kind == OP_SHAPE_OF &&
						w->g->out_elem[w->g->out_ptr[v]] == EL_I64};
	}
	while (decide_labels(w, v)[k].axis != axis)
		k++;
	struct reading *r = &w->reading[slot * PAIRWISE_CHOICES + k];
	if (r->axis == UNREAD)
		find_readings(w, v, k);
	return *r;
}

bool decide_at_home(int label)
{
	return label == SPREAD || label == SPLIT_OUTPUTS;
}

/* Does v, labelled b, read output o as all devices do that have it joined for them? */
bool decide_reads_shared(const struct work *w, uint32_t o, int b, const struct reading *r)
{
	if (!w->shared[o] || r->axis != SPLIT_WHOLE)
		return false;
	return b == SPREAD ? home_of(w, o) == SPLIT_NO_HOME : !r->once;
}

/* Everybody has a part of so many bytes, and gets the others' parts; or has all, and gets the sum of its part. */
static double spread_seconds(const struct split_costs *c, double bytes)
{
	double near = c->near, far = c->groups, s = 0;
	if (c->near > 1)
		s += c->in_group.latency_s + (near - 1) / near * bytes * c->in_group.s_per_byte;
	if (c->groups > 1)
		s += c->between.latency_s + (far - 1) / far * bytes / near * c->between.s_per_byte;
	return s;
}

/* The same where each has a part along one axis and gets one along another. */
static double exchange_seconds(const struct split_costs *c, double bytes)
{
	double near = c->near, far = c->groups, part = bytes / (near * far);
	return c->in_group.latency_s + (near - 1) / near * part * c->in_group.s_per_byte +
	       (c->groups > 1
			? c->between.latency_s + (far - 1) / far * part * c->between.s_per_byte
			: 0);
}

/* edge_seconds of devices with memories of their own. */
static double apart_seconds(struct work *w, int a, double bytes, const struct reading *r)
{
	const struct split_costs *c = w->c;
	double from_all = c->in_group.latency_s + bytes * c->in_group.s_per_byte, s = 0;
	double moved = decide_at_home(a) ? r->moved_home : r->moved;
	if (a == SPLIT_WHOLE || decide_at_home(a))
		return moved > 0 ? c->handover_s + moved * c->in_group.s_per_byte : 0;
	if (a == SPLIT_SUM) /* with the last addition */
		s = spread_seconds(c, bytes) + c->device[0].step_s +
		    3 * bytes / w->plan->ways / w->bytes_per_s;
	if (r->once)
		return s + (r->result ? 0 : from_all);
	if (r->axis == SPLIT_WHOLE)
		return s + spread_seconds(c, bytes);
	if (a == SPLIT_SUM)
		return s;
	if (r->axis != a)
		return exchange_seconds(c, bytes);
	return r->halo == 0 ? 0 : c->handover_s + r->halo * c->copy_s_per_byte;
}

/* What it costs that node v, cut along `b`, reads of u, cut along `a`, through input i. */
double decide_edge_seconds(struct work *w, uint32_t u, int a, int b, double bytes,
			   const struct reading *r, double u_s)
{
	const struct split_costs *c = w->c;
	double here = 1 / w->bytes_per_s,
	       join = c->handover_s + bytes / 2 * c->copy_s_per_byte + bytes * here;
	if (a == SPLIT_WHOLE && (b == SPLIT_WHOLE || w->f->op[u].kind == OP_PARAMETER))
		return 0;
	if (r->shape && a >= 0) /* a part has it, too */
		return 0;
	if (c->apart)
		return apart_seconds(w, a, bytes, r);
	if (a == SPLIT_WHOLE)
		return c->handover_s + r->moved * c->copy_s_per_byte;
	if (a == SPLIT_SUM)
		return join + (w->plan->ways - 1) * bytes * here;
	if (b == SPLIT_WHOLE || r->axis == SPLIT_WHOLE)
		return join;
	if (r->axis != a)
		return join + r->moved * c->copy_s_per_byte;
	if (r->halo == 0)
		return 0;
	return w->plan->again && bytes > 0 ? u_s * r->halo / bytes
					   : c->handover_s + r->halo * c->copy_s_per_byte +
						     bytes / w->plan->ways * here;
}

double decide_edge(struct work *w, uint32_t v, uint32_t i, int a, int b, bool *aligned, bool *seen)
{
	uint32_t u = graph_source(w->g, v, i), o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	double bytes = decide_bytes(w, o);
	struct reading r = decide_read(w, v, i, b);
	if (aligned)
		*aligned = decide_at_home(a) ? b != SPLIT_WHOLE && r.moved_home == 0
					     : r.axis >= 0 && a == r.axis;
	if (seen && decide_reads_shared(w, o, b, &r)) {
		if (seen[o])
			return 0;
		seen[o] = true;
	}
	return decide_edge_seconds(w, u, a, b, bytes, &r, decide_labels(w, u)[0].node_s);
}
