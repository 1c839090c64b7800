#!/usr/bin/env bats
# What names, values and files of others reach the pipelines with: none of them is run as code.  Each that would leave a
# file called marker* behind if it were run.
# programs: experiment place calibrate
# seconds: 10
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	sh "$ROOT/tests/support/models.sh" small_scalar .
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }
teardown() { [ -z "$(find "$BATS_FILE_TMPDIR" "$ROOT" -maxdepth 1 -name 'marker*')" ]; }

experiment() { env -u MAKEFLAGS -u MAKELEVEL timeout 100 "$ROOT/pipelines/experiment" learning METHODS=random SEEDS=1 EVALS=2 "$@"; }
by_make() { env -u MAKEFLAGS -u MAKELEVEL timeout 100 make -s -C "$ROOT" DEPS=true B="$B" LEARN_DIR="$PWD/l" LEARN_PROGS= "$@"; }

# What make, the shell, or both would run.
CODE=('$(touch marker1)' '$(shell touch marker2)' 'x;touch marker3' '`touch marker4`' 'x|touch marker5' 'x&touch marker6' "x'\$(touch marker7)'"
	'x"$(touch marker8)"' $'x\ntouch marker9' '${x:=$(touch marker10)}' '>marker11' '$(file >marker12)' 'x #' 'a*' 'a?' '%')

