/* xml_lenient.h - the bytes of a file as XML: what OpenVINO's parser (pugixml) reads and XML
 * forbids becomes XML on its way to libxml2, and what would take memory without bound is refused.
 *
 * In values of attributes "<" becomes "&lt;", an "&" that begins no reference "&amp;", and a control character, as a byte or as
 * "&#1;" (OpenVINO writes such names so), the reference to a private character, from which
 * xml_lenient_value makes it again.  Elsewhere, where nothing is read, control bytes become "?".
 * Errors that this would hide are still errors: quotes, tags and names are as they were. */
#ifndef HSDAG_IR_XML_LENIENT_H
#define HSDAG_IR_XML_LENIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	XML_MAX_TAG_BYTES = 1 << 26, /* also of a comment */
	XML_MAX_ATTRIBUTES = 4096,   /* libxml2 compares each with each */
	XML_MAX_DEPTH = 2000
};

struct xml_lenient {
	uint8_t state, quote, run;
	uint32_t line;    /* from 1 */
	size_t bytes;     /* of this tag so far */
	uint32_t n_attrs; /* of this tag */
	char ref[16];     /* a reference that has begun */
	uint8_t n_ref;
	char out[40]; /* what has no room yet */
	uint8_t at, n_out;
	const char *fault; /* why no more bytes come; NULL: nothing */
};

/* Does a file that begins with these bytes hold characters of one byte or UTF-8? */
bool xml_lenient_can(const char *start, size_t n);

/* At most n bytes of XML for some of in[*used .. end); advances *used. */
size_t xml_lenient_read(struct xml_lenient *x, const char *in, size_t *used, size_t end, char *out,
			size_t n);

/* Is there such a character in value[len]? */
bool xml_lenient_has(const char *value, size_t len);

/* Private characters in value[len] as the control characters that they stand for, in place; the new
 * length. */
size_t xml_lenient_value(char *value, size_t len);

#endif
