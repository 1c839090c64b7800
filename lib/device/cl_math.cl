/* cl_math.cl - element-wise functions on f32 that networks are full of. */

fv sigmoid(fv x)
{
	return 1.0f / (1.0f + exp(-x));
}

fv soft_plus(fv x)
{
	return fmax(x, 0.0f) + log1p(exp(-fabs(x)));
}

fv f_math(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_EXP: return exp(x);
	case E_LOG: return log(x);
	case E_SIGMOID: return sigmoid(x);
	case E_TANH: return tanh(x);
	case E_ERF: return erf(x);
	case E_GELU_ERF: return 0.5f * x * (1.0f + erf(x * 0.70710678118654752f));
	case E_GELU_TANH:
		return 0.5f * x * (1.0f + tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
	case E_SWISH: return x * sigmoid(y * x);
	case E_SOFT_PLUS: return soft_plus(x);
	case E_MISH: return x * tanh(soft_plus(x));
	case E_ELU: return fmax(x, 0.0f) + alpha * (exp(fmin(x, 0.0f)) - 1.0f);
	case E_SELU: return beta * (fmax(x, 0.0f) + alpha * (exp(fmin(x, 0.0f)) - 1.0f));
	default: return x;
	}
}

ELEM_KERNEL(elem_math, f_math)
