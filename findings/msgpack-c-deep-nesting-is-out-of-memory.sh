#!/bin/sh
# msgpack-c 4.0.0 (Debian 12): msgpack_unpack says MSGPACK_UNPACK_NOMEM_ERROR, out of memory, of a value of 33 bytes: one that is nested
# more than 32 deep.  A list or map counts as a level even when it is empty, so that an empty list 33 deep is refused where a number in the
# same place is read.  msgpack_pack writes either.  So NOMEM is no reason to try again, and a limit on depth must count empty containers.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/deep.c" <<'C'
#include <msgpack.h>
#include <stdio.h>
#include <string.h>

static const char *unpacked(int lists, unsigned char inner)
{
	char bytes[100];
	msgpack_zone zone;
	msgpack_object o;
	size_t off = 0;
	msgpack_zone_init(&zone, 2048);
	memset(bytes, 0x91, sizeof bytes); /* a list of one */
	bytes[lists] = (char)inner;
	int rc = msgpack_unpack(bytes, (size_t)lists + 1, &off, &zone, &o);
	msgpack_zone_destroy(&zone);
	return rc == MSGPACK_UNPACK_SUCCESS       ? "read"
	       : rc == MSGPACK_UNPACK_NOMEM_ERROR ? "NOMEM_ERROR"
	       : rc == MSGPACK_UNPACK_PARSE_ERROR ? "PARSE_ERROR"
						  : "else";
}

int main(void)
{
	printf("msgpack-c %s\n", msgpack_version());
	const char *number = unpacked(32, 0x01), *empty = unpacked(32, 0x90), *deeper = unpacked(33, 0x01);
	printf("a number in 32 lists: %s\nan empty list in 32 lists: %s\na number in 33 lists: %s\n", number, empty, deeper);
	if (strcmp(number, "read") || strcmp(empty, "NOMEM_ERROR") || strcmp(deeper, "NOMEM_ERROR")) {
		puts("this has changed");
		return 1;
	}
	return 0;
}
C
gcc -o "$dir/deep" "$dir/deep.c" $(pkg-config --cflags --libs msgpack-c 2> /dev/null || echo -lmsgpackc)
"$dir/deep"
