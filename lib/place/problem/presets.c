/* presets.c - built-in device specifications.
 *
 * Peaks, bandwidths and busy watts (thermal design or turbo power) are the makers' figures, for
 * f32.  Efficiencies, overheads, idle watts and the joules per byte of a copy are round
 * assumptions, the same for devices of one kind; a specification of one's own or measured costs
 * are better where they can be had.  Nodes of accelerators have the peaks of dense products in bf16. */
#include "place/problem/spec.h"

/* Through the host's memory: between devices that have no bus of their own. */
#define HOST_LINK(a, b) "link " a " " b " latency 10e-6 bandwidth 1e10 j_per_byte 1e-10\n"
#define BOTH_WAYS(name, figures) "link " name " * " figures "\nlink * " name " " figures "\n"
#define PCIE4_X16 "latency 10e-6 bandwidth 2.5e10 j_per_byte 1e-10"

#define DESKTOP_CPU \
	"# 8 cores x 32 FLOP per cycle x 4.0 GHz, two channels of DDR5-4800\n" \
	"device cpu flops 1.0e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 3.2e10" \
	" watts 105 idle 10\n"
#define INTEGRATED_GPU \
	"# 96 execution units x 16 FLOP per cycle x 1.35 GHz, behind the same memory\n" \
	"device igpu flops 2.1e12 efficiency 0.5 bandwidth 6.0e10 overhead 8e-6 memory 1.6e10" \
	" watts 25 idle 1\n" BOTH_WAYS("igpu", "latency 5e-6 bandwidth 2e10 j_per_byte 5e-11")
#define DATACENTER_GPU \
	"# NVIDIA A100 SXM 40 GB without tensor cores, PCI Express 4.0 x16\n" \
	"device gpu flops 1.95e13 efficiency 0.5 bandwidth 1.55e12 overhead 5e-6 memory 4.0e10" \
	" watts 400 idle 50\n" BOTH_WAYS("gpu", PCIE4_X16)
#define PAPER \
	"# Core i9-12900K: 8 P-cores x 32 x 4.9 GHz and 8 E-cores x 16 x 3.7 GHz, DDR5-4800\n" \
	"device cpu flops 1.7e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 6.4e10" \
	" watts 241 idle 15\n" \
	"# Data Center GPU Flex 170: 512 execution units x 16 x 1.95 GHz, 16 GB of GDDR6\n" \
	"device gpu flops 1.6e13 efficiency 0.5 bandwidth 5.7e11 overhead 8e-6 memory 1.6e10" \
	" watts 150 idle 20\n" BOTH_WAYS("gpu", PCIE4_X16) HOST_LINK("cpu", "cpu")

/* Products of elements of 8 bits. */
#define PEAKS8(flops) "peaks i8=" flops ",u8=" flops ",f8e4m3=" flops ",f8e5m2=" flops

/* Eight accelerators behind switches, or each wired to each other. */
#define EIGHT(name, figures, link) \
	"device " name "*8 " figures " efficiency 0.6 overhead 5e-6\ngroup " name "s " name "\n" \
	"within " name "s " link " j_per_byte 1e-11\n"
#define H100_NODE \
	"# HGX H100 SXM5 (NVIDIA H100 Tensor Core GPU datasheet): 989 TFLOP/s, 3.35 TB/s, 80 " \
	"GB,\n" \
	"# NVLink 900 GB/s both ways together, 700 W\n" EIGHT( \
		"h100", \
		"flops 9.89e14 bandwidth 3.35e12 memory 8e10 watts 700 idle 70 " PEAKS8( \
			"1.979e15"), \
		"latency 3e-6 bandwidth 4.5e11 port nvlink")
#define H200_NODE \
	"# HGX H200 SXM (NVIDIA H200 Tensor Core GPU datasheet): 989 TFLOP/s, 4.8 TB/s, 141 GB,\n" \
	"# NVLink 900 GB/s both ways together, 700 W\n" EIGHT( \
		"h200", \
		"flops 9.89e14 bandwidth 4.8e12 memory 1.41e11 watts 700 idle 70 " PEAKS8( \
			"1.979e15"), \
		"latency 3e-6 bandwidth 4.5e11 port nvlink")
#define B200_NODE \
	"# HGX B200 (NVIDIA HGX platform): 36 PFLOP/s in bf16 with sparsity on eight, half of it " \
	"dense,\n" \
	"# 62 TB/s and 1.44 TB on eight, NVLink 1.8 TB/s both ways together, 1000 W\n" EIGHT( \
		"b200", \
		"flops 2.25e15 bandwidth 7.75e12 memory 1.8e11 watts 1000 idle 100 " PEAKS8( \
			"4.5e15") ",f4e2m1=9e15", \
		"latency 3e-6 bandwidth 9e11 port nvlink")
#define MI300X_NODE \
	"# MI300X platform (AMD Instinct MI300X data sheet): 1307 TFLOP/s, 5.3 TB/s, 192 GB, " \
	"seven links\n" \
	"# of 128 GB/s both ways together, one to each other, 750 W\n" EIGHT( \
		"mi300x", \
		"flops 1.307e15 bandwidth 5.3e12 memory 1.92e11 watts 750 idle 75 " PEAKS8( \
			"2.615e15"), \
		"latency 4e-6 bandwidth 6.4e10")
