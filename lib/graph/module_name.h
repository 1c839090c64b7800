/* module_name.h - modules of a model in the names of its operations: of PyTorch, as OpenVINO writes them
 * ("__module.model.layers.0.fc1/aten::linear/MatMul", "self.model.layers.0.fc1.weight"), and paths of TensorFlow
 * ("InceptionV3/Mixed_5b/Branch_0/Relu"). */
#ifndef HSDAG_GRAPH_MODULE_NAME_H
#define HSDAG_GRAPH_MODULE_NAME_H

#include <stddef.h>

struct arena;

/* The module of PyTorch that an operation's name tells, "model.layers.0.fc1", or "" of the model itself, from a; NULL: none. */
const char *module_of_operation(const char *name, struct arena *a);
/* Of a weight's name: all but its last part. */
const char *module_of_weight(const char *name, struct arena *a);
/* A path of any name, its parts divided by dots: that of module_of_operation, else all of the name but its last part, or all of
 * it where it has one part. */
const char *module_path(const char *name, struct arena *a);

/* Length of what may not be divided of a path: up to its first part that is a number (a layer of a list); all of it where there is none. */
size_t module_block(const char *path);
/* The same where "l0" and "encoder_layer_0" are numbers, too; 0 where there is none. */
size_t module_layer(const char *path);

#endif
