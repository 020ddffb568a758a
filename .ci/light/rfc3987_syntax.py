"""In place of a package that jsonschema imports and nothing here needs: it builds 38 parsers, 1.2 s a process."""

raise ImportError("left out, see .ci/light")
