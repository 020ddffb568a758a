"""One configuration file's fields, read by name: each checked, with its family's default, and none read in silence."""

from collections.abc import Mapping
from dataclasses import dataclass

from lib import check
from lib.architecture.families import Family
from lib.architecture.other_models import INERT, INERT_ENDS

MOST_LAYERS = 10_000  # far beyond any model; a slip must not start a list without end
_RECURRENT = ("mamba", "linear_attention", "recurrent", "conv", "gated_deltanet", "hybrid")
_IMPLIED = ("num_key_value_heads", "head_dim")  # which some classes make of other fields
_USUAL = (("moe_layer_freq", 1),)  # what released files have beside a field that the class does not read


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The fields of a file as a family reads them."""

    config: Mapping[str, object]
    family: Family

    def value(self, name):
        """What the file says under any of a field's names, or what the class takes; several must agree."""
        others = (other for other, field in self.family.names.items() if field == name)
        names = (self.file_name(name), *others)
        given = [(other, self.config[other]) for other in names if other in self.config]
        for other, value in given[1:]:
            if value != given[0][1]:
                raise ValueError(f"{other} = {check.short(value)}: beside {given[0][0]} = {check.short(given[0][1])}")
        return given[0][1] if given else self.family.defaults[name]

    def file_name(self, name):
        """A field as files call it."""
        return self.family.instead.get(name, name)

    def size(self, name):
        """A whole number of at least 1."""
        value = self.value(name)
        if value is None:
            raise ValueError(f"{self.file_name(name)}: missing or null; a whole number, 1 or more")
        check.integer(**{self.file_name(name): value})
        return value

    def count(self, name):
        """A whole number, 0 or more; 0 for null."""
        value = self.value(name) or 0
        check.natural(**{self.file_name(name): value})
        return value

    def optional(self, name):
        """A whole number of at least 1, or None."""
        return None if self.value(name) is None else self.size(name)

    def flag(self, name):
        """True or False."""
        value = self.value(name)
        check.boolean(**{name: value})
        return value

    def window(self, name):
        """How far back a layer with a window looks; None where there is none, or where the file switches it off."""
        if "use_sliding_window" in self.family.defaults and not self.flag("use_sliding_window"):
            return None
        return self.count(name) or None

    def whole_numbers(self, name):
        """A list of whole numbers, 0 or more, or None."""
        values = self.value(name)
        if values is not None and not isinstance(values, list):
            self.refuse(name, "a list of whole numbers")
        for i, value in enumerate(values or ()):
            check.natural(**{f"{name}[{i}]": value})
        return values

    @property
    def n_layers(self):
        """Layers, at most `MOST_LAYERS`."""
        found = self.size("num_hidden_layers")
        if found > MOST_LAYERS:
            raise ValueError(f"num_hidden_layers = {check.figure(found)}: at most {MOST_LAYERS:,}")
        return found

    def layer_kinds(self, allowed):
        """The list layer_types, one of the allowed words for each layer, or None where the file has none."""
        kinds = self.value("layer_types") if "layer_types" in self.family.defaults else None
        if kinds is None:
            return None
        if not isinstance(kinds, list):
            self.refuse("layer_types", "a list of words")
        self.refuse_length("layer_types", kinds)
        for i, kind in enumerate(kinds):
            check.text(**{f"layer_types[{i}]": kind})
            if kind in _RECURRENT:
                raise ValueError(f"layer_types[{i}] = {kind!r}: a layer that keeps a state, which is not counted here")
            if kind not in allowed:
                raise ValueError(f"layer_types[{i}] = {check.short(kind)}: one of {check.listed(allowed)}")
        return kinds

    def refuse_length(self, name, values):
        """Refuse a list that has not one entry for each layer."""
        if len(values) != self.n_layers:
            raise ValueError(f"{name} = {len(values)} entries: one for each of the {self.n_layers} layers")

    def refuse(self, name, allowed):
        """Refuse a field's value, with what is allowed."""
        raise ValueError(f"{self.file_name(name)} = {check.short(self.value(name))}: {allowed}")

    @property
    def assumed(self):
        """The sizes and switches that the file lacks, with what the class takes."""
        told = {self.family.names.get(name, name) for name in self.config}
        missing = [name for name in self.family.defaults if not told & {name, self.file_name(name)}]
        found = {self.file_name(name): self.family.defaults[name] for name in missing}
        return tuple(f"{name} = {_json(value)}" for name, value in found.items() if value is not None)

    @property
    def unknown_notes(self):
        """A sentence on the fields that this family does not read and that are not known to store nothing."""
        read = {self.file_name(name) for name in self.family.defaults}
        known = {*read, *self.family.names, *INERT, *_IMPLIED}
        unread = [
            f"{name[:60]} = {_json(value)}"
            for name, value in self.config.items()
            if name not in known and not name.startswith("_") and not name.endswith(INERT_ENDS)
            if value and (name, value) not in _USUAL
        ]
        return (f"Not read, and unknown to {self.family.code}: {', '.join(unread)}.",) if unread else ()


def _json(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else check.short(value)
