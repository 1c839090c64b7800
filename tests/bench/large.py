"""large.py - time and memory of every stage of one pass of the pipeline over a large graph: ir2dag, dagfeat,
devsim --probe, gpnembed, placepolicy --greedy, devsim, one after another, through files.

    python tests/bench/large.py [-n SETS] [-d FOLDER]
The model is made up: four chains of operations on 64 floats; half of the operations read one of the 50 before
them, too.  Every operation is a set.  A million sets take 6 GB in FOLDER (default: one that is removed).  Needs
the programs in PATH."""
import argparse, os, random, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peak import peak

ONE, TWO = ("ReLU", "Sigmoid", "Tanh", "Exp"), ("Add", "Multiply", "Maximum", "Subtract")
CHAINS, REACH = 4, 50
PORT = '<port id="%d" precision="FP32"><dim>1</dim><dim>64</dim></port>'


def write_model(path, n):
    rng = random.Random(3)
    reads = [[]]
    for i in range(1, n - CHAINS):
        reads.append([max(0, i - CHAINS)] + [rng.randrange(max(0, i - REACH), i)] * rng.randrange(2))
    ends = len(reads)
    reads += [[i - CHAINS] for i in range(ends, ends + CHAINS)]
    with open(path, "w") as f:
        f.write('<?xml version="1.0"?><net name="large" version="11"><layers>\n'
                '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,64" element_type="f32"/>'
                "<output>%s</output></layer>\n" % (PORT % 0))
        for i in range(1, len(reads)):
            k = len(reads[i])
            kind = "Result" if i >= ends else rng.choice(TWO if k == 2 else ONE)
            f.write('<layer id="%d" name="n%d" type="%s" version="opset1"><input>%s</input>' % (
                i, i, kind, "".join(PORT % j for j in range(k))))
            f.write("</layer>\n" if i >= ends else "<output>%s</output></layer>\n" % (PORT % k))
        f.write("</layers><edges>\n")
        for i, inputs in enumerate(reads):
            for port, u in enumerate(inputs):
                f.write('<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>\n' % (
                    u, len(reads[u]), i, port))
        f.write("</edges></net>\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", "--sets", type=int, default=1000000)
    p.add_argument("-d", "--folder")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        at = os.path.join(a.folder or folder, "large")
        write_model(at + ".xml", a.sets)
        name = at + ".xml"
        for command in ("ir2dag --no-colocate", "dagfeat", "devsim --probe", "gpnembed", "placepolicy --greedy", "devsim"):
            out = "%s.%s.mp" % (at, command.replace(" ", ""))
            start = time.monotonic()
            most = peak(*command.split(), "-o", out, name)
            print("%-22s %7.2f s %6.2f GB" % (command, time.monotonic() - start, most / 1e9), flush=True)
            name = out


if __name__ == "__main__":
    main()
