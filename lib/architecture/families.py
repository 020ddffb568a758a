"""Families of models as Hugging Face's transformers builds them: which fields a configuration has, and what they mean.

A `Family` is data: the class whose weights are counted, what that class takes for a field that is missing, and how
its fields become those of a `Transformer`. Read in transformers 5.18, configuration_*.py and
modeling_*.py of the folder named like the model_type, and compared with the parameters that the classes allocate.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lib.architecture import readers

QKV = ("qkv_bias",)
QKVO = ("qkv_bias", "attention_output_bias")
EVERY_BIAS = (*QKVO, "mlp_bias")
PARALLEL = {"norm": "layer", "norms_per_layer": 1, "gated": False}
GPT = {"norm": "layer", "gated": False}


@dataclass(frozen=True, kw_only=True)
class Family:
    """How one class of transformers reads a configuration."""

    code: str  # the class
    defaults: Mapping[str, object]  # field -> what the class takes where the file has none; all fields that it reads
    fixed: Mapping[str, object] = field(default_factory=dict)  # fields of Transformer that no configuration changes
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # switch of the file -> fields of Transformer
    parts: tuple[Callable, ...] = ()  # functions of the fields that give further fields of Transformer
    names: Mapping[str, str] = field(default_factory=dict)  # other name in files -> field
    instead: Mapping[str, str] = field(default_factory=dict)  # field -> its only name in files


def _sizes(vocab, width, inner, layers, heads, kv_heads=None, tied=False, **more):
    return {
        "vocab_size": vocab,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "tie_word_embeddings": tied,
        "head_dim": None,
        **more,
    }


def _without(defaults, *names):
    return {name: value for name, value in defaults.items() if name not in names}


_GPT_NAMES = {"n_layer": "num_hidden_layers", "n_head": "num_attention_heads"}
_WINDOW = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28, "layer_types": None}
_EXPERTS = {"num_local_experts": 8, "num_experts_per_tok": 2}
_EXPERT_NAMES = {"num_experts": "num_local_experts"}
_DEEPSEEK = {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
_DEEPSEEK |= {"v_head_dim": 128, "attention_bias": False}
_DEEPSEEK_NAMES = {"num_local_experts": "n_routed_experts", "num_mtp_layers": "num_nextn_predict_layers"}
_BIAS = {"attention_bias": False}
_LLAMA = _sizes(32000, 4096, 11008, 32, 32, attention_bias=False, mlp_bias=False)
_LLAMA_FLAGS = {"attention_bias": QKVO, "mlp_bias": ("mlp_bias",)}
_OLMO = _sizes(50304, 4096, 11008, 32, 32, **_BIAS)
_QKVO = {"attention_bias": QKVO}
_GLM = _sizes(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=True)
_GRANITE_MOE = _sizes(32000, 4096, 11008, 32, 32, **_BIAS, **_EXPERTS)
_GEMMA2 = {"sliding_window": 4096, "layer_types": None, **_BIAS}

FAMILIES = {
    # Llama and those that differ from it in a word.
    "llama": Family(code="LlamaForCausalLM", defaults=_LLAMA, flags=_LLAMA_FLAGS),
    "granite": Family(code="GraniteForCausalLM", defaults=_LLAMA, flags=_LLAMA_FLAGS),
    "mistral": Family(
        code="MistralForCausalLM",
        defaults=_sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096),
        parts=(readers.one_window,),
    ),
    "qwen2": Family(
        code="Qwen2ForCausalLM",
        defaults=_sizes(151936, 4096, 22016, 32, 32, 32, **_WINDOW),
        fixed={"qkv_bias": True},
        parts=(readers.late_windows,),
    ),
    "qwen3": Family(
        code="Qwen3ForCausalLM",
        defaults=_sizes(151936, 4096, 22016, 32, 32, 32, **_WINDOW, **_BIAS) | {"head_dim": 128},
        fixed={"qk_norm": "head"},
        flags=_QKVO,
        parts=(readers.late_windows,),
    ),
    "smollm3": Family(
        code="SmolLM3ForCausalLM",
        defaults=_sizes(128256, 2048, 11008, 36, 16, 4, True, attention_bias=False, mlp_bias=False)
        | {"use_sliding_window": False, "sliding_window": None, "layer_types": None}
        | {"no_rope_layers": None, "no_rope_layer_interval": 4},
        flags=_LLAMA_FLAGS,
        parts=(readers.windows_without_rope,),
    ),
    "phi3": Family(
        code="Phi3ForCausalLM",
        defaults=_sizes(32064, 3072, 8192, 32, 32, sliding_window=None),
        parts=(readers.one_window,),
    ),
    "glm": Family(code="GlmForCausalLM", defaults=_GLM, flags={"attention_bias": QKV}),
    "glm4": Family(code="Glm4ForCausalLM", defaults=_GLM, fixed={"norms_per_layer": 4}, flags={"attention_bias": QKV}),
    # The first form of GLM-4, whose class is not in transformers: defaults as vLLM keeps them, configs/chatglm.py.
    "chatglm": Family(
        code="ChatGLMForConditionalGeneration",
        defaults=_without(_sizes(65024, 4096, 13696, 28, 32), "num_key_value_heads")
        | {"head_dim": 128, "multi_query_attention": False, "multi_query_group_num": 1, "rmsnorm": True}
        | {"post_layer_norm": True, "add_bias_linear": False, "add_qkv_bias": False},
        parts=(readers.chatglm,),
        instead={"vocab_size": "padded_vocab_size", "intermediate_size": "ffn_hidden_size"}
        | {"num_hidden_layers": "num_layers", "head_dim": "kv_channels"},
    ),
    # Gemma: heads of their own width, a tied table; norms on either side from the second on.
    "gemma": Family(
        code="GemmaForCausalLM",
        defaults=_sizes(256000, 3072, 24576, 28, 16, 16, True, **_BIAS) | {"head_dim": 256},
        flags=_QKVO,
    ),
    "gemma2": Family(
        code="Gemma2ForCausalLM",
        defaults=_sizes(256000, 2304, 9216, 26, 8, 4, True, **_GEMMA2) | {"head_dim": 256},
        fixed={"norms_per_layer": 4},
        flags=_QKVO,
        parts=(readers.typed_windows(2),),
    ),
    "gemma3_text": Family(
        code="Gemma3ForCausalLM",
        defaults=_sizes(262208, 2304, 9216, 26, 8, 4, True, **_GEMMA2, sliding_window_pattern=6) | {"head_dim": 256},
        fixed={"norms_per_layer": 4, "qk_norm": "head"},
        flags=_QKVO,
        parts=(readers.typed_windows(6),),
    ),
    # OLMo: norms without weights, then norms behind the parts and over the queries and keys.
    "olmo": Family(code="OlmoForCausalLM", defaults=_OLMO, fixed={"norm": "none"}, flags=_QKVO),
    "olmo2": Family(code="Olmo2ForCausalLM", defaults=_OLMO, fixed={"qk_norm": "width"}, flags=_QKVO),
    "olmo3": Family(
        code="Olmo3ForCausalLM",
        defaults=_OLMO | {"sliding_window": 4096, "layer_types": None},
        fixed={"qk_norm": "width"},
        flags=_QKVO,
        parts=(readers.typed_windows(4),),
    ),
    # LayerNorm, plain MLPs, biases: the line of GPT.
    "gpt2": Family(
        code="GPT2LMHeadModel",
        defaults=_without(_sizes(50257, 768, None, 12, 12, tied=True), "num_key_value_heads", "head_dim")
        | {"max_position_embeddings": 1024, "add_cross_attention": False},
        fixed=GPT | dict.fromkeys(EVERY_BIAS, True),
        parts=(readers.learned_positions(0), readers.four_times, readers.without_cross_attention),
        names=_GPT_NAMES | {"n_embd": "hidden_size", "n_positions": "max_position_embeddings"},
        instead={"intermediate_size": "n_inner"},
    ),
    "gpt_neox": Family(
        code="GPTNeoXForCausalLM",
        defaults=_without(_sizes(50432, 6144, 24576, 44, 64), "num_key_value_heads", "head_dim")
        | {"attention_bias": True, "use_parallel_residual": True},  # either way it has both norms
        fixed=GPT | {"mlp_bias": True},
        flags=_QKVO,
    ),
    "opt": Family(
        code="OPTForCausalLM",
        defaults=_without(_sizes(50272, 768, 3072, 12, 12, tied=True), "num_key_value_heads", "head_dim")
        | {"max_position_embeddings": 2048, "word_embed_proj_dim": None, "enable_bias": True}
        | {"do_layer_norm_before": True, "_remove_final_layer_norm": False, "layer_norm_elementwise_affine": True},
        fixed=GPT,
        flags={"enable_bias": EVERY_BIAS},
        parts=(readers.learned_positions(2), readers.opt),
        instead={"intermediate_size": "ffn_dim"},
    ),
    "bloom": Family(
        code="BloomForCausalLM",
        defaults=_without(
            _sizes(250880, 64, None, 2, 8, tied=True), "num_key_value_heads", "head_dim", "intermediate_size"
        ),
        fixed=GPT | dict.fromkeys(EVERY_BIAS, True) | {"norms_outside_layers": 2},
        parts=(readers.four_times,),
        names=_GPT_NAMES | {"n_embed": "hidden_size"},
    ),
    "falcon": Family(
        code="FalconForCausalLM",
        defaults=_without(_sizes(65024, 4544, None, 32, 71, tied=True), "num_key_value_heads", "head_dim")
        | {"num_kv_heads": None, "num_ln_in_parallel_attn": None, "multi_query": True, "parallel_attn": True}
        | {"new_decoder_architecture": False, "bias": False},
        fixed=GPT,
        flags={"bias": EVERY_BIAS},
        parts=(readers.four_times, readers.falcon),
        names=_GPT_NAMES | {"n_embed": "hidden_size", "n_head_kv": "num_kv_heads"},
        instead={"intermediate_size": "ffn_hidden_size"},
    ),
    "phi": Family(
        code="PhiForCausalLM",
        defaults=_sizes(51200, 2048, 8192, 24, 32, qk_layernorm=False),
        fixed=PARALLEL | dict.fromkeys((*EVERY_BIAS, "head_bias"), True),
        parts=(readers.qk_norm("qk_layernorm", "head"),),
    ),
    "starcoder2": Family(
        code="Starcoder2ForCausalLM",
        defaults=_sizes(49152, 3072, 12288, 30, 24, 2, True, use_bias=True, sliding_window=None),
        fixed=GPT,
        flags={"use_bias": EVERY_BIAS},
        parts=(readers.one_window,),
    ),
    "nemotron": Family(
        code="NemotronForCausalLM",
        defaults=_sizes(256000, 6144, 24576, 32, 48, attention_bias=False, mlp_bias=False),
        fixed=GPT,
        flags=_LLAMA_FLAGS,
    ),
    "stablelm": Family(
        code="StableLmForCausalLM",
        defaults=_without(_sizes(50304, 2560, 6912, 32, 32, 32, use_qkv_bias=False), "head_dim")
        | {"qk_layernorm": False, "use_parallel_residual": False},
        fixed={"norm": "layer"},
        flags={"use_qkv_bias": QKV},
        parts=(readers.qk_norm("qk_layernorm", "width-without-bias"), readers.stablelm),
    ),
    "cohere": Family(
        code="CohereForCausalLM",
        defaults=_sizes(256000, 8192, 22528, 40, 64, tied=True, use_qk_norm=False, **_BIAS),
        fixed={"norm": "layer-without-bias", "norms_per_layer": 1},
        flags=_QKVO,
        parts=(readers.qk_norm("use_qk_norm", "width"),),
    ),
    "cohere2": Family(
        code="Cohere2ForCausalLM",
        defaults=_without(_sizes(256000, 8192, 22528, 40, 64, tied=True, **_BIAS), "head_dim")
        | {"sliding_window": 4096, "layer_types": None, "sliding_window_pattern": 4},
        fixed={"norm": "layer-without-bias", "norms_per_layer": 1},
        flags=_QKVO,
        parts=(readers.typed_windows(4),),
    ),
    # Mixtures of experts.
    "mixtral": Family(
        code="MixtralForCausalLM",
        defaults=_sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=None, **_EXPERTS),
        parts=(readers.one_window, readers.experts),
        names=_EXPERT_NAMES,
    ),
    "qwen2_moe": Family(
        code="Qwen2MoeForCausalLM",
        defaults=_sizes(151936, 2048, 5632, 24, 16, 16, **_WINDOW)
        | {"decoder_sparse_step": 1, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632}
        | {"num_experts_per_tok": 4, "num_local_experts": 60, "mlp_only_layers": None, "qkv_bias": True},
        flags={"qkv_bias": QKV},
        parts=(readers.early_windows, readers.qwen_experts),
        instead={"num_local_experts": "num_experts"},
    ),
    "qwen3_moe": Family(
        code="Qwen3MoeForCausalLM",
        defaults=_sizes(151936, 2048, 6144, 24, 32, 4, **_BIAS)
        | {"decoder_sparse_step": 1, "moe_intermediate_size": 768, "num_experts_per_tok": 8}
        | {"num_local_experts": 128, "mlp_only_layers": None, "use_sliding_window": False, "sliding_window": 4096},
        fixed={"qk_norm": "head"},
        flags=_QKVO,
        parts=(readers.one_window, readers.qwen_experts),
        names=_EXPERT_NAMES,
    ),
    "olmoe": Family(
        code="OlmoeForCausalLM",
        defaults=_sizes(50304, 2048, 2048, 16, 16, num_local_experts=64, num_experts_per_tok=8, **_BIAS),
        fixed={"qk_norm": "width"},
        flags=_QKVO,
        parts=(readers.experts,),
        names=_EXPERT_NAMES,
    ),
    "phimoe": Family(
        code="PhimoeForCausalLM",
        defaults=_sizes(32064, 4096, 6400, 32, 32, 8, **_BIAS, lm_head_bias=False, sliding_window=None)
        | {"num_local_experts": 16, "num_experts_per_tok": 2},
        fixed={"norm": "layer"},
        flags={"attention_bias": QKVO, "lm_head_bias": ("head_bias",)},
        parts=(readers.one_window, readers.experts),
    ),
    "granitemoe": Family(code="GraniteMoeForCausalLM", defaults=_GRANITE_MOE, flags=_QKVO, parts=(readers.experts,)),
    "granitemoeshared": Family(
        code="GraniteMoeSharedForCausalLM",
        defaults=_GRANITE_MOE | {"shared_intermediate_size": 0},
        flags=_QKVO,
        parts=(readers.granite_experts,),
    ),
    "granitemoehybrid": Family(
        code="GraniteMoeHybridForCausalLM",
        defaults=_GRANITE_MOE | {"shared_intermediate_size": 1024, "layer_types": None},
        flags=_QKVO,
        parts=(readers.granite_without_mamba,),
    ),
    "gpt_oss": Family(
        code="GptOssForCausalLM",
        defaults=_sizes(201088, 2880, 2880, 36, 64, 8, attention_bias=True, sliding_window=128, layer_types=None)
        | {"head_dim": 64, "num_local_experts": 128, "num_experts_per_tok": 4},
        fixed={"attention_sinks": True},
        flags=_QKVO,
        parts=(readers.typed_windows(2), readers.biased_experts),
        names=_EXPERT_NAMES,
    ),
    "llama4_text": Family(
        code="Llama4ForCausalLM",
        defaults=_sizes(202048, 5120, 8192, 48, 40, 8, **_BIAS, intermediate_size_mlp=16384, num_local_experts=16)
        | {"head_dim": 128, "num_experts_per_tok": 1, "moe_layers": None, "interleave_moe_layer_step": 1}
        | {"attention_chunk_size": 8192, "layer_types": None, "no_rope_layers": None, "no_rope_layer_interval": 4}
        | {"use_qk_norm": True},  # that norm has no weights
        flags=_QKVO,
        parts=(readers.chunked_windows, readers.llama4_experts),
    ),
    "glm4_moe": Family(
        code="Glm4MoeForCausalLM",
        defaults=_sizes(151552, 4096, 10944, 46, 96, 8, **_BIAS, use_qk_norm=False, moe_intermediate_size=1408)
        | {"num_experts_per_tok": 8, "n_routed_experts": 128, "n_shared_experts": 1}
        | {"first_k_dense_replace": 1, "num_nextn_predict_layers": 1},
        flags={"attention_bias": QKV},
        parts=(readers.floored_heads, readers.qk_norm("use_qk_norm", "head"), readers.balanced_experts, readers.mtp),
        names=_DEEPSEEK_NAMES,
    ),
    "deepseek_v2": Family(
        code="DeepseekV2ForCausalLM",
        defaults=_without(_sizes(102400, 4096, 11008, 32, 32, **_DEEPSEEK), "num_key_value_heads", "head_dim")
        | {"moe_intermediate_size": 1407, "num_experts_per_tok": None, "n_routed_experts": 64, "mlp_bias": False}
        | {"n_shared_experts": 2, "first_k_dense_replace": 0},
        flags=_LLAMA_FLAGS,
        parts=(readers.latent, readers.deepseek_experts),
        names={"num_experts": "n_routed_experts"},
    ),
    "deepseek_v3": Family(
        code="DeepseekV3ForCausalLM",
        defaults=_without(_sizes(129280, 7168, 18432, 61, 128, **_DEEPSEEK), "num_key_value_heads", "head_dim")
        | {"moe_intermediate_size": 2048, "num_experts_per_tok": 8, "n_routed_experts": 256, "n_shared_experts": 1}
        | {"first_k_dense_replace": 3, "num_nextn_predict_layers": 1},
        flags=_QKVO,
        parts=(readers.latent, readers.balanced_experts, readers.mtp),
        names=_DEEPSEEK_NAMES,
    ),
    "minicpm3": Family(
        code="MiniCPM3ForCausalLM",
        defaults=_without(_sizes(73448, 2560, 6400, 62, 40, tied=True), "num_key_value_heads", "head_dim")
        | {"kv_lora_rank": 256, "q_lora_rank": 768, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32}
        | {"v_head_dim": None, "attention_bias": False, "mlp_bias": False},
        flags=_LLAMA_FLAGS,
        parts=(readers.latent,),
    ),
}
