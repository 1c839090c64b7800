/* nets.h - the table of networks.  One line registers one: X(name) stands for `struct net
 * net_name`, which a file of its own defines (net_impl.h).  The first is the default. */
#ifndef HSDAG_LEARN_NET_NETS_H
#define HSDAG_LEARN_NET_NETS_H

/* clang-format off */
#define NETS(X) \
	X(gpn) \
	X(mlp) \
	X(rnn) \
	X(hierarchical) \
	X(placeto) \
/* end */
/* clang-format on */

#endif
