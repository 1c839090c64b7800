#!/usr/bin/env python3
"""export_models.py - models of torchvision, timm and transformers with random weights, as OpenVINO's IR or as ONNX.

What `make bench-models` measures: forty models of kinds that tests/models has few of.  Needs torch, torchvision, timm,
transformers and openvino; weights are drawn, nothing is downloaded.

Usage: export_models.py --list
       export_models.py NAME FILE.xml
       export_models.py NAME FILE.onnx      needs onnx and onnxscript
"""
import os
import sys
import warnings

TORCHVISION = {224: "densenet121 efficientnet_b0 efficientnet_v2_s shufflenet_v2_x1_0 convnext_tiny swin_t swin_v2_t maxvit_t mobilenet_v2 "
                    "mobilenet_v3_small mnasnet1_0 regnet_y_400mf squeezenet1_1 resnext50_32x4d resnet18 vgg11".split()}
SEGMENTATION = "deeplabv3_mobilenet_v3_large fcn_resnet50".split()
VIDEO = {"r3d_18": (8, 112), "s3d": (16, 224)}          # frames, pixels
TIMM = "mobilevit_s mixer_b16_224 levit_128s ghostnet_100 hrnet_w18_small resnest14d repvgg_a0 pvt_v2_b0 poolformer_s12".split()
TOKENS = {"distilbert": ("DistilBertModel", "DistilBertConfig", 128, {}),
          "bert_qa": ("BertModel", "BertConfig", 384, {"num_hidden_layers": 4}),
          "albert": ("AlbertModel", "AlbertConfig", 128, {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
                                                         "num_hidden_layers": 4}),
          "t5_enc": ("T5EncoderModel", "T5Config", 128, {"num_layers": 4})}
SIGNALS = {"wav2vec2": ("Wav2Vec2Model", "Wav2Vec2Config", (1, 16000), {"num_hidden_layers": 3}),
           "clip_vision": ("CLIPVisionModel", "CLIPVisionConfig", (1, 3, 224, 224), {"num_hidden_layers": 4}),
           "segformer": ("SegformerForSemanticSegmentation", "SegformerConfig", (1, 3, 256, 256), {}),
           "whisper_enc": ("WhisperModel", "WhisperConfig", (1, 80, 3000),
                           {"d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6,
                            "decoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536})}
RECURRENT = {"lstm2": ("LSTM", 512, 2, False, 32), "gru2_bi": ("GRU", 256, 2, True, 50)}   # width, layers, both ways, steps
OTHERS = ["unet3d"]


def names():
    return sorted(TORCHVISION[224] + SEGMENTATION + list(VIDEO) + TIMM + list(TOKENS) + list(SIGNALS) + list(RECURRENT) + OTHERS)


def unet3d(nn, torch):
    def block(i, o):
        steps = []
        for c in (i, o):
            steps += [nn.Conv3d(c, o, 3, padding=1), nn.InstanceNorm3d(o), nn.LeakyReLU(0.01)]
        return nn.Sequential(*steps)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([block(1, 16), block(16, 32), block(32, 64)])
            self.pool = nn.MaxPool3d(2)
            self.up = nn.ModuleList([nn.ConvTranspose3d(64, 32, 2, 2), nn.ConvTranspose3d(32, 16, 2, 2)])
            self.join = nn.ModuleList([block(64, 32), block(32, 16)])
            self.out = nn.Conv3d(16, 3, 1)

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](self.pool(a))
            y = self.down[2](self.pool(b))
            y = self.join[0](torch.cat([self.up[0](y), b], 1))
            return self.out(self.join[1](torch.cat([self.up[1](y), a], 1)))
    return Net()


def make(name):
    """(module, example inputs)"""
    import torch
    nn = torch.nn

    class Pick(nn.Module):
        """The one output that matters."""
        def __init__(self, inner, how):
            super().__init__()
            self.inner, self.how = inner, how

        def forward(self, *x):
            return self.how(self.inner, *x)

    if name in TORCHVISION[224]:
        import torchvision
        return torchvision.models.get_model(name, weights=None), (torch.randn(1, 3, 224, 224),)
    if name in SEGMENTATION:
        import torchvision
        inner = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        return Pick(inner, lambda m, x: m(x)["out"]), (torch.randn(1, 3, 320, 320),)
    if name in VIDEO:
        import torchvision
        frames, size = VIDEO[name]
        return torchvision.models.get_model(name, weights=None), (torch.randn(1, 3, frames, size, size),)
    if name in TIMM:
        import timm
        return timm.create_model(name, pretrained=False), (torch.randn(1, 3, 224, 224),)
    if name in RECURRENT:
        kind, width, layers, both, steps = RECURRENT[name]
        cells = getattr(nn, kind)(width, width, layers, batch_first=True, bidirectional=both)
        net = nn.Sequential(nn.Embedding(5000, width), Pick(cells, lambda m, x: m(x)[0]), nn.Linear(width * (1 + both), 5000))
        return net, (torch.randint(1, 1000, (1, steps)),)
    if name == "unet3d":
        return unet3d(nn, torch), (torch.randn(1, 1, 32, 64, 64),)
    import transformers
    kind, config, size, options = (TOKENS | SIGNALS)[name]
    config = getattr(transformers, config)(**options)
    config._attn_implementation = "sdpa"
    inner = getattr(transformers, kind)(config)
    if name == "whisper_enc":
        inner = inner.get_encoder()
    if name in SIGNALS:
        return Pick(inner, lambda m, x: m(x, return_dict=False)[0]), (torch.randn(*size),)
    ids = torch.randint(1, 1000, (1, size))
    return Pick(inner, lambda m, i, a: m(i, attention_mask=a, return_dict=False)[0]), (ids, torch.ones(1, size, dtype=torch.long))


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names()))
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in names():
        print(__doc__.strip(), file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")
    import torch
    torch.manual_seed(1)
    net, inputs = make(sys.argv[1])
    if sys.argv[2].endswith(".onnx"):
        part = sys.argv[2] + ".part"
        torch.onnx.export(net.eval(), inputs, part, dynamo=True, external_data=False, verbose=False)
        os.replace(part, sys.argv[2])
        return 0
    import openvino as ov
    with torch.no_grad():
        model = ov.convert_model(net.eval(), example_input=inputs)
    model.reshape({port: list(x.shape) for port, x in zip(model.inputs, inputs)})
    part = sys.argv[2][:-len(".xml")] + ".part.xml"
    ov.save_model(model, part, compress_to_fp16=False)
    os.replace(part[:-len(".xml")] + ".bin", sys.argv[2][:-len(".xml")] + ".bin")
    os.replace(part, sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
