/* presets.c - built-in device specifications.
 *
 * Peaks are the makers' figures for f32.  The efficiencies and overheads are
 * round assumptions, the same for devices of one kind; a specification of one's
 * own or measured costs are better where they can be had. */
#include "place/spec.h"

#define HOST_LINK "link * * latency 10e-6 bandwidth 1e10\n"

#define DESKTOP_CPU \
	"# 8 cores x 32 FLOP per cycle x 4.0 GHz, two channels of DDR5-4800\n" \
	"device cpu flops 1.0e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 3.2e10\n"
#define INTEGRATED_GPU \
	"# 96 execution units x 16 FLOP per cycle x 1.35 GHz, behind the same memory\n" \
	"device igpu flops 2.1e12 efficiency 0.5 bandwidth 6.0e10 overhead 8e-6 memory 1.6e10\n" \
	"link igpu * latency 5e-6 bandwidth 2e10\n" \
	"link * igpu latency 5e-6 bandwidth 2e10\n"
#define DATACENTER_GPU \
	"# NVIDIA A100 SXM 40 GB without tensor cores, PCI Express 4.0 x16\n" \
	"device gpu flops 1.95e13 efficiency 0.5 bandwidth 1.55e12 overhead 5e-6 memory 4.0e10\n" \
	"link gpu * latency 10e-6 bandwidth 2.5e10\n" \
	"link * gpu latency 10e-6 bandwidth 2.5e10\n"
#define PAPER \
	"# Core i9-12900K: 8 P-cores x 32 x 4.9 GHz and 8 E-cores x 16 x 3.7 GHz, DDR5-4800\n" \
	"device cpu flops 1.7e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 6.4e10\n" \
	"# Data Center GPU Flex 170: 512 execution units x 16 x 1.95 GHz, 16 GB of GDDR6\n" \
	"device gpu flops 1.6e13 efficiency 0.5 bandwidth 5.7e11 overhead 8e-6 memory 1.6e10\n" \
	"link gpu * latency 10e-6 bandwidth 2.5e10\n" \
	"link * gpu latency 10e-6 bandwidth 2.5e10\n"

const struct preset presets[] = {
	{"desktop-cpu", "a desktop processor with 8 cores (cpu)", DESKTOP_CPU HOST_LINK},
	{"integrated-gpu", "a GPU on the processor's die (igpu)", INTEGRATED_GPU},
	{"datacenter-gpu", "a data-centre GPU on PCI Express (gpu)", DATACENTER_GPU},
	{"paper", "the paper's machine: i9-12900K (cpu) and Flex 170 (gpu)", PAPER},
	{NULL, NULL, NULL}};
