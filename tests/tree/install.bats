#!/usr/bin/env bats
# make install: what it brings works from elsewhere, through a symlink, without the checkout; make uninstall takes it away.
# programs: install
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export PREFIX="$PWD/my usr"      # a path may hold blanks
	# The tests' build is what is installed; nothing is compiled here.
	make -s -C "$ROOT" install "B=$B" "PREFIX=$PREFIX" -o all -o "$B/libhsdag.a" > install.log 2>&1 || { cat install.log; return 1; }
	ln -s "$PREFIX/bin/hsdag-place" place-link
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# As a person has it who never saw the build.
as_user() { env -u B -u ROOT PATH=/usr/bin:/bin "$@"; }

@test "scripts find their programs and parts, through a symlink, too" {
	run -0 as_user ./place-link --version
	[[ $output == "place-link (hsdag) "* ]]
	# Each tells of itself by the name that the person typed.
	for name in place train calibrate experiment; do
		run -0 as_user "$PREFIX/bin/hsdag-$name" -h
		[[ $output == "hsdag-$name - "*"Usage: hsdag-$name "* ]]
		run -0 as_user "$PREFIX/bin/hsdag-$name" --version
		[[ $output == "hsdag-$name (hsdag) "* ]]
		run -2 as_user "$PREFIX/bin/hsdag-$name"
		[[ $output == "hsdag-$name: error: "*"; see hsdag-$name --help" ]]
	done
	for name in "$PREFIX"/bin/[!h]*; do
		[ "$(as_user "$name" -h)" = "$(as_user "$name" --help)" ]
	done
	run -0 as_user "$HSDAG_PYTHON" "$PREFIX/bin/hsdag-apply" --version
	[[ $output == "hsdag-apply (hsdag) "* ]]
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" | dagfeat -o small.mp
	run -0 --separate-stderr as_user "$PREFIX/bin/hsdag-train" small.mp --episodes 1
	run -1 as_user ./place-link no-such-model.xml
	[[ $output == *"cannot read 'no-such-model.xml'"* ]]
	run -0 as_user "$PREFIX/bin/hsdag-experiment" learning MODELS=nmt2 SEEDS=1 EVALS=7 -o res -n
	[[ $output == *"$PWD/res/learning/paper-7/nmt2/"* ]]
	run -2 as_user "$PREFIX/bin/hsdag-experiment" nothing
	run -0 as_user "$PREFIX/bin/hsdag-experiment" learning MODELS=nmt2 METHODS='placeto random' SEEDS=1 EVALS=10 -o 'my results'
	[[ $output == *"random"* ]]
	[ -s 'my results/learning/paper-10/learning.md' ]
	[ -s 'my results/learning/paper-10/nmt2/placeto.1.tsv' ]
	sh "$ROOT/tests/support/models.sh" small_scalar .
	run -0 as_user "$PREFIX/bin/hsdag-experiment" learning MODELS=small_scalar.xml METHODS=random SEEDS=1 EVALS=2
	[ -s hsdag-results/learning/paper-2/small_scalar/random.1.tsv ]
}

