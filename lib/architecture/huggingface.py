"""From a configuration file of Hugging Face to a `Transformer`: what the released code allocates, to the parameter.

A field that the file lacks is taken as the class takes it. A field that nobody here knows, or that contradicts
another, is named, never guessed: in a note where the count stands without it, in a refusal where it does not.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lib import check
from lib.architecture.families import FAMILIES
from lib.architecture.file_fields import Fields
from lib.architecture.other_models import INERT, NO_DECODERS, RECURRENT, SAME_AS, TOWERS
from lib.architecture.transformer import Transformer
from lib.whole_files import DEEPEST, nesting

_SHOWN = 12  # families that a refusal lists
LARGEST_FILE = 10_000_000  # bytes; a configuration has some thousand
_HYBRID = ", which keeps a state instead of every token's keys: not counted here"
_NO_DECODER = ", not a decoder-only language model"
# What an older model_type of Falcon says beside its fields.
_OLD_SWITCHES = {"RefinedWeb": {"new_decoder_architecture": True}, "RefinedWebModel": {}}
_OURS = {
    "n_layers": "num_hidden_layers",
    "d_model": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "d_ff": "intermediate_size",
}


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A shape that was read from a configuration, and what there is to say about it.

    Args:
        shape: the `Transformer`.
        code: the class of transformers whose parameters are counted.
        assumed: fields that the file lacks, with what the class takes for them, as text.
        notes: what was left out, is unknown, or contradicts itself: one sentence each.
    """

    shape: Transformer
    code: str
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        check.instance(Transformer, shape=self.shape)
        check.text(code=self.code)
        check.instance(tuple, assumed=self.assumed, notes=self.notes)


