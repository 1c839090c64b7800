/* cpu_fuse.c - steps of one or several nodes: preparing and running them. */
#include "device/cpu/fuse/cpu_codes_forms.h"
#include "device/cpu/fuse/cpu_fuse_plan.h"

#include <stdio.h>
#include <string.h>

/* A node that a kernel runs. */
struct fuse_kernel {
	struct op op;
	struct cpu_prep *prep;
	uint32_t n_in, n_out;
	struct tensor *in, *out; /* data set for constants; the rest by each run */
	uint32_t *from;          /* (n_in) the step's input, or UINT32_MAX */
};

struct fused {
	struct cpu_ctx *ctx;
	struct mem_form codes;      /* of the input that may be rows of codes */
	struct fuse_kernel *kernel; /* NULL: none */
	struct fuse_tokens *tokens; /* in its place; NULL: none */
	struct fuse_plan *plan;     /* NULL: the kernel alone */
	struct fuse_part
		*coded;        /* the last part, where its output is codes; NULL: that cannot be */
	struct code_grid grid; /* of these */
	uint32_t coded_out;
	int64_t sums; /* bytes into scratch: of what the kernel in front of it makes */
	uint32_t n_consts;
	struct tensor *consts; /* (n_consts) constants that run reads where they are */
};

/* Has it a Split behind a product that no other node of it reads?  What is behind that can take its parts from where they are
 * (cpu_moves.h). */
static bool splits_for_others(const struct step_spec *s)
{
	for (uint32_t v = 1; v < s->n_nodes && s->node[0].op->kind == OP_MATMUL; v++) {
		bool read = !op_is_split(s->node[v].op->kind);
		for (uint32_t u = v + 1; u < s->n_nodes && !read; u++)
			for (uint32_t i = 0; i < s->node[u].n_in; i++)
				read = read || (s->node[u].in[i].from == FROM_NODE &&
						s->node[u].in[i].index == v);
		if (!read)
			return true;
	}
	return false;
}

static enum group_answer fused_group(const struct step_how *how, const struct step_spec *s)
{
	struct fuse_plan p;
	(void)how;
	return s->n_nodes == 1 ||
			       (!splits_for_others(s) && fuse_parts(s, &p) && fuse_code(&p, NULL))
		       ? GROUP_YES
		       : GROUP_OTHER;
}

bool cpu_fuse_is_tokens(const struct step_spec *s)
{
	return fuse_tokens_match(s) > 0;
}

/* ---- preparing ---- */

static void kernel_free(struct fuse_kernel *k)
{
	if (!k)
		return;
	cpu_prep_free(k->prep);
	mem_free(k->in);
	mem_free(k->out);
	mem_free(k->from);
	mem_free(k);
}

static int kernel_new(const struct step_how *how, const struct step_node *n,
		      struct fuse_kernel **out, struct err *e)
{
	struct fuse_kernel *k = MEM_NEW(struct fuse_kernel);
	k->op = *n->op;
	k->n_in = n->n_in;
	k->n_out = n->n_out;
	k->in = MEM_NEWN(struct tensor, n->n_in + 1);
	k->out = mem_copy(n->out, n->n_out, sizeof *n->out);
	k->from = MEM_NEWN(uint32_t, n->n_in + 1);
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct step_arg *a = &n->in[i];
		if (a->tensor)
			k->in[i] = *a->tensor;
		k->from[i] = a->from == FROM_INPUT ? a->index : UINT32_MAX;
		if (a->from == FROM_INPUT)
			k->in[i].data = NULL;
	}
	*out = k;
	int rc = how->group.codes ? codes_prepare(how, n, &k->prep, e) : 0;
	return rc ? rc : cpu_kernel_prepare(&k->op, k->in, k->out, how->ctx, &k->prep, e);
}

/* Constants that are not packed. */
static void list_constants(struct fused *f, const struct step_spec *s)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		n += s->node[v].n_in;
	f->consts = MEM_NEWN(struct tensor, n + 1);
	for (uint32_t v = 0; v < s->n_nodes; v++)
		for (uint32_t i = 0; i < s->node[v].n_in; i++) {
			const struct step_arg *a = &s->node[v].in[i];
			bool packed = f->kernel && v == 0 && cpu_prep_owns(f->kernel->prep, (int)i);
			packed = packed || (f->tokens && v == 1 && i == 1);
			if (a->from == FROM_CONST && !packed)
				f->consts[f->n_consts++] = *a->tensor;
		}
}

