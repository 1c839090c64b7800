"""Networks with drawn weights, for torch2dag: a ResNet-18 and a small GPT with their losses, and layers that are all alike."""
import torch
from torch import nn
from torch.nn import functional as F


class Classified(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def resnet18(rows=64):
    import torchvision
    return Classified(torchvision.models.resnet18()), (torch.zeros(rows, 3, 224, 224), torch.zeros(rows, dtype=torch.long))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = (t.view(rows, length, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(rows, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, layers, width, heads, vocab, length, tied):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Next(Classified):
    def forward(self, tokens, then):
        return F.cross_entropy(self.net(tokens).flatten(0, 1), then.flatten())


def gpt(rows=16, layers=12, width=768, heads=12, vocab=32000, length=512, tied=False):
    tokens = torch.zeros(rows, length, dtype=torch.long)
    return Next(GPT(layers, width, heads, vocab, length, tied)), (tokens, tokens.clone())


def gpt_inference():
    return GPT(12, 768, 12, 32000, 512, False).eval(), (torch.zeros(1, 512, dtype=torch.long),)


def resnet18_inference():
    import torchvision
    return torchvision.models.resnet18().eval(), (torch.zeros(1, 3, 224, 224),)


def small_gpt():
    return gpt(8, 2, 32, 2, 100, 16)


def tiny_gpt():
    return gpt(8, 1, 32, 2, 100, 16)


def four_layers():
    return even(4)


def tied_gpt():
    return gpt(8, 2, 32, 2, 100, 16, True)


def even(layers=8, width=64):
    """Without a loss: gradients of the output come in. The input has one, too, so that all layers have two products backward."""
    return nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(layers))), (torch.zeros(8 * width, width, requires_grad=True),)


def in_place():
    """What is written to: a relu, a buffer, a part of a tensor."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 8)
            self.register_buffer("seen", torch.zeros(8))

        def forward(self, x):
            y = F.relu_(self.fc(x))
            self.seen.add_(1)
            y[:, :2].mul_(2)
            a, b = y.split(4, 1)
            return a + b, y.view(-1).sum()
    return Net(), (torch.zeros(4, 8),)
