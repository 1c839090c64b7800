/* cl_rare.cl - the other element-wise functions on f32: large when compiled,
 * and seldom needed. */

fv f_rare(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_SIN: return sin(x);
	case E_COS: return cos(x);
	case E_TAN: return tan(x);
	case E_ASIN: return asin(x);
	case E_ACOS: return acos(x);
	case E_ATAN: return atan(x);
	case E_SINH: return sinh(x);
	case E_COSH: return cosh(x);
	case E_ASINH: return asinh(x);
	case E_ACOSH: return acosh(x);
	case E_ATANH: return atanh(x);
	case E_POW: return pow(x, y);
	case E_MOD: return fmod(x, y);
	default: return x;
	}
}

ELEM_KERNEL(elem_rare, f_rare)
