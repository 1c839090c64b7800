"""Families of parity_op.py for operators that few models have: detectors, regions of interest, samplers,
searches, bags of embeddings, Fourier transforms, random numbers."""
import itertools

import numpy as np


def boxes(c, *shape, size=20.0):
    """Boxes (..., 4) as corners x0 y0 x1 y1 within a square of this size."""
    a = c.rng.uniform(0, size, (*shape, 2))
    b = a + c.rng.uniform(0.5, size / 2, (*shape, 2))
    return np.concatenate([a, b], -1).astype(np.float32)


def distinct(c, *shape):
    """Scores in (0, 1) without ties; up to 512 of them have none as bf16 either, which has 128 between two powers of two."""
    n = int(np.prod(shape))
    if n > 512:
        return ((c.rng.permutation(n) + 0.5) / n).reshape(shape).astype(np.float32)
    return ((0x3f7f - c.rng.permutation(n) * (512 // n)).astype(np.uint32) << 16).view(np.float32).reshape(shape)


def suppression(c):
    o = c.ov.opset13
    i64 = lambda v: c.const(v, np.int64)
    f = lambda v: c.const(v, np.float32)
    for enc, descending, out in itertools.product(("corner", "center"), (True, False), ("i64", "i32")):
        c.add("nms %s %s %s" % (enc, descending, out), lambda b, s: o.non_max_suppression(
            b, s, i64(7), f(0.4), f(0.1), f(0.0), enc, descending, out), boxes(c, 2, 30), distinct(c, 2, 3, 30))
    for sigma, iou, score, most in ((0.5, 0.5, 0.05, 9), (0.2, 0.3, 0.3, 4), (0.0, 0.9, 0.0, 100), (0.0, 0.5, 2.0, 5),
                                    (0.0, 0.5, 0.0, 0)):
        c.add("nms sigma %g iou %g score %g most %d" % (sigma, iou, score, most), lambda b, s: o.non_max_suppression(
            b, s, i64(most), f(iou), f(score), f(sigma)), boxes(c, 1, 40), distinct(c, 1, 2, 40))
    # So many that boxes are compared within stripes of the picture; classes far from each other, as torchvision's.
    for iou, size, wide, most in itertools.product((1e-6, 0.004, 0.03, 0.3, 0.5, 0.75), (20.0, 400.0), (3.0, 60.0), (700, 30)):
        a = c.rng.uniform(0, size, (1, 700, 2)) + c.rng.integers(0, 3, (1, 700, 1)) * size * 2
        b = np.concatenate([a, a + c.rng.uniform(0.5, 1.0, (1, 700, 2)) * c.rng.choice((1.0, 2.0, wide), (1, 700, 2))], -1)
        c.add("nms of 700 iou %g size %g wide %g most %d" % (iou, size, wide, most), lambda p, q: o.non_max_suppression(
            p, q, i64(most), f(iou), f(0.1)), b.astype(np.float32), distinct(c, 1, 2, 700))
    for old in (c.ov.opset1, c.ov.opset3, c.ov.opset4, c.ov.opset5):
        c.add("nms of %s" % old.__name__[-6:], lambda b, s: old.non_max_suppression(
            b, s, i64(5), f(0.5), f(0.2)), boxes(c, 1, 20), distinct(c, 1, 2, 20))
    for sort, across, decay, top, keep, back in itertools.product(
            ("none", "score", "classid"), (False, True), ("linear", "gaussian"), (-1, 6), (-1, 5), (-1, 0)):
        c.add("matrix_nms %s %s %s %d %d %d" % (sort, across, decay, top, keep, back), lambda b, s: o.matrix_nms(
            b, s, sort, across, "i32", 0.2, top, keep, back, decay, 2.0, 0.1, True),
            boxes(c, 2, 12), distinct(c, 2, 3, 12))
    for sort, across, top, keep, back, eta in itertools.product(
            ("none", "score", "classid"), (False, True), (-1, 6), (-1, 5), (-1, 1), (1.0, 0.9)):
        c.add("multiclass_nms %s %s %d %d %d %g" % (sort, across, top, keep, back, eta),
              lambda b, s: o.multiclass_nms(b, s, None, sort, across, "i64", 0.4, 0.2, top, keep, back, True, eta),
              boxes(c, 2, 12), distinct(c, 2, 3, 12))


def rotated(c):
    """Boxes and regions with angles: (x, y, width, height, angle)."""
    i64, f = lambda v: c.const(v, np.int64), lambda v: c.const(v, np.float32)
    turned = lambda *s: np.concatenate([c.rng.uniform(3, 12, (*s, 2)), c.rng.uniform(2, 9, (*s, 2)), c.rng.uniform(-3, 3, (*s, 1))], -1).astype(np.float32)
    for clockwise, descending, most, iou in itertools.product((True, False), (True, False), (3, 30), (0.1, 0.5)):
        c.add("nms_rotated %s %s %d %g" % (clockwise, descending, most, iou), lambda b, s: c.make(
            "NMSRotated", [b, s, i64(most), f(iou), f(0.05)], "opset13", sort_result_descending=descending, output_type="i64", clockwise=clockwise),
            turned(2, 30), distinct(c, 2, 3, 30))
    for clockwise, ratio, scale in itertools.product((True, False), (0, 2), (1.0, 0.5)):
        c.add("roi_align_rotated %s %d %g" % (clockwise, ratio, scale), lambda p, r: c.make(
            "ROIAlignRotated", [p, r, c.const([0, 1, 1, 0, 1], np.int32)], "opset15", pooled_h=3, pooled_w=2, sampling_ratio=ratio,
            spatial_scale=scale, clockwise_mode=clockwise), c.real(2, 3, 12, 14), turned(5))


def priors(c):
    o = c.ov.opset13
    size, image = c.const([4, 6], np.int64), c.const([64, 96], np.int64)
    shape = c.real(1, 2, 4, 6)
    grid = [dict(min_size=[16.0], max_size=[38.0], aspect_ratio=[2.0], flip=True, clip=False),
            dict(min_size=[16.0, 24.0], max_size=[38.0, 46.0], aspect_ratio=[2.0, 3.0], flip=False, clip=True,
                 offset=0.5, step=8.0, variance=[0.1, 0.1, 0.2, 0.2]),
            dict(min_size=[], fixed_size=[16.0], fixed_ratio=[1.0, 2.0], density=[2.0], flip=True),
            dict(min_size=[], fixed_size=[16.0, 20.0], density=[1.0, 2.0], aspect_ratio=[2.0], flip=True),
            dict(min_size=[0.2, 0.3], scale_all_sizes=False, aspect_ratio=[2.0], flip=True),
            dict(min_size=[16.0], max_size=[38.0], aspect_ratio=[2.0], flip=True, min_max_aspect_ratios_order=False)]
    for i, a in enumerate(grid):
        a = {"offset": 0.0, **a}
        for n, op in (("8", c.ov.opset8), ("1", c.ov.opset1)):
            if n == "1" and "min_max_aspect_ratios_order" in a:
                continue
            c.add("prior_box-%s %d" % (n, i), lambda p, op=op, a=a: op.prior_box(
                o.gather(o.shape_of(p), c.const([2, 3], np.int64), c.const(0, np.int64)), image, a), shape)
    for a in (dict(width=[10.0, 20.0], height=[12.0, 8.0], offset=0.5),
              dict(width=[10.0], height=[12.0], step=16.0, clip=True, offset=0.25, variance=[0.1, 0.1, 0.2, 0.2]),
              dict(width=[10.0], height=[12.0], step_widths=16.0, step_heights=8.0, offset=0.5, variance=[0.3])):
        c.add("prior_box_clustered %s" % sorted(a), lambda p: o.prior_box_clustered(
            o.gather(o.shape_of(p), c.const([2, 3], np.int64), c.const(0, np.int64)), image, a), shape)


def detection(c):
    n, classes = 12, 3
    prior = (boxes(c, n) / 30).reshape(1, 1, -1)
    variance = np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), n).reshape(1, 1, -1)
    both = np.concatenate([prior, variance], 1)
    for code, share, inside, label, clip_b, clip_a, dec, keep in (
            ("caffe.PriorBoxParameter.CENTER_SIZE", True, False, 0, False, False, False, 20),
            ("caffe.PriorBoxParameter.CORNER", True, False, 0, True, False, False, 10),
            ("caffe.PriorBoxParameter.CENTER_SIZE", False, False, 0, False, True, False, 20),
            ("caffe.PriorBoxParameter.CENTER_SIZE", True, True, -1, False, False, False, 7),
            ("caffe.PriorBoxParameter.CENTER_SIZE", True, False, 0, False, False, True, 20)):
        locations = 1 if share else classes
        for version, op in (("1", c.ov.opset1), ("8", c.ov.opset8)):
            a = dict(background_label_id=label, top_k=9, keep_top_k=[keep], code_type=code, share_location=share,
                     nms_threshold=0.45, confidence_threshold=0.1, clip_after_nms=clip_a, clip_before_nms=clip_b,
                     decrease_label_id=dec, normalized=True, input_height=1, input_width=1,
                     variance_encoded_in_target=inside, objectness_score=0.0)
            if version == "1":
                a["num_classes"] = classes
            c.add("detection_output-%s %s %s %s %d" % (version, code[-6:], share, inside, keep),
                  lambda l, s, p: op.detection_output(l, s, p, a),
                  c.real(2, n * locations * 4, lo=-0.5, hi=0.5), distinct(c, 2, n * classes),
                  both if not inside else prior)


def regions(c):
    o = c.ov.opset13
    x = c.real(2, 3, 12, 14)
    rois = boxes(c, 5, size=12.0)
    index = c.const([0, 1, 1, 0, 1], np.int32)
    for mode, aligned, ratio, scale in itertools.product(
            ("avg", "max"), ("asymmetric", "half_pixel_for_nn", "half_pixel"), (0, 2), (1.0, 0.5)):
        c.add("roi_align %s %s %d %g" % (mode, aligned, ratio, scale), lambda p, r: o.roi_align(
            p, r, index, 3, 2, ratio, scale, mode, aligned), x, rois)
    five = np.concatenate([np.array([[0], [1], [1], [0], [1]], np.float32), rois], 1)
    for scale in (1.0, 0.5):
        c.add("roi_pooling max %g" % scale, lambda p, r: o.roi_pooling(p, r, [3, 2], scale, "max"), x, five)
        c.add("roi_pooling bilinear %g" % scale, lambda p, r: o.roi_pooling(p, r, [3, 2], scale / 14, "bilinear"), x, five)
    deep = c.real(2, 3 * 4, 12, 14)
    c.add("psroi_pooling average", lambda p, r: o.psroi_pooling(p, r, 3, 2, 1.0, 1, 1, "average"), deep, five)
    c.add("psroi_pooling bilinear", lambda p, r: o.psroi_pooling(p, r, 2, 3, 0.05, 3, 2, "bilinear"), deep, five)
    for part, trans, scale in ((0, False, 1.0), (2, True, 1.0), (3, True, 0.5), (1, True, 0.25)):
        c.add("deformable_psroi_pooling %d %s %g" % (part, trans, scale), lambda p, r, *t: c.make(
            "DeformablePSROIPooling", [p, r, *t], "opset1", output_dim=3, spatial_scale=scale, group_size=2, mode="bilinear_deformable",
            spatial_bins_x=3, spatial_bins_y=2, trans_std=0.1, part_size=part or 1), deep, five,
            *([c.real(5, 2, part, part)] if trans else []))


def yolo(c):
    o = c.ov.opset13
    x = c.real(2, 21, 4, 5, lo=-3, hi=3)
    for soft, axis, end in ((True, 1, 3), (False, 1, 3), (True, 0, 3), (True, 2, 3)):
        c.add("region_yolo %s %d" % (soft, axis), lambda p: o.region_yolo(
            p, 4, 2, 3, soft, [0, 1, 2], axis, end, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), x)
    for stride in (2,):
        c.add("reorg_yolo %d" % stride, lambda p: o.reorg_yolo(p, [stride]), c.real(2, 4, 4, 6))


def sample(c):
    o = c.ov.opset13
    x, grid = c.real(2, 3, 5, 6), c.real(2, 4, 7, 2, lo=-1.4, hi=1.4)
    for corners, mode, pad in itertools.product(
            (True, False), ("bilinear", "bicubic", "nearest"), ("zeros", "border", "reflection")):
        c.add("grid_sample %s %s %s" % (corners, mode, pad), lambda p, g: o.grid_sample(
            p, g, {"align_corners": corners, "mode": mode, "padding_mode": pad}), x, grid)


EQUATIONS = (
    "ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "ij->ji", "ii->i", "ij->", "i,j->ij", "...ij,...jk->...ik", "abc,cd,de->abe", "ij,jk",
    "b...c,c->b...", "ijk,ijk->", "ijk,ijk->ijk", "ijk,kij->jik", "bij->bj", "bij->ib", "iij->j", "iji->ij", "iji,jk->ki", "bhi,bhj->bhij",
    "bhi,bhj->hjbi", "bij,bj->bi", "bij,bi->bj", "bij,bi->jb", "ij,j->i", "ij,i->j", "kij,kij->ij", "ibj,ibj->b", "bwihd,bwjhd->bwhij",
    "bihd,bjhd->ijhb", "etf,efd,te->td", "ij,jk,kl,lm->im", "im,lm,kl,jk->ij", "i,ij,j->", "i,j,k->kij", "ab,b,bc,c,cd->da", "ij,kl->ijkl",
    "ij,kl->jl", "ij,kl->", "ia,ja,ka->ijk", "ia,ja,ka,la->ijkl", "ii,ij,jj->ij", "ii,ii->", "...ij->...ji", "...ij,j->...i",
    "i...,i...->...", "a...b,b...c->a...c", "abcd,efgh->hgfedcba", ",ij->ij", ",->", "i,,i->", "abcdef,abcdef,aX->Xb", "iX,Xj,bij->b",
    "ba,bc,bd,be,bf->bacdef")


def equation_shapes(equation):
    size = dict(zip("abcdefghijklmnopqrstuvwxyzX", (2, 3, 4, 5, 3, 7, 2, 4, 19, 18, 17, 6, 3, 5, 2, 3, 4, 2, 3, 5, 4, 2, 3, 4, 5, 6, 3)))
    return [[size[label] for label in term.replace("...", "pq")] for term in equation.split("->")[0].split(",")]


def einsums(c):
    """Diagonals, sums of one input alone, products by elements, of rows, of matrices, in any order."""
    o = c.ov.opset13
    cases = [(eq, equation_shapes(eq)) for eq in EQUATIONS]
    cases += [("...ij,...jk->...ik", ((2, 1, 3, 4), (5, 4, 6))), ("b...,b...->b...", ((2, 3, 1), (2, 1, 4))), ("bij,bjk->bik", ((1, 9, 5), (1, 5, 8))),
              ("...i,i...->...", ((2, 1, 4), (4, 1, 3))), ("...ij,...j->...", ((3, 5, 6), (1, 6))), ("...,...->...", ((40, 1), (1, 70))),
              ("ij,ij->j", ((130, 40), (130, 40))), ("bij,bj->bi", ((2, 1300, 33), (2, 33))), ("bij,bi->bj", ((2, 33, 1300), (2, 33)))]
    for eq, shapes in cases:
        c.add("einsum %s %s" % (eq, shapes), lambda *p: o.einsum(list(p), eq), *(c.real(*s) for s in shapes))
    # A product for each leading label, and constants, which are packed once.
    for eq, shapes in (("td,edf->etf", ((40, 33), (3, 33, 50))), ("etf,efd,te->td", ((3, 40, 33), (3, 33, 50), (40, 3))), ("bi,oi->ob", ((20, 33), (40, 33))),
                       ("bhwc,hkc->bhwk", ((3, 5, 20, 40), (5, 19, 40))), ("bi,oij,bj->bo", ((20, 33), (7, 33, 35), (20, 35)))):
        arrays = [c.real(*s) for s in shapes]
        c.add("einsum %s %s" % (eq, shapes), lambda *p: o.einsum(list(p), eq), *arrays)
        c.add("einsum %s of a constant" % eq, lambda *p: o.einsum([p[0], c.const(arrays[1]), *p[1:]], eq), arrays[0], *arrays[2:])


def einsum_types(c):
    """What OpenVINO's plugin has not, or rounds: integers, whose sums and products wrap, and f64.  numpy is the oracle."""
    o = c.ov.opset13
    for eq, kind in itertools.product(EQUATIONS + ("...i,...j->...ij",), (np.int32, np.int64, np.uint8, np.float64)):
        shapes, most = equation_shapes(eq), {np.int32: 3000, np.int64: 2**40, np.uint8: 255, np.float64: 2**20}[kind]
        arrays = [c.ints(*s, lo=0 if kind == np.uint8 else -most, hi=most, dtype=kind) for s in shapes]
        c.add("einsum %s %s" % (eq, kind.__name__), lambda *p: o.einsum(list(p), eq), *arrays, want=np.einsum(eq, *arrays))


def search(c):
    o = c.ov.opset16
    for right, out in itertools.product((True, False), ("i32", "i64")):
        c.add("bucketize %s %s" % (right, out), lambda p: o.bucketize(
            p, c.const([-1.0, 0.0, 0.5, 2.0], np.float32), out, right),
            np.array([[-3, -1, 0], [0.2, 0.5, 9]], np.float32))
        c.add("search_sorted %s" % right, lambda s, v: o.search_sorted(s, v, right),
              np.sort(c.ints(2, 8)), c.ints(2, 5))
    for axis, ordered in itertools.product((None, 0, 1), (True, False)):
        x = c.ints(4, 3, hi=2).astype(np.float32)
        c.add("unique %s %s" % (axis, ordered), lambda p: o.unique(
            p, None if axis is None else c.const(axis, np.int32), ordered), x)


def embedding(c):
    o = c.ov.opset16
    table, ids = c.real(7, 5), c.ints(6, hi=7)
    offsets = np.array([0, 2, 2, 5], np.int32)
    weights = c.real(6)
    c.add("bag offsets sum", lambda t, i, f: o.embedding_bag_offsets_sum(t, i, f), table, ids, offsets)
    c.add("bag offsets sum default weights", lambda t, i, f, w: o.embedding_bag_offsets_sum(
        t, i, f, c.const(3, np.int32), w), table, ids, offsets, weights)
    c.add("bag offsets mean", lambda t, i, f: o.embedding_bag_offsets(t, i, f, reduction="mean"), table, ids, offsets)
    c.add("bag packed sum", lambda t, i: o.embedding_bag_packed_sum(t, i), table, c.ints(3, 2, hi=7))
    c.add("bag packed mean", lambda t, i: o.embedding_bag_packed(t, i, reduction="mean"), table, c.ints(3, 2, hi=7))
    segments = c.const([0, 0, 2, 2, 2, 4], np.int32)
    c.add("segments sum", lambda t, i: o.embedding_segments_sum(t, i, segments, c.const(6, np.int32)), table, ids)
    c.add("segments sum default", lambda t, i, w: o.embedding_segments_sum(
        t, i, segments, c.const(6, np.int32), c.const(1, np.int32), w), table, ids, weights)
    for fill in ("ZERO", "LOWEST"):
        c.add("segment_max " + fill, lambda t: o.segment_max(
            t, c.const([0, 0, 1, 1, 3, 3, 3], np.int32), c.const(5, np.int32), fill), table)


def ctc(c):
    o = c.ov.opset13
    for merge in (True, False):
        mask = np.array([[1, 1], [1, 1], [1, 1], [1, 0], [0, 0]], np.float32)
        c.add("ctc_greedy %s" % merge, lambda p, m: o.ctc_greedy_decoder(p, m, merge), c.real(5, 2, 4), mask)
        c.add("ctc_greedy_seq_len %s" % merge, lambda p, n: o.ctc_greedy_decoder_seq_len(
            p, n, c.const(1, np.int32), merge), c.real(2, 5, 4), np.array([5, 3], np.int32))
    for collapse, merge, unique in itertools.product((False, True), repeat=3):
        c.add("ctc_loss %s %s %s" % (collapse, merge, unique), lambda p, n, l, m: o.ctc_loss(
            p, n, l, m, c.const(4, np.int32), collapse, merge, unique), c.real(2, 6, 5),
            np.array([6, 5], np.int32), np.array([[0, 1, 1, 0, 0, 0], [2, 3, 2, 0, 0, 0]], np.int32),
            np.array([3, 3], np.int32))


def fourier(c):
    o = c.ov.opset16
    x = c.real(2, 6, 5, 2)
    for name, axes, size in itertools.product(("dft", "idft"), ([1], [0, 1], [1, 2], [-2]), (None, [4], [7])):
        sizes = None if size is None else c.const(size * len(axes), np.int64)
        c.add("%s %s %s" % (name, axes, size), lambda p: getattr(o, name)(p, c.const(axes, np.int64), sizes), x)
    for axes, size in itertools.product(([2], [1, 2]), (None, [4])):
        sizes = None if size is None else c.const(size * len(axes), np.int64)
        c.add("rdft %s %s" % (axes, size), lambda p: o.rdft(p, c.const(axes, np.int64), sizes), c.real(2, 6, 5))
        c.add("irdft %s %s" % (axes, size), lambda p: o.irdft(p, c.const(axes, np.int64), sizes), c.real(2, 6, 5, 2))
    for transpose in (False, True):
        c.add("stft %s" % transpose, lambda p, w: o.stft(
            p, w, c.const(8, np.int64), c.const(3, np.int64), transpose), c.real(2, 40), c.real(8, lo=0.2, hi=1))
    k = lambda v: c.const(v, np.int64)
    for size, center, normalized, length in itertools.product((8, 9), (False, True), (False, True), (None, 17, 40)):
        c.add("istft %d %s %s %s" % (size, center, normalized, length), lambda p, w: o.istft(
            p, w, k(size), k(4), center, normalized, *([] if length is None else [k(length)])),
            c.real(2, size // 2 + 1, 6, 2), c.real(size - 1, lo=0.2, hi=1))


def random(c):
    o = c.ov.opset16
    shape = c.const([3, 7], np.int64)
    for t, lo, hi in (("f32", 0.0, 1.0), ("f32", -2.0, 5.0), ("i32", 0, 100), ("i64", -50, 1000)):
        kind = {"f32": np.float32, "i32": np.int32, "i64": np.int64}[t]
        for g, s in ((1, 2), (150, 10), (0, 7)):
            c.add("random_uniform %s %g %g %d %d" % (t, lo, hi, g, s), lambda p: o.convert(o.random_uniform(
                o.gather(shape, o.convert(p, "i64"), c.const(0, np.int64)), c.const(lo, kind), c.const(hi, kind),
                t, g, s), t), np.array([0, 1], np.int32))
    one = np.eye(5, dtype=np.float32)[[3, 0, 4]]         # what is sure is drawn, whatever the numbers are
    for kind in ("i32", "i64"):
        c.add("multinomial %s" % kind, lambda p: c.ov.opset13.multinomial(p, c.const(4, np.int32), kind, True, False, 1, 2), one,
              want=np.repeat([[3], [0], [4]], 4, 1).astype("int" + kind[1:]))


def patches(c):
    o, i64 = c.ov.opset16, lambda v: c.const(v, np.int64)
    x = c.real(2, 3, 7, 9)
    for pad, sizes, strides, rates in itertools.product(("valid", "same_upper", "same_lower"), ([3, 2], [1, 1]),
                                                        ([1, 1], [2, 3]), ([1, 1], [2, 1])):
        c.add("extract_image_patches %s %s %s %s" % (pad, sizes, strides, rates),
              lambda p: o.extract_image_patches(p, sizes, strides, rates, pad), x)
    for shape, size, kernel, args in (((2, 12, 9), [4, 4], [2, 2], {}), ((12, 9), [4, 4], [2, 2], {}),
                                      ((2, 12, 12), [6, 4], [2, 2], dict(strides=[2, 1], pads_begin=[1, 0],
                                                                          pads_end=[1, 1]))):
        if shape[-1] == 12:
            shape = (2, 12, 16)
        c.add("col2im %s %s" % (shape, sorted(args)), lambda p: o.col2im(p, i64(size), i64(kernel), **args), c.real(*shape))
    for pads, strides, dilations, group, deform, mask in (
            ([0, 0], [1, 1], [1, 1], 1, 1, False), ([1, 1], [2, 1], [1, 1], 1, 2, True), ([1, 1], [1, 1], [2, 1], 2, 1, True)):
        for n in (1, 2):
            ci, h, w = 4, 7, 8
            oh, ow = ((s + 2 * p - d * 2 - 1) // t + 1 for s, p, d, t in zip((h, w), pads, dilations, strides))
            arrays = [c.real(n, ci, h, w), c.real(n, 2 * deform * 9, oh, ow, lo=-1.5, hi=1.5)]
            weight = c.const(c.real(6, ci // group, 3, 3))
            if mask:
                arrays.append(c.real(n, deform * 9, oh, ow, lo=0, hi=1))
            c.add("deformable_convolution %s %d %d %s %d" % (pads, group, deform, mask, n),
                  lambda p, f, m=None: o.deformable_convolution(p, f, weight, strides, pads, pads, dilations, m,
                                                                "EXPLICIT", group, deform, False), *arrays)


def walks(c):
    o, i64 = c.ov.opset16, lambda v: c.const(v, np.int64)
    for size in ([2, 3], [5, 1], [7, 9]):        # OpenVINO's plugin has no i64 indices here
        c.add("adaptive_max_pool %s" % size, lambda p: o.adaptive_max_pool(p, i64(size), "i32"), c.real(2, 3, 7, 9))
    c.add("adaptive_max_pool 3", lambda p: o.adaptive_max_pool(p, i64([3]), "i32"), c.real(2, 3, 8))
    c.add("grn", lambda p: o.grn(p, 0.3), c.real(2, 5, 4, 3))
    for size in (1, 4):
        c.add("inverse %d" % size, lambda p: o.inverse(p, False), c.real(2, 3, size, size) + 3 * np.eye(size, dtype=np.float32))
    steps, batch, beams = 5, 2, 3
    c.add("gather_tree", lambda s, p: o.gather_tree(s, p, c.const([5, 3], np.int32), c.const(9, np.int32)),
          c.ints(steps, batch, beams, hi=12), c.ints(steps, batch, beams, hi=beams))
    for start, stop, step, axes, shape in (([0], [4], [2], [0], (2, 5)), ([3, -1], [0, -6], [-1, -2], [0, 1], (3, 3)),
                                           ([1], [3], [1], None, (2, 5))):
        c.add("slice_scatter %s %s %s" % (start, stop, axes), lambda p, u: o.slice_scatter(
            p, u, i64(start), i64(stop), i64(step), None if axes is None else i64(axes)), c.real(4, 5), c.real(*shape))


def proposals(c):
    o = c.ov.opset13
    n, h, w, anchors = 1, 5, 6, 6
    scores = np.concatenate([1 - distinct(c, n, anchors, h, w), distinct(c, n, anchors, h, w)], 1)
    for normalize, clip_before, clip_after in itertools.product((False, True), repeat=3):
        a = dict(base_size=np.uint32(16), pre_nms_topn=np.uint32(60), post_nms_topn=np.uint32(20), nms_thresh=0.6,
                 feat_stride=np.uint32(16), min_size=np.uint32(8),
                 ratio=[0.5, 1.0, 2.0], scale=[2.0, 4.0], normalize=normalize, clip_before_nms=clip_before,
                 clip_after_nms=clip_after)
        for version, op in (("1", c.ov.opset1), ("4", c.ov.opset4)):
            c.add("proposal-%s %s %s %s" % (version, normalize, clip_before, clip_after),
                  lambda s, d: op.proposal(s, d, c.const([80.0, 96.0, 1.0], np.float32), a), scores,
                  c.real(n, 4 * anchors, h, w, lo=-0.2, hi=0.2))
    for normalized, most in itertools.product((True, False), (10, 30)):
        c.add("generate_proposals %s %d" % (normalized, most), lambda i, a, d, s: o.generate_proposals(
            i, a, d, s, 1.0, 0.7, 40, most, normalized, 1.0, "i64"),
            np.array([[80, 96, 1], [80, 96, 1]], np.float32), boxes(c, h, w, 3, size=60.0),
            c.real(2, 12, h, w, lo=-0.2, hi=0.2), distinct(c, 2, 3, h, w))


def detectron(c):
    from openvino.utils.node_factory import NodeFactory
    make = NodeFactory("opset6").create
    kind = "ExperimentalDetectron"
    h, w = 5, 6
    priors, deltas = boxes(c, 3, size=30.0), c.real(12, h, w, lo=-0.2, hi=0.2)
    for flatten, stride in itertools.product((True, False), (0.0, 8.0)):
        c.add("prior grid %s %g" % (flatten, stride), lambda p, f, i: make(
            kind + "PriorGridGenerator", [p, f, i], dict(flatten=flatten, h=0, w=0, stride_x=stride, stride_y=stride)),
            priors, c.real(1, 2, h, w), c.real(1, 3, 40, 48))
    for most in (8, 50):
        c.add("proposals %d" % most, lambda i, a, d, s: make(
            kind + "GenerateProposalsSingleImage", [i, a, d, s],
            dict(min_size=1.0, nms_threshold=0.7, post_nms_count=most, pre_nms_count=40)),
            np.array([80, 96, 1], np.float32), boxes(c, h * w * 3, size=60.0), deltas, distinct(c, 3, h, w))
        c.add("top rois %d" % most, lambda r, p: make(kind + "TopKROIs", [r, p], dict(max_rois=min(most, 20))),
              boxes(c, 20), distinct(c, 20))
    for classes, post, most, score in ((3, 20, 20, 0.05), (4, 3, 30, 0.0), (2, 20, 4, 0.3)):
        c.add("detection output %d %d %d" % (classes, post, most), lambda r, d, s, i: make(
            kind + "DetectionOutput", [r, d, s, i],
            dict(class_agnostic_box_regression=False, deltas_weights=[10.0, 10.0, 5.0, 5.0], max_delta_log_wh=2.0, max_detections_per_image=most,
                 nms_threshold=0.4, num_classes=classes, post_nms_count=post, score_threshold=score)),
            boxes(c, 16, size=60.0), c.real(16, 4 * classes, lo=-2, hi=2), distinct(c, 16, classes), np.array([[80, 96, 1]], np.float32))
    for size, ratio, aligned in itertools.product((3, 7), (0, 2), (False, True)):
        c.add("roi features %d %d %s" % (size, ratio, aligned), lambda r, a, b: make(
            kind + "ROIFeatureExtractor", [r, a, b],
            dict(output_size=size, sampling_ratio=ratio, pyramid_scales=[4, 8], aligned=aligned)),
            boxes(c, 9, size=200.0), c.real(1, 3, 60, 64), c.real(1, 3, 30, 32))


def families(family):
    for f in (suppression, rotated, priors, detection, regions, yolo, sample, einsums, einsum_types, search, embedding, ctc, fourier, random, patches,
              walks, proposals, detectron):
        family(f)
