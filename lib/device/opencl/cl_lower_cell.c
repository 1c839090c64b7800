/* cl_lower_cell.c - launches of recurrent cells and sequences: the product of all inputs with W, then
 * step by step the product of the state with R and what the gates make of both.
 *
 * W (d, rows, in), R (d, rows, hidden), B (d, b_rows), rows: gates * hidden. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"
#include "op/value.h"

/* Temporaries: products of the inputs and of the state; GRU's r * h and its product. */
enum { XG, RG, RH, RHG };

struct cells {
	enum cell_kind kind;
	bool sequence, before, lstm;
	int batch, steps, in, hidden, directions, gates;
	int w;       /* port of W; R and B follow */
	int lengths; /* port; -1 */
	int h_port;  /* outputs: the state; c is the next */
};

static int describe(struct cl_lowering *p, struct cells *c)
{
	const struct op_cell *a = &p->op->a.cell;
	enum op_kind k = p->op->kind;
	*c = (struct cells){.lengths = -1, .hidden = (int)a->hidden, .directions = 1, .steps = 1};
	c->lstm = k == OP_LSTM_CELL || k == OP_LSTM_SEQUENCE;
	c->sequence = k == OP_LSTM_SEQUENCE || k == OP_GRU_SEQUENCE || k == OP_RNN_SEQUENCE;
	bool gru = k == OP_GRU_CELL || k == OP_GRU_SEQUENCE;
	c->before = gru && a->linear_before_reset;
	c->gates = c->lstm ? 4 : gru ? 3 : 1;
	c->kind = c->lstm ? CELL_LSTM : !gru ? CELL_RNN : c->before ? CELL_GRU_BEFORE : CELL_GRU;
	c->w = c->lstm ? 3 : 2;
	c->batch = (int)p->in[0].dim[0];
	c->in = (int)p->in[0].dim[p->in[0].rank - 1];
	if (c->sequence) {
		c->lengths = c->w++;
		c->steps = (int)p->in[0].dim[1];
		c->directions = a->bidirectional ? 2 : 1;
		c->h_port = 1;
	}
	for (int i = 0; i < p->op->n_in; i++)
		if (i != c->lengths && i <= c->w + 2 && p->in[i].elem != EL_F32)
			return cl_lower_refuse(p, "%s of %s is not supported", op_info(k)->type,
					       elem_name(p->in[i].elem));
	if (!p->constant[c->w] || !p->constant[c->w + 1] || !p->constant[c->w + 2])
		return cl_lower_refuse(p, "weights of %s must be constants on an OpenCL device",
				       op_info(k)->type);
	if (a->input_forget || p->op->n_in > c->w + 3)
		return cl_lower_refuse(p, "%s with peepholes is not supported", op_info(k)->type);
	int64_t rows = c->gates * (int64_t)c->hidden;
	if (tensor_elements(&p->in[c->w]) != c->directions * rows * c->in ||
	    tensor_elements(&p->in[c->w + 1]) != c->directions * rows * c->hidden ||
	    tensor_elements(&p->in[c->w + 2]) !=
		    c->directions * (rows + (c->before ? c->hidden : 0)))
		return cl_lower_refuse(p, "weights of %s do not fit", op_info(k)->type);
	return 0;
}

static int padded(const struct cl_lowering *p, int n)
{
	int nr = p->s->shape.nr;
	return (n + nr - 1) / nr * nr;
}

/* A product with weights (directions, all rows, k), of which rows first to first + n - 1 count. */
static struct gemm_args product_args(const struct cl_lowering *p, const struct cells *c, int m,
				     int n, int k)
{
	struct gemm_args g = {.m = m,
			      .n = n,
			      .k = k,
			      .b_mode = B_PACKED,
			      .acs = 1,
			      .brs = 1,
			      .bcs = k,
			      .n_batch = 1};
	g.batch[0] = c->directions;
	g.bs[0] = padded(p, n) * k;
	return g;
}

/* xg (d, batch * steps, rows) = x W' + B */
static void lower_inputs(struct cl_lowering *p, const struct cells *c)
{
	int rows = c->gates * c->hidden;
	struct gemm_args g = product_args(p, c, c->batch * c->steps, rows, c->in);
	struct cl_ref refs[] = {
		{REF_IN, 0, 0}, {REF_PACK_B, c->w, 0}, {REF_TEMP, XG, 0}, {REF_IN, c->w + 2, 0}};
	g.ars = c->in;
	g.at[0] = (struct operand){1, c->directions, rows + (c->before ? c->hidden : 0), 0, 1};
	g.chain = (struct chain){1, {{.op = E_ADD, .from = 0}}};
	cl_lower_product(p, &g, c->directions, refs, 4);
}

/* rg (d, batch, rows) = h R' and, for GRU with the reset behind it, the last gate's bias; h is
 * (batch, d, hidden). */
static void lower_state(struct cl_lowering *p, const struct cells *c, int bias_blob)
{
	int rows = c->gates * c->hidden;
	struct gemm_args g = product_args(p, c, c->batch, rows, c->hidden);
	struct cl_ref refs[] = {{REF_OUT, c->h_port, 0},
				{REF_PACK_B, c->w + 1, 0},
				{REF_TEMP, RG, 0},
				{REF_BLOB, bias_blob, 0}};
	g.ars = c->directions * c->hidden;
	g.as[0] = c->hidden;
	if (c->before) {
		g.at[0] = (struct operand){1, c->directions, rows, 0, 1};
		g.chain = (struct chain){1, {{.op = E_ADD, .from = 0}}};
	}
	cl_lower_product(p, &g, c->directions, refs, c->before ? 4 : 3);
}

