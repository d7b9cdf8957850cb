"""Shape annotations of softlookup.training are checked while its tests run."""

from jaxtyping import install_import_hook

install_import_hook("softlookup.training", "beartype.beartype")
