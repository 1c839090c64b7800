/* clock_step.c - preloaded, it sets the time of day forward by CLOCK_STEP_BY seconds, or back, when the machine has been up for
 * CLOCK_STEP_AT seconds.  Clocks that only go forward, and the kernel's own waits, know nothing of it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step_s(void)
{
	const char *at = getenv("CLOCK_STEP_AT"), *by = getenv("CLOCK_STEP_BY");
	struct timespec up;
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &up);
	return at && by && up.tv_sec >= atol(at) ? atol(by) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, out);
	if (rc == 0 && clock == CLOCK_REALTIME)
		out->tv_sec += step_s();
	return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