/* The last part once more, with the codes of what its FakeQuantize makes as output. */
static void new_coded(struct fused *f, const struct step_how *how)
{
	struct fuse_plan *p = f->plan;
	struct fuse_part *last = &p->part[p->n_parts - 1], *c;
	const struct fuse_node *r = &p->node[last->result];
	int n = last->code.n_code;
	struct epi_code *k = &last->code.code[n > 0 ? n - 1 : 0];
	if (n == 0 || !r->leaves || r->stored || k->kind != OP_FAKE_QUANTIZE ||
	    r->kind != OP_FAKE_QUANTIZE || last->code.n_operands == EPI_OPERANDS ||
	    (last->head && f->tokens) || !grid_of_rows(how->graph, r->node->v, &f->grid))
		return;
	if (k->source[0].operand && last->code.operand[k->source[0].index].col != 1)
		return;
	f->coded_out = r->out_index;
	f->coded = c = mem_copy(last, 1, sizeof *last);
	k = &c->code.code[n - 1];
	if (!k->to.operand) {
		int at = c->code.n_operands++;
		c->code.operand[at] = (struct epi_operand){NULL, 1, c->code.rows, c->code.cols, 1};
		c->place[at] = (struct epi_place){.base = BASE_OUTPUT, .index = r->out_index};
		k->to = (struct epi_source){true, (uint8_t)at};
	}
	k->codes = &f->grid;
	k->n_sources = 1;
	f->sums = p->scratch_bytes;
	if (last->head && !codes_of_input(f->kernel->prep))
		p->scratch_bytes += (tensor_bytes(r->out) + 63) & ~(int64_t)63;
}

/* Rows of codes of a grid. */
static struct mem_form form_of_rows(const struct code_grid *g)
{
	return (struct mem_form){
		.elem = EL_U8, .scale = g->scale, .by = g->by, .shift = g->shift, .zero = g->zero};
}

static int fused_init(void *x, const struct step_how *how, const struct step_spec *s,
		      struct mem_form *want, struct err *e)
{
	struct fused *f = x;
	struct fuse_plan p;
	bool fits = fuse_parts(s, &p) && fuse_code(&p, how->ctx);
	f->ctx = how->ctx;
	if (!fits && s->n_nodes > 1)
		return err_set(e, ST_INPUT, "%u nodes that do not fuse", s->n_nodes);
	if (fits && !(s->n_nodes == 1 && p.part[0].head))
		f->plan = mem_copy(&p, 1, sizeof p);
	int rc = 0;
	if (f->plan && p.head > 0)
		rc = fuse_tokens_new(s, how->ctx, &f->tokens, e);
	else if (!f->plan || p.part[0].head)
		rc = kernel_new(how, &s->node[0], &f->kernel, e);
	if (rc < 0)
		return -1;
	if (f->plan && how->group.codes)
		new_coded(f, how);
	/* Of the plan, run needs the programs alone: the spec's nodes go. */
	for (uint32_t v = 0; f->plan && v < f->plan->n; v++)
		f->plan->node[v].node = NULL;
	list_constants(f, s);
	if (f->kernel && codes_of_input(f->kernel->prep))
		f->codes = form_of_rows(codes_of_input(f->kernel->prep));
	if (f->coded)
		want[f->coded_out] = form_of_rows(&f->grid);
	return 1;
}

static void fused_release(void *x)
{
	struct fused *f = x;
	kernel_free(f->kernel);
	fuse_tokens_free(f->tokens);
	mem_free(f->plan);
	mem_free(f->coded);
	mem_free(f->consts);
}

static void fused_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
			 void *arg)
{
	const struct fused *f = x;
	const struct cpu_prep *prep = f->kernel   ? f->kernel->prep
				      : f->tokens ? fuse_tokens_prep(f->tokens)
						  : NULL;
	if (prep && prep->pack)
		fn(arg, prep->pack, prep->pack->bytes);
	else if (prep)
		fn(arg, prep, cpu_prep_bytes(prep));
	for (uint32_t i = 0; i < f->n_consts; i++)
		fn(arg, f->consts[i].data, (uint64_t)tensor_bytes(&f->consts[i]));
}

/* In a program: the output is written, and the input read, element by element in the matrix's
 * order, and the input no more after that. */
static bool program_in_place(const struct fuse_part *p, uint32_t in, uint32_t out)
{
	int written = -1;
	for (int i = 0; i < p->code.n_operands; i++)
		if (p->place[i].base == BASE_OUTPUT && p->place[i].index == out)
			written = p->written_by[i];
	for (int i = 0; i < p->code.n_operands; i++) {
		const struct epi_operand *o = &p->code.operand[i];
		if (p->place[i].base != BASE_INPUT || p->place[i].index != in)
			continue;
		if (p->last_read[i] > written || p->place[i].bytes != 0 || o->col != 1 ||
		    (p->code.rows > 1 &&
		     (o->div != 1 || o->mod != p->code.rows || o->row != p->code.cols)))
			return false;
	}
	return written >= 0;
}

