/* turns.h - devices that take turns (struct sched_costs), and those that compute at once. */
#ifndef HSDAG_SCHED_TURNS_H
#define HSDAG_SCHED_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* Of k devices some none of which takes turns with another, ascending: first those that take turns
 * with none, then with one, and so on, as long as they can compute beside those before.  The cores,
 * where there is a device of all of them.  turns (k,k), NULL: none do; dev (k).  Returns how many. */
uint32_t sched_apart(const uint8_t *turns, uint32_t k, uint32_t *dev);

/* has (k,k): does the first device consist of several, the second among them?  A device of all cores takes turns with each
 * core, more than any of them does; one that takes turns with a single other one, or only with those of the same cores, has no parts. */
void sched_parts(const uint8_t *turns, uint32_t k, bool *has);

/* The largest sum of load (k) over devices each of which takes turns with all the others, of which
 * nothing is at once.  Beyond TURNS_MOST devices sums are over two of them. */
enum { TURNS_MOST = 16 };
double sched_turn_load(const uint8_t *turns, uint32_t k, const double *load);

#endif
