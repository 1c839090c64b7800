#!/usr/bin/env python3
"""torch_check.py [--update] - torch2dag beside what PyTorch itself says: FLOPs, what autograd keeps, parameters; pipelines simulated by
the programs in PATH.  --update writes tests/instances/train_*.json anew.  Run by `make torch-check`, with PyTorch."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NETS = os.path.join(ROOT, "tests", "support", "torch_nets.py")
warnings.simplefilter("ignore")
loader = importlib.machinery.SourceFileLoader("torch2dag", os.path.join(ROOT, "pipelines", "torch2dag"))
torch2dag = importlib.util.module_from_spec(importlib.util.spec_from_loader("torch2dag", loader))
loader.exec_module(torch2dag)
sys.path.insert(0, os.path.dirname(NETS))
KEPT = {"train_gpt.json": ["--training", "sgd", NETS + ":tiny_gpt"],
        "train_even.json": ["--training", "none", "--microbatches", "4", "--stages", "2", NETS + ":four_layers"]}


def run(*args):
    """(status, JSON or None, what it said)."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(said):
        out = os.path.join(folder, "out.json")
        status = torch2dag.main([*args, "-o", out])
        text = open(out).read() if os.path.exists(out) else None
    return status, text, said.getvalue()


def dag(function, *args):
    status, text, said = run(*args, function if ":" in function else f"{NETS}:{function}")
    assert status == 0, said
    return json.loads(text)


def node(d, type):
    return [n for n in d["nodes"] if n["type"] == type]


