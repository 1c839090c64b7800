/* model_draw.c - what each input of a model stands for, and values like that. */
#include "exec/model_draw.h"
#include "base/heap.h"
#include "base/rng.h"
#include "op/value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is known of an input from those that read it. */
struct readers {
	int64_t gather;    /* the smallest range of the Gathers that it indexes; 0: none */
	int64_t length;    /* of the sequences whose lengths it has; 0: none */
	bool positive;     /* a Log or a root reads it */
	bool added;        /* scores are added to it */
	bool keeps, masks; /* a Select's condition: what is set is kept, or masked */
	bool image_size;   /* a detector's size of the image */
};

/* What an input is when nothing negates it, and when something does; MET: a node that reads it. */
enum { CARRIED = 1, NEGATED = 2, MET = 4 };

/* Room to follow an input; how is all zeros between inputs. */
struct followed {
	uint8_t *how;    /* (n) of the above, what a node has of the input */
	uint64_t *next;  /* (n+1) rows to come, a heap */
	uint32_t *reach; /* (n+1) all rows that were met */
};

struct draw {
	struct model *m;
	const struct followed *f;
	uint32_t i; /* the input */
	struct tensor t;
	char name[600]; /* in lower case, of the layer and of its tensor */
	struct readers by;
};

/* ---- who reads it ---- */

static const struct tensor *slot_tensor(const struct draw *x, uint32_t slot)
{
	return &x->m->values.value[graph_slot_output(x->m->g, slot)];
}

/* The constant that a slot reads, first element; false when it is none. */
static bool slot_constant(struct draw *x, uint32_t slot, double *out, struct err *e)
{
	const struct graph *g = x->m->g;
	if (g->in_node[slot] == GRAPH_NONE || !x->m->constant[g->in_node[slot]])
		return false;
	uint32_t o = graph_slot_output(g, slot);
	if (model_value(x->m, o, e) < 0 || tensor_elements(&x->m->values.value[o]) < 1)
		return false;
	*out = tensor_real(&x->m->values.value[o], 0);
	return true;
}

/* Of a Gather's indices: the size of the gathered dim, or 0 when it cannot be told. */
static int64_t gather_bound(struct draw *x, uint32_t v, struct err *e)
{
	const struct graph *g = x->m->g;
	uint32_t in = g->in_ptr[v];
	struct tensor data;
	double at;
	if (g->in_ptr[v + 1] - in < 3 || g->in_node[in] == GRAPH_NONE ||
	    !slot_constant(x, in + 2, &at, e))
		return 0;
	if (!tensor_describe(g, graph_slot_output(g, in), &data))
		return 0;
	int axis = op_axis((int64_t)at, (int)data.rank);
	return axis < 0 ? 0 : data.dim[axis];
}

/* The dim along which sequence operator v runs, when slot s has its lengths; else 0. */
static int64_t sequence_length(const struct draw *x, uint32_t v, uint32_t s)
{
	const struct graph *g = x->m->g;
	const struct op *op = &x->m->op[v];
	uint32_t port = s - g->in_ptr[v];
	const struct tensor *data =
		g->in_node[g->in_ptr[v]] == GRAPH_NONE ? NULL : slot_tensor(x, g->in_ptr[v]);
	int axis = 1;
	switch (op->kind) {
	case OP_LSTM_SEQUENCE: port -= 1; /* it has a cell state, too */ /* fall through */
	case OP_GRU_SEQUENCE:
	case OP_RNN_SEQUENCE:
		if (port != 2)
			return 0;
		break;
	case OP_REVERSE_SEQUENCE: {
		const char *seq_axis = graph_attr(g, v, "seq_axis");
		long long a = 1;
		if (port != 1 || (seq_axis && sscanf(seq_axis, "%lld", &a) != 1) || !data)
			return 0;
		axis = op_axis(a, (int)data->rank);
		break;
	}
	default: /* no lengths */ return 0;
	}
	return data && axis >= 0 && (uint32_t)axis < data->rank && data->dim[axis] > 0
		       ? data->dim[axis]
		       : 0;
}

static void note_select(struct draw *x, uint32_t v, unsigned how, struct err *e)
{
	static const double MINUS_INFINITY = -1e4; /* or what stands for it, f16's smallest too */
	uint32_t in = x->m->g->in_ptr[v];
	double value = 0;
	for (uint32_t branch = 1; branch <= 2; branch++)
		if (slot_constant(x, in + branch, &value, e) && value < MINUS_INFINITY) {
			bool masks = (branch == 1) == (how == CARRIED);
			x->by.masks |= masks;
			x->by.keeps |= !masks;
		}
}

static bool is_gather(enum op_kind kind)
{
	return kind == OP_GATHER || kind == OP_GATHER_ELEMENTS || kind == OP_GATHER_ND ||
	       kind == OP_GATHER_TREE;
}