@test "man pages: one of each, without warnings" {
	for p in "$PREFIX"/bin/*; do [ -s "$PREFIX/share/man/man1/${p##*/}.1" ]; done
	[ "$(find "$PREFIX/share/man/man1" -type f | wc -l)" -eq "$(find "$PREFIX/bin" ! -type d | wc -l)" ]
	grep -q '^devrun paired' <(sed 's/\\//g; s/[.]SS //; s/[.]SH //' "$PREFIX/share/man/man1/devrun.1" | tr 'A-Z' 'a-z')
	command -v man > /dev/null || skip "no man: apt-get install man-db"
	for m in "$PREFIX"/share/man/man1/*; do
		run -0 --separate-stderr env LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$m"
		[ -z "$stderr" ] || { echo "$m: $stderr"; return 1; }
	done
}

@test "an example comes with its weights" {
	run -2 as_user "$PREFIX/bin/hsdag-place" --example=none
	[ "$output" = "hsdag-place: error: --example: there is none of the name 'none'; branches, layers" ]
	run -2 as_user "$PREFIX/bin/hsdag-place" model.xml --example
	run -0 as_user "$PREFIX/bin/hsdag-place" --example=branches -D cpu:0 --budget 5 -o example
	[[ $output != *weights* ]]
	[ -s example/placement.json ]
	# The checkout has them, too.
	[ "$(cd "$PREFIX/share/hsdag/examples" && sha256sum ./*)" = "$(cd "$ROOT/share/examples/models" && sha256sum ./*.xml ./*.xz | sort -k 2)" ]
}

@test "a release archive has all that is committed, and make reads it without git" {
	git -C "$ROOT" rev-parse --git-dir > /dev/null 2>&1 || skip "no git here"
	run -0 make -s -C "$ROOT" dist "B=$PWD/dist"
	mkdir release
	tar -xJf dist/hsdag-*.tar.xz -C release
	cd release/hsdag-*
	diff <(git -C "$ROOT" ls-tree -r --name-only HEAD | sort) <(find . -type f -o -type l | sed 's,^[.]/,,' | sort)
	[ ! -e .git ]
	grep -qx '[0-9a-f]* of 20..-..-..' share/source
	run -0 env -u B GIT_DIR=/nonexistent make -n all
	[[ $output == *"cmd/devrun.c"* ]]
	run -2 env -u B GIT_DIR=/nonexistent make -s dist
	[[ $output == *"no git here"* ]]
}

@test "links in the installed docs lead somewhere" {
	py '
		import re
		top = os.environ["PREFIX"] + "/share/doc/hsdag"
		found = []
		for folder, _, names in os.walk(top):
			for name in names:
				if name.endswith(".md"):
					text = re.sub(r"```.*?```", "", open(f"{folder}/{name}").read(), flags=re.S)
					for to in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
						if "://" not in to:
							found.append(to)
							assert os.path.exists(os.path.join(folder, to)), (name, to)
		assert len(found) > 30
	'
}

@test "completion: verbs, options, methods" {
	as_user env PATH="$PREFIX/bin:/usr/bin:/bin" PREFIX="$PREFIX" bash -ec '
		. "$PREFIX/share/bash-completion/completions/devrun"
		try() {
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_hsdag "$1" "${@: -1}" "${@: -2:1}" || true
			printf "%s\n" "${COMPREPLY[@]}"
		}
		try devrun pai | grep -qx paired
		try devrun paired --rac | grep -qx -- --race
		try runstat slo | grep -qx slowness
		try tabstat curve --met | grep -qx -- --method
		try placeout --format ht | grep -qx html
		try placeout --format compare- | grep -qx compare-tsv
		touch html-file
		[ "$(try placeout --format ht)" = html ]
		try placeout --color ne | grep -qx never
		try devrun probe -D cp | grep -qx cpu
		# Behind a colon bash replaces only what follows it; a list goes on behind its comma.
		try hsdag-place m.xml -D cpu: | grep -qx 0
		try hsdag-place m.xml -D cpu:0,cp | grep -qx 0,cpu
		try hsdag-place m.xml --objective thr | grep -qx throughput
		try reinforce --recipe hier | grep -qx hierarchical
		try hsdag-place --conf | grep -qx -- --config
		try placebase hef | grep -qx heft
		try placebase heft,climb,ann | grep -qx heft,climb,anneal
		try hsdag-place --budg | grep -qx -- --budget
		try hsdag-place --net place | grep -qx placeto
		try hsdag-experiment open-re | grep -qx open-rewards
	'
}

@test "uninstall takes all away" {
	cp -a "$PREFIX" gone
	make -s -C "$ROOT" uninstall "B=$B" "PREFIX=$PWD/gone"
	[ "$(find gone ! -type d | wc -l)" -eq 0 ]
}

@test "flags of the caller are added to the project's; OPENCL=0 needs neither headers nor library" {
	run -0 env CPPFLAGS=-DMINE CFLAGS=-O1 LDFLAGS=-Wl,-z,now make -n -C "$ROOT" B="$PWD/none" V=1 "$PWD/none/bin/topk"
	[[ $output == *"-D_GNU_SOURCE"*"-DMINE"*"-std=c11"*"-O1"*"-Wl,--as-needed -Wl,-z,now"* ]]
	[[ $output != *-Werror* || -n ${CI:-} ]]
	run -0 make -n -C "$ROOT" B="$PWD/none" ONEDNN=0 V=1 "$PWD/none/bin/topk"
	[[ $output == *"-DWITHOUT_ONEDNN"* && $output != *kernel/onednn/* ]]
	run -0 make -n -C "$ROOT" B="$PWD/none" CFLAGS=-O1 OPENCL=0 V=1 "$PWD/none/bin/topk"
	[[ $output == *"-DWITHOUT_OPENCL"*"-std=c11"*"-O1"* && $output != *lOpenCL* && $output != *device/opencl/* ]]
}
