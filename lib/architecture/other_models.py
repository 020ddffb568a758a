"""Names in configuration files that lead elsewhere: other names of a family, what is refused, what stores nothing.

Source: the folders of transformers 5.18 and the model_type of each.
"""

# Where a file with several towers keeps its language model.
TOWERS = ("text_config", "llm_config", "language_config")
# Other model_type -> the family that allocates the same.
SAME_AS = {
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "gemma3": "gemma3_text",
    "glm4v": "glm4",
    "glm4v_text": "glm4",
    "glm4v_moe": "glm4_moe",
    "glm4v_moe_text": "glm4_moe",
    "kimi_k2": "deepseek_v3",
    "llama4": "llama4_text",
    "mistral3": "mistral",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_vl_text": "qwen3",
}

_HYBRID = "a hybrid of attention and recurrent layers"
_RECURRENT = "a recurrent model"
RECURRENT = {
    **dict.fromkeys(("bamba", "falcon_h1", "jamba", "nemotron_h", "zamba", "zamba2", "plamo2", "zaya"), _HYBRID),
    **dict.fromkeys(("kimi_linear", "lfm2", "lfm2_moe", "minimax", "olmo_hybrid", "recurrent_gemma"), _HYBRID),
    **dict.fromkeys(("qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "hymba"), _HYBRID),
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm"), _RECURRENT),
    **dict.fromkeys(("retnet", "hgrn", "gla", "mamba_hybrid"), _RECURRENT),
}
_ENCODER, _BOTH, _PICTURES, _SOUND = "an encoder", "an encoder and a decoder", "a vision model", "an audio model"
NO_DECODERS = {
    **dict.fromkeys(("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "esm"), _ENCODER),
    **dict.fromkeys(("ernie", "eurobert", "flaubert", "longformer", "modernbert", "mpnet", "nomic_bert"), _ENCODER),
    **dict.fromkeys(("roberta", "roformer", "xlm", "xlm-roberta", "xlm-roberta-xl", "mobilebert"), _ENCODER),
    **dict.fromkeys(("bart", "bigbird_pegasus", "blenderbot", "encoder-decoder", "fsmt", "led", "longt5"), _BOTH),
    **dict.fromkeys(("m2m_100", "marian", "mbart", "mt5", "mvp", "nllb-moe", "pegasus", "pegasus_x"), _BOTH),
    **dict.fromkeys(("prophetnet", "speech_to_text", "switch_transformers", "t5", "t5gemma", "umt5"), _BOTH),
    **dict.fromkeys(("whisper", "seamless_m4t", "seamless_m4t_v2", "plbart"), _BOTH),
    **dict.fromkeys(
        ("beit", "clip", "convnext", "deit", "dinov2", "siglip", "siglip2", "swin", "vit"), "a vision model"
    ),
    **dict.fromkeys(("hubert", "wav2vec2", "wavlm", "encodec"), "an audio model"),
}

# Fields that decide nothing about what is stored: rates, seeds, tokens, how positions are turned, how a run behaves.
_INERT = """
activation activation_function alibi apply_query_key_layer_scaling apply_residual_connection_post_layernorm
architectures attention_multiplier attention_softmax_in_fp32 attn_implementation attn_logit_softcapping attn_scale
attn_temperature_tuning auto_map aux_loss_alpha bad_words_ids bias_dropout_fusion boi_token_index bos_token
cache_implementation chunk_size_feed_forward classifier_dropout_prob clip_qkv cross_attention_hidden_size
dim_model_base dtype embedding_initializer_range embedding_multiplier eoi_token_index eos_token ep_size
experts_implementation experts_per_token final_logit_softcapping finetuning_task floor_scale for_llm_compressor
fp32_residual_connection gradient_checkpointing grouped_heads hidden_act hidden_activation id2label image_token_index
init_std initial_context_length initializer_range input_jitter_noise interleaved_qkv is_decoder is_encoder_decoder
keys_to_ignore_at_inference label2id layer_switch layerdrop layers_block_type logit_scale logits_scaling
mamba_chunk_size mamba_conv_bias mamba_d_conv mamba_d_head mamba_d_state mamba_expand mamba_n_groups mamba_n_heads
mamba_proj_bias masked_softmax_fusion max_length max_position_embeddings max_sequence_length max_window_layers
min_length mlp_type mm_tokens_per_image model_max_length model_type moe_router_use_sigmoid mrope_section
multi_modal_projector_bias n_ctx n_group n_positions norm_topk_prob norm_type num_beams num_experts_per_group
num_image_tokens num_labels offset_alibi order_of_interleaved_layers original_max_position_embeddings original_rope
output_attentions output_hidden_states output_router_logits pad_token partial_rotary_factor position_embedding_type
pre_seq_len prefix prefix_projection pretraining_tp problem_type prune_heads pruned_heads qk_head_dim quantization_bit
quantization_config query_pre_attn_scalar reorder_and_upcast_attn rescale_every resid_pdrop residual_multiplier
return_dict rope_interleave rope_local_base_freq rope_parameters rope_pct rope_percent rope_ratio rope_scaling
rope_theta rope_type rotary rotary_emb_base rotary_pct rotary_scaling_factor routed_scaling_factor
router_aux_loss_coef router_jitter_noise router_z_loss_coef scale_attention_softmax_in_fp32
scale_attn_by_inverse_layer_idx scale_attn_weights scale_depth scale_emb scoring_func seq_aux seq_length skip_bias_add
skip_bias_add_qkv slow_but_exact sparsemixer summary_activation summary_first_dropout summary_proj_to_labels
summary_type summary_use_proj swiglu_limit task_specific_params temperature tie_encoder_decoder tie_word_embeddings
time_step_limit tokenizer_class topk_group topk_method torch_dtype torchscript tpu_compat transformers.js_config
transformers_version unk_token_id unsloth_fixed unsloth_version use_bfloat16 use_bidirectional_attention use_cache
use_embedding_sharing use_flash_attn use_gated_activation use_logit_softcapping use_mrope use_parallel_block
use_parallel_embedding use_sliding_window vision_start_token_id vocab_type
"""
INERT = frozenset(_INERT.split())
INERT_ENDS = ("_token_id", "_token_index", "_eps", "_epsilon", "dropout", "_pdrop", "_dropout_prob", "_jitter", "_coef")
