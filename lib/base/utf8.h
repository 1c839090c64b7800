/* utf8.h - is a text UTF-8?  RFC 3629: shortest forms alone, no surrogates, at most U+10FFFF. */
#ifndef HSDAG_BASE_UTF8_H
#define HSDAG_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes (1-4) of the character at s, of which n > 0 bytes are there; 0: it is none. */
size_t utf8_length(const char *s, size_t n);
/* Bytes of the control character at s (below U+0020, U+007F to U+009F); 0: there is none. */
size_t utf8_control(const char *s, size_t n);
bool utf8_valid(const char *s, size_t n);

#endif
