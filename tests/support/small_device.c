/* small_device.c - an OpenCL device with little memory: preloaded, it says that devices have
 * HSDAG_GLOBAL_MEM bytes. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

int clGetDeviceInfo(void *device, unsigned what, size_t cap, void *value, size_t *bytes);

int clGetDeviceInfo(void *device, unsigned what, size_t cap, void *value, size_t *bytes)
{
	enum { GLOBAL_MEM_SIZE = 0x101F };
	union {
		void *p;
		int (*f)(void *, unsigned, size_t, void *, size_t *);
	} real = {dlsym(RTLD_NEXT, "clGetDeviceInfo")};
	const char *has = getenv("HSDAG_GLOBAL_MEM");
	int rc = real.f(device, what, cap, value, bytes);
	if (rc == 0 && what == GLOBAL_MEM_SIZE && value && cap == sizeof(unsigned long long) && has)
		*(unsigned long long *)value = strtoull(has, NULL, 10);
	return rc;
}
