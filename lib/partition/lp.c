/* lp.c - linear programmes by rows, and Clp, whose header only this file sees. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "partition/lp.h"
#include "base/mem.h"
#include "linear/blas.h"

struct term {
	uint32_t row, column;
	double value;
};

struct lp {
	uint32_t n_columns, n_rows;
	size_t n_terms, column_cap[3], row_cap[2], term_cap;
	double *column_lo, *column_hi, *cost, *row_lo, *row_hi;
	struct term *term;
};

struct lp *lp_new(void)
{
	return MEM_NEW(struct lp);
}

void lp_free(struct lp *x)
{
	if (!x)
		return;
	mem_free(x->column_lo);
	mem_free(x->column_hi);
	mem_free(x->cost);
	mem_free(x->row_lo);
	mem_free(x->row_hi);
	mem_free(x->term);
	mem_free(x);
}

static void append(double **array, size_t *cap, uint32_t n, double value)
{
	*array = mem_grow(*array, cap, (size_t)n + 1, sizeof(**array));
	(*array)[n] = value;
}

uint32_t lp_column(struct lp *x, double lo, double hi, double cost)
{
	append(&x->column_lo, &x->column_cap[0], x->n_columns, lo);
	append(&x->column_hi, &x->column_cap[1], x->n_columns, hi);
	append(&x->cost, &x->column_cap[2], x->n_columns, cost);
	return x->n_columns++;
}

uint32_t lp_row(struct lp *x, double lo, double hi)
{
	append(&x->row_lo, &x->row_cap[0], x->n_rows, lo);
	append(&x->row_hi, &x->row_cap[1], x->n_rows, hi);
	return x->n_rows++;
}

void lp_term(struct lp *x, uint32_t column, double value)
{
	x->term = mem_grow(x->term, &x->term_cap, x->n_terms + 1, sizeof(*x->term));
	x->term[x->n_terms++] = (struct term){x->n_rows - 1, column, value};
}

/* ---- Clp ---- */

/* clang-format off */
#define CLP_FUNCTIONS(X) \
	X(newModel) X(deleteModel) X(loadProblem) X(setLogLevel) X(setMaximumIterations) \
	X(setMaximumSeconds) X(initialSolve) X(status) X(objectiveValue) X(primalColumnSolution) \
	X(dualRowSolution)
/* clang-format on */

static struct {
	void *library;
#define MEMBER(f) __typeof__(Clp_##f) *f;
	CLP_FUNCTIONS(MEMBER)
} clp;

static int load_clp(struct err *e)
{
	static const char NAME[] = "libClp.so.1";

	if (clp.library)
		return 0;
	/* Clp's BLAS would start a thread for each core and, where one has got no memory, wait
	 * for it at exit for ever. */
	void *library = blas_dlopen(NAME);

	if (!library)
		return err_set(e, ST_RUNTIME,
			       "cannot load '%s' for linear programmes; install COIN-OR Clp "
			       "(Debian: coinor-libclp1)",
			       NAME);
#define LOOK_UP(f) \
	if (!(*(void **)&clp.f = dlsym(library, "Clp_" #f))) { \
		dlclose(library); \
		return err_set(e, ST_RUNTIME, "'%s' has no Clp_" #f, NAME); \
	}
	CLP_FUNCTIONS(LOOK_UP)
	clp.library = library;
	return 0;
}

/* Clp's form: terms by column. */
static Clp_Simplex *make_model(const struct lp *p)
{
	CoinBigIndex *ptr = MEM_NEWN(CoinBigIndex, (size_t)p->n_columns + 2);
	int *row = MEM_NEWN(int, p->n_terms + 1);
	double *value = MEM_NEWN(double, p->n_terms + 1);
	Clp_Simplex *model = clp.newModel();

	for (size_t i = 0; i < p->n_terms; i++)
		ptr[p->term[i].column + 2]++;
	for (uint32_t i = 0; i < p->n_columns; i++)
		ptr[i + 2] += ptr[i + 1];
	for (size_t i = 0; i < p->n_terms; i++) {
		CoinBigIndex at = ptr[p->term[i].column + 1]++;

		row[at] = (int)p->term[i].row;
		value[at] = p->term[i].value;
	}
	clp.setLogLevel(model, 0);
	clp.loadProblem(model, (int)p->n_columns, (int)p->n_rows, ptr, row, value, p->column_lo,
			p->column_hi, p->cost, p->row_lo, p->row_hi);
	mem_free(value);
	mem_free(row);
	mem_free(ptr);
	return model;
}

int lp_solve(const struct lp *p, int32_t max_steps, double max_s, double *x, double *dual,
	     double *objective, struct err *e)
{
	static const enum lp_status of_clp[] = {LP_OPTIMAL, LP_INFEASIBLE, LP_UNBOUNDED};

	if (load_clp(e) < 0)
		return -1;
	Clp_Simplex *model = make_model(p);

	if (max_steps > 0)
		clp.setMaximumIterations(model, max_steps);
	if (max_s > 0)
		clp.setMaximumSeconds(model, max_s);
	clp.initialSolve(model);
	int status = clp.status(model);

	if (x)
		memcpy(x, clp.primalColumnSolution(model), p->n_columns * sizeof(*x));
	if (dual)
		memcpy(dual, clp.dualRowSolution(model), p->n_rows * sizeof(*dual));
	*objective = clp.objectiveValue(model);
	clp.deleteModel(model);
	return status >= 0 && status <= 2 ? (int)of_clp[status] : (int)LP_STOPPED;
}
