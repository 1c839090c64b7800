/* utf8.c - see utf8.h. */
#include "base/utf8.h"

size_t utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text, c = s[0];
	size_t k = c < 0x80                ? 1
		   : c >= 0xc2 && c < 0xe0 ? 2
		   : c >= 0xe0 && c < 0xf0 ? 3
		   : c >= 0xf0 && c < 0xf5 ? 4
					   : 0;
	if (k == 0 || k > n)
		return 0;
	for (size_t i = 1; i < k; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, a surrogate, or beyond U+10FFFF */
	if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] >= 0xa0) ||
	    (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] >= 0x90))
		return 0;
	return k;
}

size_t utf8_control(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	return n > 1 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
}

bool utf8_valid(const char *s, size_t n)
{
	for (size_t i = 0, k; i < n; i += k)
		if ((k = utf8_length(s + i, n - i)) == 0)
			return false;
	return true;
}