/* rhg (d, batch, rows) = (r * h) R', of which only the last gate counts. */
static void lower_reset(struct cl_lowering *p, const struct cells *c)
{
	struct gemm_args g = product_args(p, c, c->batch, c->gates * c->hidden, c->hidden);
	struct cl_ref refs[] = {{REF_TEMP, RH, 0}, {REF_PACK_B, c->w + 1, 0}, {REF_TEMP, RHG, 0}};
	g.ars = c->hidden;
	g.as[0] = c->batch * c->hidden;
	cl_lower_product(p, &g, c->directions, refs, 3);
}

static int act_of(enum op_activation a)
{
	return a == ACT_SIGMOID ? E_SIGMOID
	       : a == ACT_TANH  ? E_TANH
	       : a == ACT_RELU  ? E_RELU
				: E_COPY;
}

/* Step t of direction d. */
static void lower_gates(struct cl_lowering *p, const struct cells *c, enum cell_kind kind, int d,
			int t)
{
	const struct op_cell *op = &p->op->a.cell;
	struct cl_launch *l = cl_lower_launch(p, K_cell);
	struct cell_args *a = &l->args.cell;
	int n = c->hidden, rows = c->gates * n;
	*a = (struct cell_args){.kind = kind,
				.batch = c->batch,
				.hidden = n,
				.clip = op->clip,
				.act = {act_of(op->act[0]), act_of(op->act[1]), act_of(op->act[2])},
				.x_rows = c->gates,
				.x_at = d * c->batch * c->steps * rows,
				.x_step = c->steps * rows,
				.t_x = rows,
				.r_at = d * c->batch * rows,
				.y_at = d * c->steps * n,
				.y_step = c->sequence ? c->directions * c->steps * n : 0,
				.t_y = n,
				.t = t,
				.steps = c->steps,
				.reverse = d == 1 || op->reverse,
				.code = c->lengths < 0 ? -1 : cl_code(p, p->in[c->lengths].elem),
				.state_at = d * n,
				.state_step = c->directions * n};
	cl_lower_buf(l, REF_TEMP, XG);
	cl_lower_buf(l, REF_TEMP, RG);
	cl_lower_buf(l, REF_OUT, c->h_port);
	if (kind == CELL_GRU_RESET) {
		a->y_at = d * c->batch * n;
		cl_lower_buf(l, REF_TEMP, RH);
	} else if (kind == CELL_GRU) {
		cl_lower_buf(l, REF_TEMP, RHG);
	} else {
		cl_lower_buf(l, REF_OUT, c->h_port + c->lstm);
	}
	cl_lower_buf(l, REF_OUT, 0);
	cl_lower_buf(l, REF_IN, c->lengths < 0 ? 0 : c->lengths);
	l->groups[0] = cl_lower_groups(p->s, (int64_t)c->batch * n);
}

static void copy_state(struct cl_lowering *p, int from, int to)
{
	struct cl_launch *l = cl_lower_launch(p, K_copy);
	l->copy_bytes = cl_bytes(p, &p->out[to]);
	cl_lower_buf(l, REF_IN, from);
	cl_lower_buf(l, REF_OUT, to);
}

/* The last gate's second bias of GRU, with zeros for the others: (d, rows).  -1: no memory. */
static int gate_bias(struct cl_lowering *p, const struct cells *c)
{
	int blob, n = c->hidden;
	struct tensor to = {
		.elem = p->s->half ? EL_F16 : EL_F32, .rank = 1, .dim = {c->directions * 3 * n}};
	const float *b = p->in[c->w + 2].data;
	to.data = cl_lower_blob(p, (size_t)tensor_bytes(&to), &blob);
	if (!to.data)
		return -1;
	for (int d = 0; b && d < c->directions; d++)
		for (int j = 0; j < n; j++)
			tensor_set_real(&to, (d * 3 + 2) * n + j, b[(d * 4 + 3) * n + j]);
	return blob;
}

int cl_lower_cell(struct cl_lowering *p)
{
	struct cells c;
	if (describe(p, &c))
		return -1;
	size_t rows = (size_t)c.gates * (size_t)c.hidden, d = (size_t)c.directions;
	if (d * rows * (size_t)c.batch * (size_t)c.steps >= INT32_MAX)
		return cl_lower_refuse(p, "a sequence that is too large for the kernels");
	cl_lower_temp(p, d * rows * (size_t)c.batch * (size_t)c.steps * sizeof(float));
	cl_lower_temp(p, d * rows * (size_t)c.batch * sizeof(float));
	if (c.kind == CELL_GRU) {
		cl_lower_temp(p, d * (size_t)c.hidden * (size_t)c.batch * sizeof(float));
		cl_lower_temp(p, d * rows * (size_t)c.batch * sizeof(float));
	}
	int bias = c.before ? gate_bias(p, &c) : 0;
	if (bias < 0)
		return cl_lower_refuse(p, "no memory for biases");
	lower_inputs(p, &c);
	copy_state(p, 1, c.h_port);
	if (c.lstm)
		copy_state(p, 2, c.h_port + 1);
	for (int t = 0; t < c.steps; t++) {
		lower_state(p, &c, bias);
		for (int i = 0; c.kind == CELL_GRU && i < c.directions; i++)
			lower_gates(p, &c, CELL_GRU_RESET, i, t);
		if (c.kind == CELL_GRU)
			lower_reset(p, &c);
		for (int i = 0; i < c.directions; i++)
			lower_gates(p, &c, c.kind, i, t);
	}
	return 0;
}