def simulate(d, spec, method):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("d.json", json.dumps(d)), ("s.spec", spec)):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        made = subprocess.run(["bash", "-o", "pipefail", "-c", f"json2dag --spec s.spec d.json | placebase {method} --no-hints | devsim | recdump -k run"],
                              cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(made.stdout.splitlines()[0])["map"]


def check_aliases():
    d = dag("in_place")
    into = {(e["src"], e["dst"]): e["bytes"] for e in d["edges"]}
    ids = {n["id"]: n for n in d["nodes"]}
    assert not any(n["type"] in ("split", "view", "slice", "getitem") for n in d["nodes"])
    # written in place: on the same device, in a chain, the buffer beside who writes it
    assert into["linear", "relu_"] == into["relu_", "mul_"] == into["mul_", "add"] == into["mul_", "sum_1"] == 128, into
    assert ids["linear"]["colocate"] == ids["relu_"]["colocate"] == ids["mul_"]["colocate"] != ids["add_"]["colocate"] == ids["b_seen"]["colocate"]
    assert "out_bytes" not in ids["add_"]
    # three views of one product: a third of it each, tensors of their own
    q = [e for e in dag("small_gpt")["edges"] if e["src"] == "linear"]
    assert sorted(e["bytes"] for e in q) == [16384] * 3 and len({e["tensor"] for e in q}) == 3, q


def check_inference():
    import torchvision
    d = dag("resnet18_inference")
    products = sum(n["flops"] for n in d["nodes"])
    assert abs(products / 2 - 1.814e9) < 2e6, products                # multiplications, as torchvision documents them
    net = torchvision.models.resnet18()
    held = sum(t.numel() * t.element_size() for n, t in net.state_dict().items() if "num_batches" not in n)
    assert sum(n.get("mem_bytes", 0) for n in d["nodes"]) == held
    assert all("__module." in n["name"] for n in d["nodes"] if n["type"] == "conv2d")


def kept_by_autograd(model, inputs):
    """Bytes that a forward pass keeps for backward, parameters not among them."""
    import torch
    mine = {t.untyped_storage().data_ptr() for t in model.state_dict().values()}
    kept = {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in mine and t.numel():
            kept[s.data_ptr()] = (s.nbytes(), t)
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = model(*inputs)
    return sum(n for n, _ in kept.values()), loss


def check_training():
    import torch_nets
    d = dag("small_gpt", "--training", "adam")
    model, inputs = torch_nets.small_gpt()
    sizes = {n: p.numel() * 4 for n, p in model.named_parameters()}
    assert {n["name"]: n["mem_bytes"] for n in node(d, "parameter")} == {n: 3 * s for n, s in sizes.items()}     # two moments
    assert sorted(n["bytes"] for n in node(d, "adam")) == sorted(7 * s for s in sizes.values())
    phase = {op.id: op.phase for op in torch2dag.trace_training(model, inputs, None).ops}
    kept = {(e["src"], e.get("tensor", 0)): e["bytes"] for e in d["edges"]
            if e["bytes"] and phase.get(e["src"]) == "forward" and phase.get(e["dst"]) == "backward"}
    real, _ = kept_by_autograd(model, inputs)
    print(f"kept for backward: {sum(kept.values())} bytes, by autograd {real}")
    assert abs(sum(kept.values()) - real) <= 0.02 * real, (sum(kept.values()), real)
    products = {p: sum(n["flops"] for n in d["nodes"] if phase.get(n["id"]) == p) for p in ("forward", "backward")}
    assert 2 <= products["backward"] / products["forward"] < 2.2, products       # flash attention computes its scores again
    again = dag("small_gpt", "--training", "adam", "--recompute", "block")
    more = sum(n["flops"] for n in again["nodes"]) - sum(n["flops"] for n in d["nodes"])
    blocks = sum(n["flops"] for n in d["nodes"] if phase.get(n["id"]) == "forward" and ".blocks." in n.get("name", ""))
    # all of the blocks but their last product, of which backward reads nothing
    assert more == blocks - 2 * 1048576, (more, blocks)


def check_ties():
    d = dag("tied_gpt", "--training", "sgd", "--microbatches", "2", "--stages", "2")
    tied = [n for n in node(d, "parameter") if "tokens" in n["name"] or "head" in n["name"]]
    assert len(tied) == 2 and len({n["colocate"] for n in tied}) == 2, tied
    assert len(node(d, "sgd")) == len(node(d, "parameter"))


def check_pipelines():
    for stages, microbatches, more in ((4, 8, []), (2, 4, ["--schedule", "gpipe"]), (4, 8, ["--schedule", "interleaved"])):
        d = dag("even", "--training", "none", "--stages", str(stages), "--microbatches", str(microbatches), *more)
        work = sum(n["flops"] for n in d["nodes"]) / 1e9 / stages
        r = simulate(d, f"device g*{stages}  flops 1e9  bandwidth 1e30\nlink g g  latency 0  bandwidth 1e30\n", "climb --evals 400")
        chunks = 2 if "interleaved" in more else 1
        bubble = 1 - work / r["lat_s"]
        print(f"{stages} stages, {microbatches} microbatches, {more[-1:]}: bubble {bubble:.6f}")
        assert abs(bubble - (stages - 1) / (chunks * microbatches + stages - 1)) < 1e-6, bubble


def check_mistakes():
    bad = os.path.join(tempfile.mkdtemp(), "bad.py")
    with open(bad, "w") as f:
        f.write("import torch\nfrom torch import nn\n"
                "def breaks(): raise ValueError('two\\nlines')\n"
                "def leaves(): raise SystemExit(0)\n"
                "def other(): return 7\n"
                "class D(nn.Module):\n    def forward(self, x):\n        return x * int(x.sum())\n"
                "def data(): return D(), (torch.ones(2),)\n"
                "def model(): return nn.Linear(2, 3), (torch.ones(4, 2),)\n"
                "def wrong(): return nn.Linear(2, 3), (torch.ones(4, 5),)\n")
    for args, status, words in (
            ([bad + ":breaks"], 3, "ValueError: two lines"), ([bad + ":leaves"], 3, "SystemExit"), ([bad + ":other"], 3, "does not return"),
            ([bad + ":none"], 3, "no function 'none'"), ([bad + ":data"], 3, "cannot export"), ([bad + ":wrong"], 3, "cannot export"),
            ([bad + "x.py"], 2, "no such file"), (["no_such_module:f"], 3, "no_such_module"), ([bad, "--training", "--microbatches", "3"], 2, "first dim"),
            ([bad, "--training", "--stages", "9"], 3, "no 9 stages"), ([bad, "--recompute", "all"], 2, "--training"),
            ([bad, "--training", "--stages", "2", "--schedule", "interleaved", "--microbatches", "1"], 2, "multiple")):
        got, text, said = run(*args)
        assert got == status and text is None and said.count("\n") == 1 and words in said, (args, got, said)
    assert run(bad)[0] == 0


def check_kept(update):
    for name, args in KEPT.items():
        status, text, said = run(*args)
        assert status == 0, said
        path = os.path.join(ROOT, "tests", "instances", name)
        if update:
            with open(path, "w") as f:
                f.write(text)
        assert open(path).read() == text, f"{name} is not what torch2dag writes; --update"


def main():
    check_kept("--update" in sys.argv)
    for check in (check_aliases, check_inference, check_training, check_ties, check_pipelines, check_mistakes):
        check()
        print("ok", check.__name__, flush=True)


if __name__ == "__main__":
    main()