#define TWO_RTX4090 \
	"# GeForce RTX 4090 (NVIDIA Ada GPU architecture, appendix A): 165 TFLOP/s in f16 with " \
	"f32 sums,\n" \
	"# 1008 GB/s, 24 GB, 450 W, PCI Express 4.0 x16, not from one to the other: through the " \
	"host\n" \
	"device rtx4090*2 flops 1.652e14 efficiency 0.6 bandwidth 1.008e12 overhead 5e-6" \
	" memory 2.4e10 watts 450 idle 20\n" \
	"group rtx4090s rtx4090\nwithin rtx4090s latency 15e-6 bandwidth 1.25e10 j_per_byte " \
	"2e-10\n"
#define RASPBERRY_PI5 \
	"# BCM2712: 4 Cortex-A76 x 16 FLOP per cycle in f32 x 2.4 GHz, 32 bits of LPDDR4X-4267, " \
	"8 GB\n" \
	"device cpu flops 1.536e11 efficiency 0.5 bandwidth 1.7e10 overhead 5e-6 memory 8e9" \
	" watts 12 idle 3\n" HOST_LINK("*", "*")

/* Processor, GPU and NPU behind one memory, which hand tensors to each other there. */
#define LAPTOP \
	"# Core Ultra 7 155H: 6 P-cores x 32 FLOP per cycle x 4.8 GHz and 8 E-cores x 16 x 3.8 " \
	"GHz;\n" \
	"# Arc graphics: 8 Xe cores x 16 vector engines x 16 FLOP per cycle x 2.25 GHz; AI " \
	"Boost: " \
	"11 TOP/s in\n" \
	"# 8 bits (Intel's product page: 28 W together, 120 GB/s of LPDDR5x-7467); 32 GB\n" \
	"pool ram memory 3.2e10 bandwidth 1.2e11\n" \
	"device cpu flops 1.4e12 efficiency 0.5 bandwidth 9e10 overhead 3e-6 watts 28 idle 3 " \
	"pool " \
	"ram\n" \
	"device igpu flops 4.6e12 efficiency 0.5 bandwidth 1e11 overhead 8e-6 watts 25 idle 1 " \
	"pool " \
	"ram\n" \
	"device npu flops 5.5e12 efficiency 0.5 bandwidth 6e10 overhead 2e-5 watts 6 idle 0.2 " \
	"pool " \
	"ram " PEAKS8("1.1e13") "\n" \
				"link * * latency 1e-5 bandwidth 3e10 j_per_byte 5e-11\n"
#define PHONE \
	"# Snapdragon 8 Gen 3: Cortex-X4 x 32 FLOP per cycle x 3.3 GHz and 5 Cortex-A720 x 16 x " \
	"3.1 " \
	"GHz,\n" \
	"# 77 GB/s of LPDDR5x (Qualcomm's product brief); GPU and NPU are round assumptions; 12 " \
	"GB\n" \
	"pool ram memory 1.2e10 bandwidth 7.7e10\n" \
	"device cpu flops 3.5e11 efficiency 0.5 bandwidth 4e10 overhead 5e-6 watts 6 idle 0.3 " \
	"pool " \
	"ram\n" \
	"device gpu flops 2.8e12 efficiency 0.4 bandwidth 6e10 overhead 3e-5 watts 5 idle 0.1 " \
	"pool " \
	"ram\n" \
	"device npu flops 1e13 efficiency 0.4 bandwidth 6e10 overhead 5e-5 watts 4 idle 0.1 pool " \
	"ram " PEAKS8("2e13") "\n" \
			      "link * * latency 2e-5 bandwidth 1.5e10 j_per_byte 5e-11\n"

const struct preset presets[] = {
	{"desktop-cpu", "a desktop processor with 8 cores (cpu)", DESKTOP_CPU HOST_LINK("*", "*")},
	{"integrated-gpu", "a GPU on the processor's die (igpu)", INTEGRATED_GPU},
	{"datacenter-gpu", "a data-centre GPU on PCI Express (gpu)", DATACENTER_GPU},
	{"paper", "the paper's machine: i9-12900K (cpu) and Flex 170 (gpu)", PAPER},
	{"h100-node", "8 x H100 SXM on NVLink switches (h100:0 ...)", H100_NODE},
	{"h200-node", "8 x H200 SXM on NVLink switches (h200:0 ...)", H200_NODE},
	{"b200-node", "8 x B200 on NVLink switches (b200:0 ...)", B200_NODE},
	{"mi300x-node", "8 x MI300X, each wired to each (mi300x:0 ...)", MI300X_NODE},
	{"two-rtx4090", "2 x RTX 4090 on PCI Express (rtx4090:0 ...)", TWO_RTX4090},
	{"laptop", "CPU, GPU and NPU of one chip and one memory (cpu, igpu, npu)", LAPTOP},
	{"phone", "CPU, GPU and NPU of a phone, one memory (cpu, gpu, npu)", PHONE},
	{"raspberry-pi5", "a Raspberry Pi 5's processor (cpu)", RASPBERRY_PI5},
	{"fused", "behind others: their devices run fused kernels", "fuses * all\n"},
	{NULL, NULL, NULL}};
