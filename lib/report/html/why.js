// why.js - one operation: where it could run and how fast, what it waits for, what waits for it.

// In a cost graph the type says little, and the name is the operation's.
const title = v => data.named ? N.name[v] : data.types[N.type[v]];
const names = v => data.named ? N.name[v] + (data.types[N.type[v]] ? "\n" + data.types[N.type[v]] : "") : data.types[N.type[v]] + "\n" + N.name[v];

// The nodes at the other ends of a node's edges: out of node[ptr[v]] .. those of v.
function adjacency(from, to) {
	const E = data.edges, ptr = new Int32Array(n + 2), node = new Int32Array(E.length / 2);
	for (let i = 0; i < E.length; i += 2) ptr[E[i + from] + 2]++;
	for (let v = 0; v < n; v++) ptr[v + 2] += ptr[v + 1];
	for (let i = 0; i < E.length; i += 2) node[ptr[E[i + from] + 1]++] = E[i + to];
	return { ptr, node };
}

function why() {
	const sources = adjacency(1, 0), readers = adjacency(0, 1), members = new Map(), MOST = 12;
	for (let v = 0; v < n; v++) if (N.set[v] >= 0) members.has(N.set[v]) ? members.get(N.set[v]).push(v) : members.set(N.set[v], [v]);
	// Steps that the set of v reads from, or that read from it; what has no step is looked through.
	function neighbours(p, v, there) {
		const own = N.set[v], found = new Map(), seen = new Set(), todo = own >= 0 ? members.get(own).slice() : [v];
		for (const u of todo) seen.add(u);
		while (todo.length) {
			const u = todo.pop();
			for (let j = there.ptr[u]; j < there.ptr[u + 1]; j++) {
				const w = there.node[j], i = entry(p, w);
				if (seen.has(w)) continue;
				seen.add(w);
				if (N.set[w] === own && own >= 0) continue;
				if (i !== undefined) { if (!found.has(i)) found.set(i, w); }
				else todo.push(w);
			}
		}
		return [...found];
	}
	const element = (tag, text, more) => Object.assign(document.createElement(tag), text === undefined ? {} : { textContent: text }, more || {});
	function table(caption, head, rows) {
		const t = element("table", undefined, { className: "rows" }), h = element("tr"), body = element("tbody");
		t.setAttribute("role", "table");
		t.append(element("caption", caption), element("thead"), body);
		t.children[1].append(h);
		for (const x of head) h.append(element("th", x, { scope: "col" }));
		for (const cells of rows) {
			const r = element("tr");
			cells.forEach((x, j) => {
				const c = element(j ? "td" : "th");
				if (j) c.dataset.label = head[j]; else c.scope = "row";
				c.append(x);
				r.append(c);
			});
			body.append(r);
		}
		return t;
	}
	const link = v => element("button", names(v).replace("\n", ", "), { className: "op", type: "button", onclick: () => choose(v) });
	const capped = list => list.length > MOST ? list.slice(0, MOST) : list;
	const more = list => list.length > MOST ? " (the first " + MOST + " of " + list.length + ")" : "";

	// From where, and when it is there, an entry gets what another one makes.
	function arrival(p, from, to) {
		const T = p.schedule, C = T.copies, d = T.device[to];
		if (T.device[from] === d) return { at: T.end[from], how: "made here" };
		let best = -1;
		for (let i = 0; i < C.start.length; i++)
			if (C.from[i] === from && C.target[i] === d && (best < 0 || C.start[i] < C.start[best])) best = i;
		if (best < 0) return { at: T.end[from], how: "read where it lies" };
		if (C.end[best] <= C.start[best]) return { at: C.end[best], how: "read where it lies, " + size(C.bytes[best]) };
		return { at: C.end[best], how: "copied, " + size(C.bytes[best]) + " in " + time(C.end[best] - C.start[best]) };
	}
	function reason(p, i, inputs) {
		const T = p.schedule, j = p.position[i], before = j > 0 ? p.rows[T.device[i]][j - 1] : -1, at = T.start[i];
		const last = inputs.reduce((a, b) => (!a || b.at > a.at ? b : a), null), free = before < 0 ? 0 : T.end[before];
		const start = "It starts at " + time(at);
		if (before >= 0 && (!last || free > last.at))
			return start + ": its inputs are there" + (last ? " at " + time(last.at) : "") + ", and " + data.devices[T.device[i]] + " is busy with " +
				(T.node[before] < 0 ? "constants" : names(T.node[before]).replace("\n", ", ")) + " until " + time(free) + ".";
		if (last) return start + ": the last of its inputs, of " + names(last.v).replace("\n", ", ") + ", is there at " + time(last.at) + ".";
		return start + ": it waits for nothing.";
	}
	function place(p, v, box) {
		const d = p.device[v], set = N.set[v], cost = data.cost && set >= 0 ? data.cost.map(row => row[set]) : null;
		const all = set >= 0 ? members.get(set) : [v];
		box.append(element("h3", names(v).replace("\n", ", ") + (d < 0 ? "" : ", on " + data.devices[d])));
		if (all.length > 1)
			box.append(element("p", "One set with " + (all.length - 1) + " more, which share its device: " +
				all.filter(u => u !== v).slice(0, 8).map(u => N.name[u]).join(", ") + (all.length > 9 ? ", ..." : "") + "."));
		if (d < 0) {
			box.append(element("p", "It computes nothing, and is on no device."));
			return;
		}
		const i = entry(p, v);
		let inputs = [];
		if (i !== undefined) {
			inputs = neighbours(p, v, sources).map(([j, u]) => ({ v: u, i: j, ...arrival(p, j, i) })).sort((a, b) => b.at - a.at);
			box.append(element("p", reason(p, i, inputs)));
		}
		if (cost && cost.some(x => x !== null)) {
			const able = cost.filter(x => x !== null && x >= 0), least = Math.min(...able), here = cost[d];
			const one = x => x === null ? "not told" : x < 0 ? "cannot run there" : time(x);
			if (able.length && here >= 0) {
				const fastest = data.devices.filter((_, e) => cost[e] === least).join(" or ");
				box.append(element("p", here <= least ? "No device computes it in less time." :
					"Alone it would take " + time(least) + " on " + fastest + ", " + time(here - least) + " less than here." + (inputs.length ? " Of the " + inputs.length + " steps that it reads from " +
					inputs.filter(x => p.schedule.device[x.i] === d).length + " are here." : "")));
			}
			box.append(table("Its times, as the placement was planned with", ["device", "time", "here"],
				cost.map((x, e) => [data.devices[e], one(x), e === d ? "here" + (i === undefined ? "" : ", in this run " + time(p.schedule.end[i] - p.schedule.start[i])) : ""])));
		}
		if (i === undefined) return;
		const T = p.schedule;
		if (inputs.length)
			box.append(table("It waits for" + more(inputs), ["operation", "device", "there at", "how"],
				capped(inputs).map(x => [link(x.v), data.devices[T.device[x.i]], time(x.at), x.how])));
		const next = neighbours(p, v, readers).sort((a, b) => T.start[a[0]] - T.start[b[0]]);
		if (next.length)
			box.append(table("What waits for it" + more(next), ["operation", "device", "starts at", "how"],
				capped(next).map(([j, u]) => [link(u), data.devices[T.device[j]], time(T.start[j]), arrival(p, i, j).how.replace("made here", "on this device")])));
	}
	function tell() {
		const box = $("why");
		if (state.node < 0) return;
		box.textContent = "";
		for (const p of [state.placement, state.beside])
			if (p) {
				if (state.beside) box.append(element("h3", "In " + p.label));
				place(lookups(p), state.node, box);
			}
		drawn.why = state.node;
		note();
	}
	// The nodes whose name or type has the text, exact ones first.
	function search(text) {
		const exact = [], some = [], t = text.toLowerCase();
		for (let v = 0; v < n && exact.length + some.length < 2000; v++) {
			const name = N.name[v].toLowerCase();
			if (name === t) exact.push(v);
			else if (name.includes(t) || data.types[N.type[v]].toLowerCase().includes(t)) some.push(v);
		}
		return exact.concat(some);
	}
	const field = $("find");
	field.addEventListener("input", () => {
		const list = $("found");
		list.textContent = "";
		if (field.value) for (const v of search(field.value).slice(0, 20)) list.append(element("option", undefined, { value: N.name[v], label: data.types[N.type[v]] }));
	});
	field.addEventListener("change", () => {
		const v = field.value ? search(field.value)[0] : undefined;
		if (v !== undefined) choose(v);
		else $("why").textContent = field.value ? "No operation has '" + field.value + "' in its name or type." : "";
	});
	listeners.push(tell);
}

// Which placement is shown, and which beside it.
function picks() {
	const timed = placements.filter(p => p.schedule), told = p => p.label + (p.time ? ", " + time(p.time) : "") + (p.simulated && !data.simulated ? " (simulated)" : "");
	if (timed.length < 2 || !$("pick")) return;
	$("timeline-picks").hidden = false;
	const option = (text, value) => Object.assign(document.createElement("option"), { textContent: text, value });
	$("pick-beside").append(option("none", ""));
	timed.forEach((p, i) => {
		$("pick").append(option(told(p), i));
		$("pick-beside").append(option(told(p), i));
	});
	if (data.left_out) $("timeline-picks").append(Object.assign(document.createElement("span"), { className: "hint", textContent: data.left_out + " slower ones are left out" }));
	const change = () => {
		state.placement = timed[+$("pick").value];
		state.beside = $("pick-beside").value === "" || $("pick-beside").value === $("pick").value ? null : timed[+$("pick-beside").value];
		tellAll("placement");
	};
	$("pick").onchange = $("pick-beside").onchange = change;
	drawn.placements = timed.length;
}