/* Node v reads the input, through slot s. */
static void note_reader(struct draw *x, uint32_t v, uint32_t s, unsigned how, struct err *e)
{
	const struct graph *g = x->m->g;
	uint32_t in = g->in_ptr[v], port = s - in;
	int64_t b;
	double exponent;
	if (is_gather(g->kind[v]) && port == 1) {
		b = gather_bound(x, v, e);
		if (b > 0 && (x->by.gather == 0 || b < x->by.gather))
			x->by.gather = b;
		return;
	}
	if ((b = sequence_length(x, v, s)) > 0 && (x->by.length == 0 || b < x->by.length))
		x->by.length = b;
	switch (x->m->op[v].kind) {
	case OP_LOG:
	case OP_SQRT: x->by.positive = true; break;
	case OP_POWER:
		x->by.positive |= port == 0 && slot_constant(x, in + 1, &exponent, e) &&
				  exponent != floor(exponent);
		break;
	case OP_ADD: x->by.added = true; break;
	case OP_ATTENTION:
		x->by.keeps |= port == 3;
		x->by.added |= port == 3;
		break;
	case OP_SELECT:
		if (port == 0)
			note_select(x, v, how, e);
		break;
	case OP_PROPOSAL: x->by.image_size |= port == 2; break;
	case OP_GENERATE_PROPOSALS:
	case OP_DETECTRON_PROPOSALS: x->by.image_size |= port == 0; break;
	default: /* wants nothing of its values */ break;
	}
}

/* Does v hand on what input 0 holds, as it is, in another type or place? */
static bool carries(const struct op *op)
{
	return op->kind == OP_CONVERT ||
	       (op->kind != OP_UNKNOWN && (op_info(op->kind)->category == OPC_VIEW ||
					   op_info(op->kind)->category == OPC_MOVE));
}

/* Node v, which reads the input. */
static void follow(struct draw *x, uint32_t v, struct err *e)
{
	const struct graph *g = x->m->g;
	uint8_t *how = x->f->how;
	for (uint32_t s = g->in_ptr[v]; s < g->in_ptr[v + 1]; s++) {
		unsigned has =
			g->in_node[s] == GRAPH_NONE ? 0 : how[g->in_node[s]] & (CARRIED | NEGATED);
		if (!has)
			continue;
		note_reader(x, v, s, has, e);
		if (is_gather(g->kind[v]) && s == g->in_ptr[v] + 1)
			continue; /* what it makes are no indices any more */
		if (carries(&x->m->op[v]))
			how[v] |= has;
		else if (x->m->op[v].kind == OP_LOGICAL_NOT)
			how[v] |= has ^ (CARRIED | NEGATED);
	}
}

/* What reads the input, from it on in the order of rows, through nodes that carry it. */
static int find_readers(struct draw *x, struct err *e)
{
	const struct consumers *readers = &x->m->g->consumers;
	uint8_t *how = x->f->how;
	uint32_t n_next = 0, n_reach = 0;
	how[x->m->param[x->i]] = CARRIED | MET;
	heap_push(x->f->next, &n_next, x->m->param[x->i]);
	while (n_next > 0 && e->code == ST_OK) {
		uint32_t v = (uint32_t)heap_pop(x->f->next, &n_next);
		x->f->reach[n_reach++] = v;
		follow(x, v, e);
		for (uint32_t k = readers->ptr[v];
		     how[v] & (CARRIED | NEGATED) && k < readers->ptr[v + 1]; k++)
			if (!(how[readers->dst[k]] & MET)) {
				how[readers->dst[k]] = MET;
				heap_push(x->f->next, &n_next, readers->dst[k]);
			}
	}
	for (uint32_t k = 0; k < n_reach; k++)
		how[x->f->reach[k]] = 0;
	return e->code == ST_OK ? 0 : -1;
}

/* ---- names ---- */

