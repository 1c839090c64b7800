/* cl_chain.cl - chains of element-wise operators on f32 (struct chain), applied to a row
 * of values that are still in registers; put in front of the programs that
 * do so.
 *
 * A row is CV vectors: on a CPU several, so that finding out which operator it is
 * costs little; on a GPU one.  Of tiles (TILED) it is the same columns of four rows, whose operands
 * are on their way together. */

#if defined(TILED)
#define CV 4
#define ROW UNROLL for (int v = 0; v < CV; v++)
#define OPERAND(p, t, step, i, n) load((p) + min(v, s->rows - 1) * (t), step, i, n)
#elif LS == 1
#define CV NV
#define OPERAND(p, t, step, i, n) load(p, step, (i) + v * VW, (n) - v * VW)
#else
#define CV 1
#define OPERAND(p, t, step, i, n) load(p, step, i, n)
#endif
#ifndef ROW
#define ROW for (int v = 0; v < CV; v++)
#endif
#define EACH_OPERAND UNROLL for (int j = 0; j < OPERANDS; j++)

/* The operands of a row: place i of it is p[j][i * s[j]]; TILED: of `rows` rows, t[j] apart. */
struct sources {
	global const real *p[OPERANDS];
	int s[OPERANDS];
#ifdef TILED
	int t[OPERANDS], rows;
#endif
};

#if LS == 1
/* Polynomial and range reduction of Cephes' expf: a few ulp, NaN stays NaN. */
fv exp_of(fv x)
{
	x = x > 89.0f ? (fv)(89.0f) : x < -104.0f ? (fv)(-104.0f) : x;
	fv n = rint(x * 1.44269504f);
	fv r = fma(n, (fv)(2.12194440e-4f), fma(n, (fv)(-0.693359375f), x));
	fv y = fma(r, (fv)(1.9875691500e-4f), (fv)(1.3981999507e-3f));
	y = fma(y, r, (fv)(8.3334519073e-3f));
	y = fma(y, r, (fv)(4.1665795894e-2f));
	y = fma(y, r, (fv)(1.6666665459e-1f));
	y = fma(y, r, (fv)(5.0000001201e-1f));
	y = fma(y, r * r, r) + 1.0f;
	/* times 2^n, in two factors that do not overflow */
	iv e = CAT(convert_int, VW)(n), h = e >> 1;
	return y * CAT(as_float, VW)((h + 127) << 23) * CAT(as_float, VW)((e - h + 127) << 23);
}

fv tanh_of(fv x)
{
	fv s = x * x, t = 1.0f - 2.0f / (1.0f + exp_of(2.0f * x));
	fv small = x * fma(s, fma(s, (fv)(2.0f / 15.0f), (fv)(-1.0f / 3.0f)), (fv)(1.0f));
	return s < 0.01f ? small : t;
}

/* Abramowitz and Stegun 7.1.26, its error 1.5e-7; near zero, where that counts, the series. */
fv erf_of(fv x)
{
	fv a = fabs(x), s = x * x, t = 1.0f / (1.0f + 0.3275911f * a);
	fv y = fma(t, (fv)(1.061405429f), (fv)(-1.453152027f));
	y = fma(y, t, (fv)(1.421413741f));
	y = fma(y, t, (fv)(-0.284496736f));
	y = fma(y, t, (fv)(0.254829592f));
	y = copysign(1.0f - y * t * exp_of(-s), x);
	fv z = fma(s, (fv)(5.2239776e-3f), (fv)(-2.6866171e-2f));
	z = fma(z, s, (fv)(1.1283792e-1f));
	z = fma(z, s, (fv)(-3.7612639e-1f));
	z = fma(z, s, (fv)(1.1283792f)) * x;
	return a < 0.5f ? z : y;
}
#else
#define exp_of exp
#define tanh_of tanh
#define erf_of erf
#endif

