#!/usr/bin/env python3
"""stateful_exports.py DIR [NAME...] - export language models of two layers with random weights into DIR/NAME, with variables for
their caches, as optimum-intel makes them.  What is there stays."""
import inspect
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

SIZES = dict(vocab_size=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
             hidden_size=16, intermediate_size=32, ffn_dim=32, word_embed_proj_dim=16, n_embd=16,
             num_hidden_layers=2, n_layer=2, num_attention_heads=2, n_head=2, num_key_value_heads=1, head_dim=8,
             max_position_embeddings=64, n_positions=64, sliding_window=16, new_decoder_architecture=False, multi_query=True, alibi=False)
WITHOUT = {"phi": ["num_key_value_heads"], "mistral": ["sliding_window"], "phi3": ["sliding_window"], "qwen2": ["sliding_window"],
           "qwen3": ["sliding_window"]}
CONFIGS = {"llama": "LlamaConfig", "qwen2": "Qwen2Config", "qwen3": "Qwen3Config", "gemma": "GemmaConfig", "gemma2": "Gemma2Config",
           "mistral": "MistralConfig", "phi": "PhiConfig", "phi3": "Phi3Config", "gpt2": "GPT2Config", "opt": "OPTConfig",
           "falcon": "FalconConfig", "bloom": "BloomConfig", "gpt_neox": "GPTNeoXConfig", "stablelm": "StableLmConfig", "starcoder2": "Starcoder2Config",
           "mixtral": "MixtralConfig"}


def export(name, directory):
    import torch
    import transformers
    from optimum.intel import OVModelForCausalLM

    torch.manual_seed(0)
    kind = getattr(transformers, CONFIGS[name])
    takes = set(inspect.signature(kind.__init__).parameters)
    fits = {key: value for key, value in SIZES.items()
            if (key in takes or key.endswith("_token_id")) and key not in WITHOUT.get(name, [])}
    model = transformers.AutoModelForCausalLM.from_config(kind(**fits)).eval()
    with tempfile.TemporaryDirectory() as files:
        model.save_pretrained(files)
        OVModelForCausalLM.from_pretrained(files, export=True, compile=False, stateful=True, load_in_8bit=False).save_pretrained(directory)


if __name__ == "__main__":
    for one in sys.argv[2:] or CONFIGS:
        to = Path(sys.argv[1]) / one
        if not (to / "openvino_model.xml").exists():
            export(one, to)
            print(one, flush=True)