def read_config(path):
    """The `Imported` shape of a configuration file.

    Args:
        path: of a config.json as Hugging Face's hub has it.

    Raises:
        TypeError: if the path is no text.
        ValueError: if the file cannot be read, is no JSON, or describes nothing that is counted here: one sentence that
            names file, field and value.

    Source: transformers 5.18, configuration_*.py and modeling_*.py of each family.
    """
    check.text(path=path)
    try:
        with open(path, "rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_config(raw, path)


def parse_config(raw, file="standard input"):
    """The `Imported` shape of a configuration as it stands in a file.

    Args:
        raw: the text, or its bytes in UTF-8.
        file: what to call it in a refusal.

    Raises:
        TypeError, ValueError: as `read_config`.

    Source: as `read_config`.

    >>> text = '{"model_type": "llama", "hidden_size": 64, "intermediate_size": 192, "num_attention_heads": 4}'
    >>> f"{parse_config(text).shape.n_params:,}"
    '5,804,096'
    >>> parse_config('{"model_type": "bert"}', "config.json")
    Traceback (most recent call last):
    ...
    ValueError: config.json: model_type = 'bert': an encoder, not a decoder-only language model
    """
    check.text(file=file)
    check.instance(bytes if isinstance(raw, bytes) else str, raw=raw)
    if len(raw) > LARGEST_FILE:
        raise ValueError(f"{file}: more than {LARGEST_FILE:,} bytes: no configuration is so long")
    return from_config(_parsed(raw, file), file)


def from_config(config, file="config"):
    """The `Imported` shape of a configuration that is read already.

    Args:
        config: a mapping from the file's fields to their values.
        file: what to call it in a refusal.

    Raises:
        TypeError: if the configuration is no mapping.
        ValueError: if it describes nothing that is counted here.

    Source: as `read_config`.

    >>> found = from_config({"model_type": "gpt2"})
    >>> f"{found.shape.n_params:,} by {found.code}"
    '124,439,808 by GPT2LMHeadModel'
    """
    check.text(file=file)
    check.instance(Mapping, config=config)
    try:
        return _imported(config, file)
    except (TypeError, ValueError) as error:
        said = re.sub(rf"\b({'|'.join(_OURS)})\b", lambda word: _OURS[word[0]], str(error))
        raise ValueError(f"{file}: {said}") from None


def _parsed(raw, file):
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw.removeprefix("\ufeff")
        if nesting(text) > DEEPEST:
            raise ValueError("not a configuration: nested too deep")
        found = json.loads(text, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not JSON: no text in UTF-8") from None
    except json.JSONDecodeError as error:
        what = f"{error.msg}, line {error.lineno} column {error.colno}" if text.strip() else "the file is empty"
        raise ValueError(f"{file}: not JSON: {what}") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: {check.short(found)}: an object with fields, in braces")
    return found


def _once(pairs):
    """One value for each name; a number that JSON does not have (NaN, the infinities) is refused with its name."""
    found = {}
    for name, value in pairs:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name[:60]} = {value}: a finite number")
        if name in found and found[name] != value:
            raise ValueError(f"{name[:60]} = {check.short(value)}: beside {check.short(found[name])} in the same file")
        found[name] = value
    return found


def _imported(config, file):
    text, notes = _text_tower(config)
    name = _family_name(text)
    fields = Fields(config=_OLD_SWITCHES.get(text.get("model_type"), {}) | text, family=FAMILIES[name])
    shape = Transformer(name=_name_of(config, file), source=file, **_transformer_fields(fields))
    notes += (
        *_other_class(text, fields.family.code),
        *fields.unknown_notes,
        *_unlike(fields, shape),
        *_left_out(shape),
    )
    return Imported(shape=shape, code=fields.family.code, assumed=fields.assumed, notes=notes)


def _text_tower(config):
    """The part of a file that describes a language model, and notes on what else the file has."""
    place = next((key for key in TOWERS if isinstance(config.get(key), Mapping)), None)
    others = [key for key, value in config.items() if isinstance(value, Mapping) and key.endswith("_config")]
    others = [key for key in others if key != place and key not in INERT]
    notes = [f"Counted is the language model in {place} alone."] if place else []
    if others:
        notes.append(f"Not counted: {', '.join(others)}, and what joins them to the language model.")
    if place is None:
        return {key: value for key, value in config.items() if key not in others}, tuple(notes)
    text = {"model_type": config.get("model_type"), **config[place]}
    tied = [part["tie_word_embeddings"] for part in (config, text) if "tie_word_embeddings" in part]
    if tied:
        text["tie_word_embeddings"] = tied[0]
        if tied[0] != tied[-1]:
            notes.append(f"tie_word_embeddings is {tied[0]} in the file and {tied[-1]} in {place}: the first is taken.")
    return text, tuple(notes)


def _family_name(text):
    given = text.get("model_type")
    if given is None:
        return _by_class(text)
    check.text(model_type=given)
    name = SAME_AS.get(given, given)
    if name in FAMILIES:
        return name
    for names, what in ((RECURRENT, _HYBRID), (NO_DECODERS, _NO_DECODER)):
        if name in names:
            raise ValueError(f"model_type = {name!r}: {names[name]}{what}")
    if text.get("is_encoder_decoder") is True:
        raise ValueError(f"is_encoder_decoder = True (model_type = {check.short(name)}): {_NO_DECODER.strip(', ')}")
    near, some = check.did_you_mean(name[:60], FAMILIES), list(FAMILIES)[:_SHOWN]
    rest = f" and {len(FAMILIES) - _SHOWN} more"
    raise ValueError(f"model_type = {check.short(name)}: one of {check.listed(some)}{rest}{near}")


def _by_class(text):
    classes = text.get("architectures")
    named = classes if isinstance(classes, list) else []
    found = [name for name, family in FAMILIES.items() if family.code in named]
    if len(found) != 1:
        raise ValueError(
            f"model_type: missing; a text such as 'llama', or architectures = ['{FAMILIES['llama'].code}']"
        )
    return found[0]


def _name_of(config, file):
    given = config.get("_name_or_path")
    if isinstance(given, str) and given.strip():
        return given
    path = Path(file)
    return path.parent.name if path.name == "config.json" and path.parent.name else path.stem or file


def _transformer_fields(c):
    given = c.family.defaults
    usual = {
        "n_layers": c.n_layers,
        "d_model": c.size("hidden_size"),
        "n_heads": c.size("num_attention_heads"),
        "vocab_size": c.size("vocab_size"),
        "tied": c.flag("tie_word_embeddings"),
    }
    if given.get("intermediate_size") is not None:
        usual["d_ff"] = c.size("intermediate_size")
    for ours, theirs in (("n_kv_heads", "num_key_value_heads"), ("head_dim", "head_dim")):
        if theirs in given:
            usual[ours] = c.optional(theirs)
    switched = {ours: c.flag(theirs) for theirs, fields in c.family.flags.items() for ours in fields}
    found = usual | dict(c.family.fixed) | switched
    for part in c.family.parts:
        found |= part(c)
    return found


def _other_class(text, code):
    classes = text.get("architectures")
    if isinstance(classes, list) and classes and code not in classes:
        yield f"architectures names {check.short(classes[0])}; counted is {code}."


def _unlike(fields, shape):
    """What the file says of heads where the class makes it of other fields, should it be something else."""
    for name, taken in (("num_key_value_heads", shape.n_kv_heads), ("head_dim", shape.head_dim)):
        given = fields.config.get(name)
        if name not in fields.family.defaults and given not in (None, taken) and not shape.latent:
            yield f"{name} = {check.short(given)} is not read: {fields.family.code} takes {taken}."


def _left_out(shape):
    if shape.n_mtp_layers:
        yield (
            f"{shape.n_mtp_layers} layer{'s' if shape.n_mtp_layers > 1 else ''} of multi-token prediction, "
            f"{shape.mtp_params:,} parameters beside shared tables, are in no count: the class does not build them."
        )
    if shape.router_buffers:
        yield (
            f"The checkpoint holds {shape.router_buffers:,} numbers more, which balance the experts: they are buffers, "
            "not parameters."
        )
