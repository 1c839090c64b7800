#!/usr/bin/env bats
# Specifications of many devices: counts, groups and what joins them, beside the same written out; presets.
# programs: devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/small_increment_1x3x4x5.xml" > g.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# devices SPEC [OPTION]... - the devs record that it gives
devices() { devsim --probe --spec "$@" g.mp | recdump -k devs; }

@test "four lines are sixteen devices and 240 links, as if each were written" {
	cat > short.spec <<-'S'
		device h100*16  flops 9.9e14  efficiency 0.5  bandwidth 3.35e12  memory 8e10  watts 700
		group node*2 h100
		within node   latency 3e-6  bandwidth 4.5e11  port nvlink
		between node  latency 1e-5  bandwidth 5e10  port net
	S
	py '
		with open("long.spec", "w") as f:
			for i in range(16):
				print(f"device h100:{i} flops 9.9e14 efficiency 0.5 bandwidth 3.35e12 memory 8e10 watts 700", file=f)
			for i in range(16):
				for j in range(16):
					if i != j:
						print(f"link h100:{i} h100:{j}", "latency 3e-6 bandwidth 4.5e11 port nvlink" if i // 8 == j // 8 else "latency 1e-5 bandwidth 5e10 port net", file=f)
	'
	cmp <(devices short.spec) <(devices long.spec)
	devsim --probe --spec short.spec g.mp > s.mp
	py 'd = of("s.mp", "devs")[0]; assert len(d["names"]) == 16 and len(d["links"]) == 240 and sum(l["latency_s"] == 3e-6 for l in d["links"]) == 112'
}

@test "nested groups, devices by name, classes in links and ports, later lines over earlier ones" {
	cat > n.spec <<-'S'
		device cpu  flops 1e12  bandwidth 1e11
		device g*8  flops 1e13  bandwidth 1e12
		group pair*4 g
		group node*2 pair
		group all node cpu
		within all    latency 9e-6  bandwidth 1e9
		between node  latency 5e-6  bandwidth 2e9  port net
		within node   latency 4e-6  bandwidth 3e9
		within pair   latency 1e-6  bandwidth 4e9
		link cpu g    latency 2e-6  bandwidth 5e9  port bus
		link g:0 g:1  latency 7e-6  bandwidth 6e9
		port g net    out 4e9
		port g:3 net  in 3e9
	S
	devsim --probe --spec n.spec g.mp > n.mp
	py '
		d = of("n.mp", "devs")[0]
		at = {(d["names"][l["src"]], d["names"][l["dst"]]): (l["latency_s"], l["bytes_per_s"], l.get("port")) for l in d["links"]}
		assert len(at) == 72
		for i in range(8):
			assert at["cpu", f"g:{i}"] == (2e-6, 5e9, "bus") and at[f"g:{i}", "cpu"] == (9e-6, 1e9, None)
			for j in range(8):
				if i == j: continue
				want = (7e-6, 6e9, None) if (i, j) == (0, 1) else (1e-6, 4e9, None) if i // 2 == j // 2 else (4e-6, 3e9, None) if i // 4 == j // 4 else (5e-6, 2e9, "net")
				assert at[f"g:{i}", f"g:{j}"] == want, (i, j, at[f"g:{i}", f"g:{j}"])
		ports = {(d["names"][p["device"]], p["name"]): (p.get("out_bytes_per_s"), p.get("in_bytes_per_s")) for p in d["ports"]}
		assert ports["g:3", "net"] == (4e9, 3e9) and ports["g:0", "net"] == (4e9, None) and len(ports) == 8, ports
	'
	# devices of a list, by the class's names
	devsim --probe --spec n.spec -D g:1,cpu,g:0 g.mp > l.mp
	py 'd = of("l.mp", "devs")[0]; assert d["names"] == ["g:1", "cpu", "g:0"] and len(d["links"]) == 6'
}

# bad LINES MESSAGE
bad() {
	printf 'device a flops 1e9 bandwidth 1e9\ndevice g*4 flops 1e9 bandwidth 1e9\n%b\n' "$1" > bad.spec
	run -3 devsim --probe --spec bad.spec g.mp -o out.mp
	[[ ${#lines[@]} -eq 1 && $output == "devsim: error: bad.spec, line "*"$2"* ]] || { echo "$output"; return 1; }
}

@test "what is wrong is told with its line" {
	bad 'group n*3 g' "group 'n': 4 devices are not 3 equal parts"
	bad 'group n h' "no device or group 'h' is described above"
	bad 'group n g a g:1' "'g:1' is in the group twice"
	bad 'group n g\ngroup n a' "group 'n' is described twice"
	bad 'group n' 'a group needs a name and devices'
	bad 'group n*0 g' "n*0"
	bad 'device g flops 1 bandwidth 1' "device 'g' is described twice"
	bad 'device g:2 flops 1 bandwidth 1' "device 'g:2' is described twice"
	bad 'device a*2 flops 1 bandwidth 1' "device 'a' is described twice"
	bad 'device x*1025 flops 1 bandwidth 1' 'x*1025'
	bad 'device x*y flops 1 bandwidth 1' 'x*y'
	bad 'within n latency 1 bandwidth 1' "no group 'n' is described above"
	bad 'group node g\nwithin nod latency 1 bandwidth 1' "did you mean 'node'?"
	bad 'within' 'within needs the name of a group'
	bad 'group n g\nbetween n latency 1' 'a link needs latency and bandwidth'
	bad 'withn x' "did you mean 'within'?"
	bad 'link h g latency 1 bandwidth 1' "no device 'h' is described"
}

@test "presets of nodes: eight devices, joined each with each, and two nodes of a kind of one's own beside each other" {
	for p in h100 h200 b200 mi300x; do
		devsim --probe --spec $p-node g.mp > p.mp
		py 'd = of("p.mp", "devs")[0]; assert d["names"] == [f"{sys.argv[1]}:{i}" for i in range(8)] and len(d["links"]) == 56' $p
	done
	devsim --probe --spec two-rtx4090,raspberry-pi5 g.mp > p.mp
	py 'd = of("p.mp", "devs")[0]; assert d["names"] == ["rtx4090:0", "rtx4090:1", "cpu"] and len(d["links"]) == 6'
	devsim --probe --spec h100-node,h200-node g.mp > p.mp
	py 'd = of("p.mp", "devs")[0]; assert len(d["names"]) == 16 and len(d["links"]) == 112'
}