fv gate6(fv x)
{
	return fmin(fmax(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
}

fv sigmoid(fv x)
{
	return 1.0f / (1.0f + exp_of(-x));
}

fv soft_plus(fv x)
{
	return fmax(x, 0.0f) + log(1.0f + exp_of(-fabs(x)));
}

/* Functions that cost more than the look-up of which one it is; those that seldom follow a product
 * are in the element-wise program alone, for they take long to compile. */
fv function(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_SIGMOID: return sigmoid(x);
	case E_TANH: return tanh_of(x);
	case E_GELU_ERF: return 0.5f * x * (1.0f + erf_of(x * 0.70710678118654752f));
	case E_GELU_TANH:
		return 0.5f * x * (1.0f + tanh_of(0.79788456080286536f
						  * (x + 0.044715f * x * x * x)));
	case E_SWISH: return x * sigmoid(y * x);
	case E_ELU: return fmax(x, 0.0f) + alpha * (exp_of(fmin(x, 0.0f)) - 1.0f);
#ifdef ELEM
	case E_EXP: return exp_of(x);
	case E_LOG: return log(x);
	case E_ERF: return erf_of(x);
	case E_SOFT_PLUS: return soft_plus(x);
	case E_MISH: return x * tanh_of(soft_plus(x));
	case E_SELU: return beta * (fmax(x, 0.0f) + alpha * (exp_of(fmin(x, 0.0f)) - 1.0f));
	case E_CEIL: return ceil(x);
	case E_FLOOR: return floor(x);
	case E_ROUND_EVEN: return rint(x);
	case E_ROUND_AWAY: return round(x);
	case E_SIGN: return isnan(x) ? x : sign(x);
	case E_SOFT_SIGN: return x / (1.0f + fabs(x));
	case E_FLOOR_MOD: return x - y * floor(x / y);
#endif
	}
	return (fv)(NAN);   /* cl_operators.h names no other */
}

/* The chain on places i to i + n - 1 of a row, n at most CV * VW (TILED: i to i + VW - 1, of which
 * n are there); lanes beyond hold anything. */
INLINE void chain_apply(fv *x, const ARGS struct chain *c, const struct sources *s, int i, int n)
{
	fv y[CV], saved[CV];
	ROW y[v] = saved[v] = (fv)(1.0f);
	for (int k = 0; k < c->n; k++) {
		const ARGS struct post *q = &c->post[k];
		float alpha = q->alpha, beta = q->beta;
		if (q->from >= 0) {
			int j = q->from, step = j == 0 ? s->s[0] : j == 1 ? s->s[1]
				: j == 2 ? s->s[2] : s->s[3];
			global const real *p = j == 0 ? s->p[0] : j == 1 ? s->p[1]
				: j == 2 ? s->p[2] : s->p[3];
#ifdef TILED
			int t = j == 0 ? s->t[0] : j == 1 ? s->t[1] : j == 2 ? s->t[2] : s->t[3];
#endif
			ROW y[v] = OPERAND(p, t, step, i, n);
		} else if (q->from == SAVED) {
			ROW y[v] = saved[v];
		} else {
			ROW y[v] = (fv)(1.0f);   /* the beta of a Swish without one */
		}
		if (q->swap)
			ROW {
				fv t = x[v];
				x[v] = y[v];
				y[v] = t;
			}
		switch (q->op) {
		case E_COPY: break;
		case E_SAVE: ROW saved[v] = x[v]; break;
		case E_ABS: ROW x[v] = fabs(x[v]); break;
		case E_NEG: ROW x[v] = -x[v]; break;
		case E_RELU: ROW x[v] = fmax(x[v], 0.0f); break;
		case E_CLAMP: ROW x[v] = fmin(fmax(x[v], alpha), beta); break;
		case E_SQRT: ROW x[v] = sqrt(x[v]); break;
		case E_HSWISH: ROW x[v] *= gate6(x[v]); break;
		case E_HSIGMOID: ROW x[v] = gate6(x[v]); break;
		case E_HARD_SIGMOID:
			ROW x[v] = fmin(fmax(alpha * x[v] + beta, 0.0f), 1.0f);
			break;
		case E_AFFINE: ROW x[v] = alpha * x[v] + beta; break;
		case E_ADD: ROW x[v] += y[v]; break;
		case E_SUB: ROW x[v] -= y[v]; break;
		case E_MUL: ROW x[v] *= y[v]; break;
		case E_DIV: ROW x[v] /= y[v]; break;
		case E_MIN: ROW x[v] = fmin(x[v], y[v]); break;
		case E_MAX: ROW x[v] = fmax(x[v], y[v]); break;
		case E_SQUARED_DIFF: ROW x[v] = (x[v] - y[v]) * (x[v] - y[v]); break;
		case E_PRELU: ROW x[v] = fmax(x[v], 0.0f) + y[v] * fmin(x[v], 0.0f); break;
		default: /* functions */
#ifdef TILED
			/* in turns, so that they stay in registers */
			PLAIN for (int v = 0; v < CV; v++) {
				fv z = function(q->op, x[0], y[0], alpha, beta), first = y[0];
				UNROLL for (int r = 1; r < CV; r++) {
					x[r - 1] = x[r];
					y[r - 1] = y[r];
				}
				x[CV - 1] = z;
				y[CV - 1] = first;
			}
#else
			PLAIN ROW x[v] = function(q->op, x[v], y[v], alpha, beta);
#endif
			break;
		}
	}
}

/* Sources of batch z of a product: place (m, n) is p[j][m * at[j].sm + n * s[j]]. */
INLINE void sources_of(struct sources *s, const ARGS struct operand *at, global const real *p0,
	global const real *p1, global const real *p2, global const real *p3, int z)
{
	s->p[0] = p0;
	s->p[1] = p1;
	s->p[2] = p2;
	s->p[3] = p3;
	EACH_OPERAND {
		s->p[j] += z / at[j].zd % at[j].zm * at[j].zs;
		s->s[j] = at[j].sn;
	}
}

/* The same of row m alone: place n is p[j][n * s[j]]. */
INLINE struct sources row_of(const struct sources *s, const ARGS struct operand *at, int m)
{
	struct sources r;
	EACH_OPERAND {
		r.p[j] = s->p[j] + m * at[j].sm;
		r.s[j] = s->s[j];
#ifdef TILED
		r.t[j] = at[j].sm;
#endif
	}
	return r;
}
