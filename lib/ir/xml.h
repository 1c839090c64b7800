/* xml.h - a stream of XML elements.
 *
 * The one place that knows libxml2.  Document type declarations are refused, so
 * there are no entities but the five of XML itself; nothing is loaded but the
 * one file.  What OpenVINO reads beside XML is read, and sizes are bounded: xml_lenient.h. */
#ifndef HSDAG_IR_XML_H
#define HSDAG_IR_XML_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct xml_attr {
	const char *name;
	const char *value; /* not NUL-terminated; borrowed for the call */
	size_t len;
};

/* Called in document order.  -1 stops the parse with the error that was set. */
struct xml_handler {
	void *ctx;
	int (*open)(void *ctx, const char *name, const struct xml_attr *attr, int n, struct err *e);
	int (*close)(void *ctx, struct err *e);
	int (*text)(void *ctx, const char *s, size_t n, struct err *e);
	uint32_t line; /* of the current event; set before each call */
};

/* Parse the file at `path`; *bytes is its length.  Malformed input is ST_INPUT
 * ("PATH:LINE: ..."), a failed read ST_RUNTIME. */
int xml_parse(const char *path, struct xml_handler *h, uint64_t *bytes, struct err *e) MUST_CHECK;

/* "PATH:LINE", with the path escaped, in a static-size buffer of the caller. */
enum { XML_WHERE = 300 };
const char *xml_where(char where[XML_WHERE], const char *path, uint32_t line);

#endif
