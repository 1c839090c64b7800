/* minifloat.h - real numbers of 16, 8 and 4 bits: what a code stands for, and the code of a number.
 *
 * Source: f8e4m3 (no infinity), f8e5m2, f8e8m0 (powers of two) and f4e2m1 of the OCP Microscaling Formats specification; nf4 of
 * Dettmers et al., "QLoRA", NeurIPS 2023, appendix E.  Numbers between two codes and beyond the last one are treated as
 * OpenVINO does: f8e4m3 and f8e5m2 by way of f16, ties to the even code, NaN or infinity beyond; f8e8m0 the same in the exponent
 * alone, with the least power for what is not above 0; f4e2m1 limited to 6, NaN too; nf4 the nearest level, NaN the lowest. */
#ifndef HSDAG_OP_MINIFLOAT_H
#define HSDAG_OP_MINIFLOAT_H

#include <stdint.h>

float half_to_float(uint16_t h);   /* IEEE binary16, exact */
uint16_t half_from_float(float f); /* nearest, half to even */
float bf16_to_float(uint16_t h);
uint16_t bf16_from_float(float f); /* nearest, half to even */

double f8e4m3_value(unsigned code);
double f8e5m2_value(unsigned code);
double f8e8m0_value(unsigned code);
double f4e2m1_value(unsigned code);
double nf4_value(unsigned code);

uint8_t f8e4m3_code(float x);
uint8_t f8e5m2_code(float x);
uint8_t f8e8m0_code(float x);
unsigned f4e2m1_code(float x);
unsigned nf4_code(float x);

#endif