static void find_name(struct draw *x)
{
	const struct graph *g = x->m->g;
	uint32_t v = x->m->param[x->i];
	snprintf(x->name, sizeof x->name, "%s,%s", g->node_name[v], g->out_names[g->out_ptr[v]]);
	for (char *c = x->name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

/* Has the name one of these, up to NULL? */
static bool is_called(const struct draw *x, const char *const *part)
{
	for (; *part; part++)
		if (strstr(x->name, *part))
			return true;
	return false;
}
#define CALLED(x, ...) is_called(x, (const char *const[]){__VA_ARGS__, NULL})

/* ---- values ---- */

static void fill(struct draw *x, double value)
{
	int64_t n = tensor_elements(&x->t);
	for (int64_t j = 0; j < n; j++)
		if (elem_is_real(x->t.elem))
			tensor_set_real(&x->t, j, value);
		else
			tensor_set_int(&x->t, j, (int64_t)value);
}

/* 0, 1, 2, ... in rows of `row`, below `bound` (0: any). */
static void count_up(struct draw *x, int64_t row, int64_t bound)
{
	int64_t n = tensor_elements(&x->t);
	for (int64_t j = 0; j < n; j++) {
		int64_t value = row > 0 ? j % row : j;
		tensor_set_int(&x->t, j, bound > 0 ? value % bound : value);
	}
}

static bool fill_mask(struct draw *x)
{
	bool real = elem_is_real(x->t.elem), called = CALLED(x, "mask");
	if (!called && !(x->by.gather == 0 && (x->by.keeps || x->by.masks)))
		return false;
	if (x->by.masks != x->by.keeps && !real)
		fill(x, x->by.keeps);
	else if (real)
		fill(x, !x->by.added);
	else
		fill(x, !(x->t.elem == EL_BOOLEAN && CALLED(x, "pad")));
	return true;
}

/* Dim 1 of the input of rank 2 or 3 with the most elements; 1 when there is none. */
static int64_t longest(const struct draw *x)
{
	const struct model *m = x->m;
	int64_t most = 0, length = 1;
	for (uint32_t i = 0; i < m->n_params; i++) {
		const struct tensor *t = &m->values.value[m->g->out_ptr[m->param[i]]];
		if ((t->rank == 2 || t->rank == 3) && tensor_elements(t) > most) {
			most = tensor_elements(t);
			length = t->dim[1];
		}
	}
	return length;
}

static bool fill_lengths(struct draw *x)
{
	if (elem_is_real(x->t.elem) || x->t.rank > 1 || x->by.gather > 0)
		return false;
	if (x->by.length == 0 && !CALLED(x, "length", "_lens", "_len"))
		return false;
	fill(x, (double)(x->by.length ? x->by.length : longest(x)));
	return true;
}

/* Height and width of the first input of rank 4, whose channels are in front or last. */
static bool fill_image_size(struct draw *x)
{
	const struct model *m = x->m;
	int64_t n = tensor_elements(&x->t);
	if (!x->by.image_size && !CALLED(x, "im_info", "image_info", "im_shape", "image_shape",
					 "image_size", "img_size"))
		return false;
	for (uint32_t i = 0; i < m->n_params; i++) {
		const struct tensor *t = &m->values.value[m->g->out_ptr[m->param[i]]];
		if (i == x->i || t->rank != 4)
			continue;
		int first = t->dim[3] <= 4 ? 1 : 2;
		fill(x, 1);
		for (int64_t j = 0; j < n && j < 2; j++)
			if (elem_is_real(x->t.elem))
				tensor_set_real(&x->t, j, (double)t->dim[first + (int)j]);
			else
				tensor_set_int(&x->t, j, t->dim[first + (int)j]);
		return true;
	}
	return false;
}

static bool fill_positions(struct draw *x)
{
	if (elem_is_real(x->t.elem) || x->t.elem == EL_BOOLEAN)
		return false;
	if (CALLED(x, "beam_idx"))
		count_up(x, 0, x->by.gather);
	else if (CALLED(x, "position", "pos_id"))
		count_up(x, x->t.rank ? x->t.dim[x->t.rank - 1] : 0, x->by.gather);
	else
		return false;
	return true;
}

static void draw_reals(struct draw *x, const struct rng_addr *a)
{
	int64_t n = tensor_elements(&x->t);
	if (x->t.elem == EL_F32 && !x->by.positive) {
		rng_uniform_f32(a, -1, 1, x->t.data, (size_t)n);
		return;
	}
	for (int64_t j = 0; j < n; j++) {
		double u = rng_uniform(a, (uint32_t)j);
		tensor_set_real(&x->t, j, x->by.positive ? 1 - u : 2 * u - 1);
	}
}

static void draw_integers(struct draw *x, const struct rng_addr *a)
{
	int64_t n = tensor_elements(&x->t), bound = x->by.gather;
	if (bound <= 0 || x->t.elem == EL_BOOLEAN)
		bound = x->t.elem == EL_U8 && x->t.rank >= 3 ? 256 : 2;
	if (bound > INT32_MAX)
		bound = INT32_MAX;
	for (int64_t j = 0; j < n; j++)
		tensor_set_int(&x->t, j, rng_below(a, (uint32_t)j, (uint32_t)bound));
}

static int draw_input(struct draw *x, const struct rng_addr *a, struct err *e)
{
	find_name(x);
	if (find_readers(x, e) < 0)
		return -1;
	if (fill_mask(x) || fill_positions(x) || fill_lengths(x) || fill_image_size(x))
		return 0;
	if (elem_is_real(x->t.elem))
		draw_reals(x, a);
	else
		draw_integers(x, a);
	return 0;
}

int inputs_seed(struct model *m, uint64_t seed, struct err *e)
{
	size_t n = (size_t)m->g->n + 1;
	struct followed f = {MEM_NEWN(uint8_t, n), MEM_NEWN(uint64_t, n), MEM_NEWN(uint32_t, n)};
	int rc = 0;
	for (uint32_t i = 0; i < m->n_params && rc == 0; i++) {
		struct draw x = {.m = m, .f = &f, .i = i};
		const struct rng_addr a = {seed, 0, i, RNG_INPUT};
		x.t = m->values.value[m->g->out_ptr[m->param[i]]];
		x.t.data = m->input[i];
		rc = draw_input(&x, &a, e);
	}
	mem_free(f.how);
	mem_free(f.next);
	mem_free(f.reach);
	return rc;
}
