#!/usr/bin/env bats
# kernels: every OpenCL program is OpenCL C 1.2 for other targets than the one at hand, in both
# shapes, in f16 and in bf16, as far as clang can tell.
load ../support/common.bash
bats_require_minimum_version 1.5.0

setup_file() {
	export CLANG
	CLANG=$(command -v clang-15 || command -v clang || true)
	cd "$ROOT/lib/device/opencl/programs" || return 1
	# The table of programs: PROGRAM(NAME, FLAGS).
	export PROGRAMS
	PROGRAMS=$(sed -n 's/^\tPROGRAM(\([a-z_]*\), \([^)]*\)).*/\1 \2/p' cl_programs.h)
	[ "$(printf '%s\n' "$PROGRAMS" | wc -l)" -ge 15 ]
}

# has_flag PROGRAM FLAG
has_flag() {
	printf '%s\n' "$PROGRAMS" | grep -qE "^$1 .*\b$2\b"
}

# compile TARGET PROGRAM OPTION... - as cl_program.c puts programs together
compile() {
	local target=$1 p=$2 dir=$ROOT/lib/device/opencl/programs text=$BATS_TEST_TMPDIR/program.cl
	shift 2
	{
		cat "$dir"/cl_args.cl
		! has_flag "$p" IN_SERIES || echo '#define SERIES'
		cat "$dir"/cl_prelude.cl
		! has_flag "$p" ALL_CHAINS || echo '#define ELEM'
		! has_flag "$p" TWO_TILES || echo '#define TILED'
		! has_flag "$p" WITH_CHAINS || cat "$dir"/cl_chain.cl
		! has_flag "$p" SPLIT_SUMS || cat "$dir"/cl_split.cl
		! has_flag "$p" IN_SERIES || cat "$dir"/cl_elem.cl "$dir"/cl_move.cl
		if has_flag "$p" TWO_TILES; then
			printf '#define TILE 128\n'
			cat "$dir/cl_tiles.cl" "$dir/cl_$p.cl" "$dir/cl_parts.cl"
			printf '#undef TILE\n#define TILE 64\n'
			cat "$dir/cl_tiles.cl"
		fi
		cat "$dir/cl_$p.cl"
		! has_flag "$p" TWO_TILES || cat "$dir/cl_parts.cl"
		[ -z "${EXTRA:-}" ] || echo "$EXTRA"
	} > "$text"
	"$CLANG" -x cl -cl-std="${STD:-CL1.2}" -Xclang -finclude-default-header -target "$target" -Wall -Werror -pedantic-errors \
		-Wno-unknown-pragmas -Wno-pass-failed -S -emit-llvm -o /dev/null "$@" "$text"
}

CPU='-DVW=16 -DLS=1 -DGEMM_LS=1 -DMR=6 -DNR=64 -DNV=4 -DKC=256 -DMC=516 -DCOUNTS=0 -DWINDOW_LOCAL=8192 -DWINDOW_OUT=4096'
AVX2='-DVW=8 -DLS=1 -DGEMM_LS=1 -DMR=6 -DNR=16 -DNV=2 -DKC=256 -DMC=516 -DCOUNTS=0 -DWINDOW_LOCAL=8192 -DWINDOW_OUT=4096'
GPU='-DVW=4 -DLS=64 -DGEMM_LS=256 -DMR=64 -DNR=64 -DNV=16 -DKC=16 -DMC=0 -DCOUNTS=0 -DWINDOW_LOCAL=4096 -DWINDOW_OUT=2048'

# all TARGET OPTIONS LEFT_OUT - every program but those
all() {
	[ -n "$CLANG" ] || skip "no clang"
	echo 'kernel void k(global float *x) { x[0] = 1.0f; }' > "$BATS_TEST_TMPDIR/k.cl"
	"$CLANG" -x cl -cl-std=CL1.2 -target "$1" -S -emit-llvm -o /dev/null "$BATS_TEST_TMPDIR/k.cl" ||
		skip "clang has no target $1"
	for p in $(printf '%s\n' "$PROGRAMS" | cut -d' ' -f1); do
		[[ " $3 " != *" $p "* ]] || continue
		# the PTX in it is for targets that know its constraints
		plain=
		[[ $1:$p != spir*:mma ]] || plain=-DBF16_PLAIN
		# shellcheck disable=SC2086
		compile "$1" $p $2 $plain
	done
}

@test "CPU kernels as SPIR" { all spir64 "$CPU" "tile mma"; }
@test "CPU kernels with narrow vectors" { all spir64 "$AVX2" "tile mma"; }
@test "GPU kernels as SPIR" { all spir64 "$GPU" gemm; }
@test "GPU kernels as PTX" { all nvptx64-nvidia-nvcl "$GPU" gemm; }
@test "GPU kernels whose products are split" {
	for STD in CL2.0 CL3.0; do
		export STD
		all spir64 "${GPU/COUNTS=0/COUNTS=64}" gemm
	done
}
@test "bf16 kernels" { all spir64 "$GPU -DBF16" gemm; }
@test "bf16 kernels as PTX" { all nvptx64-nvidia-nvcl "$GPU -DBF16" gemm; }
@test "f16 kernels, products in f16" { all spir64 "$GPU -DHALF" "gemm mma"; }
@test "f16 kernels without cl_khr_fp16" { all nvptx64-nvidia-nvcl "$GPU -DHALF" "gemm mma"; }

@test "every .cl file is a program of the table, or a part of each" {
	for f in "$ROOT"/lib/device/opencl/programs/cl_*.cl; do
		p=$(basename "$f" .cl)
		case $p in cl_args | cl_prelude | cl_chain | cl_split | cl_tiles | cl_parts) continue ;; esac
		printf '%s\n' "$PROGRAMS" | grep -q "^${p#cl_} "
	done
}

@test "a kernel that is wrong is noticed" {
	[ -n "$CLANG" ] || skip "no clang"
	export EXTRA='kernel void wrong(global real *x) { half h = 1; vst(h, 3); }'
	# shellcheck disable=SC2086
	run ! compile spir64 elem $CPU
	# what clang takes and NVIDIA's compiler does not
	export EXTRA='#define LIST(...) __VA_ARGS__'
	# shellcheck disable=SC2086
	run ! compile spir64 elem $CPU
}
