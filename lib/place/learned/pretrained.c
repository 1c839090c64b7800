/* pretrained.c - the parameters that the library was built with: the file share/pretrained.mp, as it
 * is. */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "place/learned/learned_params.h"

__asm__(".pushsection .rodata\n"
	".global hsdag_pretrained_begin, hsdag_pretrained_end\n"
	"hsdag_pretrained_begin: .incbin \"share/pretrained.mp\"\n"
	"hsdag_pretrained_end:\n"
	".popsection");
extern const char hsdag_pretrained_begin[], hsdag_pretrained_end[];

static struct learned_params *params;
static struct err error = ERR_INIT;

/* Streams are read from files; this one never touches a disk. */
static void read_params(void)
{
	size_t n = (size_t)(hsdag_pretrained_end - hsdag_pretrained_begin);
	int fd = memfd_create("pretrained", MFD_CLOEXEC);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, hsdag_pretrained_begin, n) != (ssize_t)n)
		err_sys(&error, ST_RUNTIME, "cannot unpack the pretrained parameters");
	else
		params = learned_params_read(path, &error);
	if (params && params->episode == 0) /* whatever the file says, they are not initial */
		params->episode = 1;
	if (fd >= 0)
		close(fd);
}

const struct learned_params *learned_params_default(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_params);
	if (!params)
		err_set(e, ST_RUNTIME, "pretrained parameters: %s", error.msg);
	return params;
}
