/* device_classes.h - the table of device classes: a line here and a folder lib/device/ID are all
 * that a class is (lib/device/README.md has the recipe).
 *
 * It lies this low because programs that open no device, like placebase -D, know a device's type
 * by its name.
 *
 *   ID      struct device_class ID_device_class is the class (device.h)
 *   type    the device's type in `devs` records
 *   prefix  how the names of its devices begin.  Without a colon, the prefix alone is a name, too.
 *
 * WITHOUT_OPENCL: make OPENCL=0, a build without that class.
 * DEVICE_CLASSES_MORE(X): further lines, for a build with a class from outside this tree
 * (tests/cli/device_class.bats makes one). */
#ifndef HSDAG_RECORD_DEVICE_CLASSES_H
#define HSDAG_RECORD_DEVICE_CLASSES_H

#ifndef DEVICE_CLASSES_MORE
#define DEVICE_CLASSES_MORE(X)
#endif
#ifdef WITHOUT_OPENCL
#define DEVICE_CLASSES_OPENCL(X)
#else
#define DEVICE_CLASSES_OPENCL(X) X(opencl, "opencl", "cl:")
#endif

/* clang-format off */
#define DEVICE_CLASSES(X) \
	/* ID        type        prefix */ \
	X(cpu,       "cpu",      "cpu") \
	DEVICE_CLASSES_OPENCL(X) \
	X(openvino,  "openvino", "ov:") \
	DEVICE_CLASSES_MORE(X)
/* clang-format on */

#endif