static bool fused_in_place(const void *x, uint32_t in, uint32_t out)
{
	const struct fused *f = x;
	const struct fuse_kernel *k = f->kernel;
	if (f->plan)
		return f->plan->n_parts == 1 && !k && !f->tokens &&
		       program_in_place(&f->plan->part[0], in, out);
	for (uint32_t i = 0; i < k->n_in; i++)
		if (k->from[i] == in)
			return out == 0 && cpu_kernel_in_place(&k->op, k->in, k->out, (int)i);
	return false;
}

/* ---- running ---- */

static void *address_of(const struct epi_place *p, void *const *in, void *const *out, void *scratch)
{
	const char *base = p->base == BASE_INPUT    ? in[p->index]
			   : p->base == BASE_OUTPUT ? out[p->index]
			   : p->base == BASE_CONST  ? p->data
						    : scratch;
	return (void *)(uintptr_t)(base + p->bytes);
}

static int run_part(struct fused *f, struct fuse_part *part, void *const *in, void *const *out,
		    void *scratch, struct err *e)
{
	for (int i = 0; i < part->code.n_operands; i++)
		part->code.operand[i].data = address_of(&part->place[i], in, out, scratch);
	if (!part->head) {
		cpu_epilogue_run(f->ctx, &part->code, NULL);
		return 0;
	}
	const struct fuse_node *r = &f->plan->node[part->result];
	struct fuse_kernel *k = f->kernel;
	void *to = r->leaves ? out[r->out_index] : (char *)scratch + r->scratch;
	if (f->tokens)
		return fuse_tokens_run(f->tokens, in, to,
				       part->code.n_code > 0 ? &part->code : NULL, e);
	struct kernel_call call = {
		.op = &k->op, .prep = k->prep, .in = k->in, .out = k->out, .ctx = f->ctx};
	if (part == f->coded)
		to = codes_of_input(k->prep) ? NULL : (char *)scratch + f->sums;
	k->out[0].data = to;
	if (part->code.n_code > 0)
		call.post = &part->code;
	return cpu_kernel_call(&call, e);
}

/* Input 0 of a product of codes may be rows of these. */
static bool fused_takes(const void *x, uint32_t i, const struct mem_form *f)
{
	const struct fused *m = x;
	const struct mem_form *of = &m->codes;
	return of->elem == EL_U8 && m->kernel->from[0] == i && f->elem == EL_U8 && !f->nhwc &&
	       f->by == of->by && f->shift == of->shift;
}

static int fused_run(void *x, const struct step_io *io, struct err *e)
{
	struct fused *f = x;
	void *const *in = io->plain_in, *const *out = io->plain_out;
	struct fuse_kernel *k = f->kernel;
	void *scratch = NULL;
	for (uint32_t i = 0; k && i < k->n_in; i++)
		if (k->from[i] != UINT32_MAX)
			k->in[i].data = in[k->from[i]];
	if (f->codes.elem == EL_U8)
		k->in[0].elem =
			fused_takes(f, k->from[0], &io->in[k->from[0]]->form) ? EL_U8 : EL_F32;
	if (!f->plan) {
		for (uint32_t i = 0; i < k->n_out; i++)
			k->out[i].data = out[i];
		return cpu_kernel_run(&k->op, k->prep, k->in, k->out, f->ctx, e);
	}
	if (f->plan->scratch_bytes > 0 &&
	    !(scratch = cpu_slot_scratch(f->ctx, SLOT_STEP, (size_t)f->plan->scratch_bytes)))
		return cpu_no_memory(e);
	for (int i = 0; i < f->plan->n_parts; i++) {
		bool coded = f->coded && i == f->plan->n_parts - 1 &&
			     io->out[f->coded_out]->form.elem == EL_U8;
		if (run_part(f, coded ? f->coded : &f->plan->part[i], in, out, scratch, e) < 0)
			return -1;
	}
	return 0;
}

static void fused_detail(const void *x, char *dst, size_t cap)
{
	const struct fused *f = x;
	snprintf(dst, cap, "%s",
		 f->codes.elem == EL_U8 ? "int8"
		 : f->tokens            ? "depthwise on tokens"
		 : f->plan && f->kernel ? "element-wise operators behind it in passing"
					: "");
}

const struct step_kind fused_kind = {
	.name = "plain kernels",
	.size = sizeof(struct fused),
	.plain = true,
	.group = fused_group,
	.init = fused_init,
	.release = fused_release,
	.takes = fused_takes,
	.run = fused_run,
	.in_place = fused_in_place,
	.detail = fused_detail,
	.memory = fused_memory,
};
