/* cl_elem.cl - element-wise operators on f32 that are a few instructions each. */

fv gate6(fv x)
{
	return fmin(fmax(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
}

fv f_light(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_ABS: return fabs(x);
	case E_NEG: return -x;
	case E_RELU: return fmax(x, 0.0f);
	case E_CLAMP: return fmin(fmax(x, alpha), beta);
	case E_SQRT: return sqrt(x);
	case E_CEIL: return ceil(x);
	case E_FLOOR: return floor(x);
	case E_ROUND_EVEN: return rint(x);
	case E_ROUND_AWAY: return round(x);
	case E_SIGN: return sign(x);
	case E_HSWISH: return x * gate6(x);
	case E_HSIGMOID: return gate6(x);
	case E_HARD_SIGMOID: return fmin(fmax(alpha * x + beta, 0.0f), 1.0f);
	case E_SOFT_SIGN: return x / (1.0f + fabs(x));
	case E_ADD: return x + y;
	case E_SUB: return x - y;
	case E_MUL: return x * y;
	case E_DIV: return x / y;
	case E_MIN: return fmin(x, y);
	case E_MAX: return fmax(x, y);
	case E_SQUARED_DIFF: return (x - y) * (x - y);
	case E_PRELU: return fmax(x, 0.0f) + y * fmin(x, 0.0f);
	case E_FLOOR_MOD: return x - y * floor(x / y);
	default: return x;
	}
}

ELEM_KERNEL(elem_light, f_light)