@test "values that are more than words are refused" {
	local names=(MODELS SEEDS SPEC EVALS METHODS LAUNCH LOCK CURVES) turn name
	# Each name, and each piece of code: twice as many runs as there are of the more numerous.
	for ((turn = 0; turn < 2 * ${#CODE[@]} || turn < ${#names[@]}; turn++)); do
		name=${names[turn % ${#names[@]}]}
		run -2 --separate-stderr experiment "$name=${CODE[turn % ${#CODE[@]}]}"
		[[ $stderr == *"error: $name: "*"characters that make or a shell takes for more than words"* ]]
	done
}

@test "make itself refuses them, from its command line and the environment" {
	for code in "${CODE[@]}"; do
		run -2 by_make learning METHODS=random EVALS=2 "MODELS=$code"
		[[ $output == *"MODELS is "*"more than words"* ]]
		run -2 by_make variance METHODS=random EVALS=2 MODELS=small_scalar "SPEC=$code"
		[[ $output == *"SPEC is "*"more than words"* ]]
		SEEDS=$code run -2 by_make learning METHODS=random MODELS=nmt2
		[[ $output == *"SEEDS is "*"more than words"* ]]
		run -2 by_make install "PREFIX=$PWD/$code"
		[[ $output == *"PREFIX is "*"more than words"* ]]
	done
	# Who only builds may have what they like in the environment.
	SPEC='a;b' run -0 by_make -n clean
}

@test "files of such names are refused, where they come from a link or a folder, too" {
	for code in 'evil;touch marker1;.xml' '$(touch marker2).xml' 'x=1.xml' "it's.xml" 'per%cent.xml'; do
		cp small_scalar.xml "$code"
		run -2 --separate-stderr experiment "MODELS=$code"
		ln -sf "$code" plain.xml
		run -2 --separate-stderr experiment MODELS=plain.xml
		[[ $stderr == *"MODELS: the path '"*"more than a name"* ]]
	done
	mkdir 'with blank'
	cp small_scalar.xml 'with blank'
	run -2 --separate-stderr experiment 'MODELS=with blank/small_scalar.xml'
	[[ $stderr == *"'with' is neither a file nor one of hsdag's own models"* ]]
	cd 'with blank'
	run -2 --separate-stderr experiment MODELS=small_scalar.xml
	[[ $stderr == *"'$PWD/small_scalar.xml' has characters"* ]]
	cd ..
	cp small_scalar.xml modèle.xml
	run -0 experiment MODELS=modèle.xml -o accents
	[ -s accents/learning/paper-2/modèle/random.1.tsv ]
}

@test "variables and options that are none are refused" {
	for word in MODEL=nmt2 SHELL=/bin/true B=x MAKEFLAGS=x .SHELLFLAGS=x =x LEARN_DIR=x; do
		run -2 --separate-stderr experiment "$word"
		[[ $stderr == *"there is no variable '${word%%=*}' of "* ]]
	done
	for word in '--eval=$(shell touch marker1)' -f -C --file=x -I/tmp -e; do
		run -2 --separate-stderr experiment "$word"
		[[ $stderr == *"unknown option '$word'"* ]]
	done
	run -2 --separate-stderr experiment MODLES=nmt2
	[[ $stderr == *"there is no variable 'MODLES' of learning; did you mean 'MODELS'?;"* ]]
	run -2 --separate-stderr "$ROOT/pipelines/experiment" learnin
	[[ $stderr == *"no experiment 'learnin'; did you mean 'learning'?;"* ]]
	run -2 --separate-stderr experiment MODELS=nmt
	[[ $stderr == *"'nmt' is neither a file nor one of hsdag's own models; did you mean 'nmt"*"'?;"* ]]
	: > net.onnx
	run -2 --separate-stderr experiment MODELS=net.onnx
	[[ $stderr == *"'net.onnx' is no OpenVINO IR, which experiments begin with; 'ovc net.onnx' or hsdag-place make one"* ]]
	run -0 experiment MODELS=nmt2 -n -k -j2
}

@test "make: variables that no target takes, and names that are none, are refused" {
	while IFS='|' read -r words said; do
		# shellcheck disable=SC2086
		run -2 by_make -n $words
		[[ $output == *"$said"* ]] || { echo "$words: $output"; return 1; }
	done <<-'T'
	learning MODEL=nmt2|there is no variable 'MODEL' of learning; did you mean 'MODELS'?
	learning BUDGET=4|there is no variable 'BUDGET' of learning.
	all PREFX=/usr|there is no variable 'PREFX' of all; did you mean 'PREFIX'?
	test t=placebase|there is no variable 't' of test; did you mean 'T'?
	all a;touch${IFS}marker1=1|there is no variable 'a;touch
	learning METHODS=climbb|METHODS: there is no 'climbb'; did you mean 'climb'?
	learning MODELS=nmt|MODELS: 'nmt' is neither a file .xml nor one of tests/models; did you mean 'nmt
	learning MODELS=README.md|MODELS: 'README.md' is no OpenVINO IR
	learned SETS=gihp|SETS: there is no 'gihp'; did you mean 'giph'?
	T
	run -0 by_make -n clean T=x CC=cc CFLAGS=-g
}

@test "results go to a folder of any name, and nothing is put into the temporary directory" {
	mkdir tmp
	for folder in 'my results' '$(touch marker1)' 'x;touch marker2' "it's" 'a=b' 'per%cent' $'two\nlines'; do
		TMPDIR=$PWD/tmp run -0 experiment MODELS=small_scalar.xml -o "$folder"
		[[ $output == *"/proc/"*"/fd/"*" is '$PWD/$folder'"* ]]
		[ -s "$folder/learning/paper-2/small_scalar/random.1.tsv" ]
		[ -s "$folder/learning/paper-2/learning.md" ]
	done
	[ -z "$(ls tmp)" ]
}

@test "place: modules in the working directory are not what tells whether Python has OpenVINO" {
	mkdir -p bin here/importlib here/openvino
	printf '#!/bin/sh\nexec "%s" -SE "$@"\n' "$HSDAG_PYTHON" > bin/python3     # without the modules that are installed
	chmod +x bin/python3
	cp bin/python3 bin/python
	for f in importlib/__init__ importlib/util openvino/__init__ sys; do echo 'open("marker", "w")' > here/$f.py; done
	cd here
	echo none > m.onnx
	VIRTUAL_ENV='' PATH=$BATS_FILE_TMPDIR/bin:$PATH run -1 --separate-stderr "$ROOT/pipelines/place" m.onnx -D cpu:0 -o "$BATS_FILE_TMPDIR/o"
	[[ $stderr == *"no Python here has OpenVINO"* ]]
	[ ! -e marker ]
}

@test "calibrate: numbers of an earlier calibration's files are not run" {
	mkdir old
	echo "$PWD/small_scalar.xml -D cpu -n 8 --chunk 50 --evals 3000 --seed 1  in passes over what is near" > old/settings
	ir2dag small_scalar.xml -o old/graph.mp
	devsim --probe --spec paper -D cpu,gpu old/graph.mp > old/profile.mp
	placebase random -n 8 old/profile.mp > old/placements.mp
	for pass in 'all 1 1;system("touch marker1")' 'x[$(touch marker2)] 1 1' 'all 1 1 | "touch marker3"'; do
		echo "$pass" > old/pass.01
		LC_ALL=C run -3 --separate-stderr "$ROOT/pipelines/calibrate" small_scalar.xml -D cpu -n 8 -o old
		[[ $stderr == *"damaged"* ]]
	done
}
